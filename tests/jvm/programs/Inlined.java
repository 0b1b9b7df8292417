// SPDX-License-Identifier: Apache-2.0
// Two methods without any safepoint inside, one with four times the work of the other, inlined into their caller.

/** Starts to work when it reads a line, so that a profiler can attach before anything is compiled. */
public final class Inlined {
	static volatile long sum;

	public static void main(String[] args) throws Exception {
		System.out.println("ready");
		if (System.in.read() == 'q')
			return;
		Thread worker = new Thread(() -> {
			for (;;)
				sum = both(sum | 1);
		}, "worker");
		worker.setDaemon(true);
		worker.start();
		for (int c; (c = System.in.read()) >= 0 && c != 'q';)
			;
	}

	static long both(long x) {
		for (int i = 0; i < 20_000; i++) {
			x = large(x);
			x = small(x);
		}
		return x;
	}

	static long small(long x) {
		x = (x ^ x << 13) * 31;
		x = (x ^ x >>> 7) * 37;
		return x;
	}

	static long large(long x) {
		x = (x ^ x << 13) * 41;
		x = (x ^ x >>> 7) * 43;
		x = (x ^ x << 17) * 47;
		x = (x ^ x >>> 9) * 53;
		x = (x ^ x << 11) * 59;
		x = (x ^ x >>> 5) * 61;
		x = (x ^ x << 19) * 67;
		x = (x ^ x >>> 3) * 71;
		return x;
	}
}
