// SPDX-License-Identifier: Apache-2.0
// A method without safepoints, but with bounds to check, inlined into its caller, which has little work of its own.

/** Compiled before it says "ready", so that a profiler that comes then finds no debug information between safepoints. */
public final class Checked {
	static int[] table = new int[64];
	static int step = 1;
	static volatile long sum, rounds;

	public static void main(String[] args) throws Exception {
		for (int i = 0; i < table.length; i++)
			table[i] = i * 7919 ^ i << 13;
		Thread worker = new Thread(() -> {
			for (;;) {
				sum = caller(sum | 1);
				rounds++;
			}
		}, "worker");
		worker.setDaemon(true);
		worker.start();
		while (rounds < 3000)
			Thread.sleep(10);
		System.out.println("ready");
		for (int c; (c = System.in.read()) >= 0 && c != 'q';)
			;
	}

	static long caller(long x) {
		for (int i = 20_000; i > 0; i -= step) // no counted loop: the safepoint at its end is the caller's
			x = lookups(x);
		return x;
	}

	static long lookups(long x) {
		int[] t = table;
		x = (x ^ t[(int) x & 63]) * 41;
		x = (x ^ t[(int) (x >>> 3) & 63]) * 43;
		x = (x ^ t[(int) (x >>> 5) & 63]) * 47;
		x = (x ^ t[(int) (x >>> 7) & 63]) * 53;
		x = (x ^ t[(int) (x >>> 9) & 63]) * 59;
		x = (x ^ t[(int) (x >>> 11) & 63]) * 61;
		x = (x ^ t[(int) (x >>> 13) & 63]) * 67;
		return x;
	}
}
