// SPDX-License-Identifier: Apache-2.0
// A safepoint that does not come: java -XX:-UseCountedLoopSafepoints Stuck ROUNDS
/**
 * Once told to, a thread counts in compiled code that has no safepoint poll, while another
 * asks for a collection. Says "stuck" when it begins, "over" at the end.
 */
public class Stuck {
	static volatile long sum;
	static volatile boolean begun;

	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[0]);
		Thread counter;

		for (int i = 0; i < 20; i++)
			sum += count(100_000, i); // compiled when it matters
		System.out.println("ready");
		System.in.read();
		counter = new Thread(() -> {
			begun = true;
			for (int i = 0; i < 1; i++)
				sum += count(rounds, sum);
			System.out.println("over");
		}, "counter");
		counter.start();
		while (!begun)
			Thread.yield();
		Thread.sleep(200);
		System.out.println("stuck");
		System.gc();
		for (int c; (c = System.in.read()) >= 0 && c != 'q';)
			;
	}

	static long count(int rounds, long seed) {
		long x = seed | 1;

		for (int i = 0; i < rounds; i++) {
			x ^= x << 13;
			x ^= x >>> 7;
			x ^= x << 17;
			x /= (x & 7) + 1;
			x |= 1;
		}
		return x;
	}
}
