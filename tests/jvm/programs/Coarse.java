// SPDX-License-Identifier: Apache-2.0
// A method with another one inlined, compiled before it prints "ready"; any line makes the JVM recompile it.

/** What is inlined is the only method of its kind, until a line comes: then another is loaded, and the code is no good. */
public final class Coarse {
	abstract static class Step {
		abstract long apply(long x);
	}

	static final class Long extends Step {
		@Override
		long apply(long x) {
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

	/** Named nowhere else, or it would be loaded to verify the code that names it. */
	static final class Other extends Step {
		@Override
		long apply(long x) {
			return x + 1;
		}
	}

	static Step step = new Long();
	static Step other;
	static volatile long sum, rounds;

	public static void main(String[] args) throws Exception {
		Thread worker = new Thread(() -> {
			for (;;) {
				sum = both(sum | 1);
				rounds++;
			}
		}, "worker");
		worker.setDaemon(true);
		worker.start();
		while (rounds < 3000)
			Thread.sleep(10);
		System.out.println("ready");
		for (int c; (c = System.in.read()) >= 0 && c != 'q';)
			if (c == '\n')
				other = (Step) Class.forName("Coarse$Other").getDeclaredConstructor().newInstance();
	}

	static long both(long x) {
		for (int i = 0; i < 20_000; i++)
			x = step.apply(x);
		return x;
	}
}
