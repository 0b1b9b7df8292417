// SPDX-License-Identifier: Apache-2.0
// Allocates all the time in a heap that is hardly large enough, so that one collection follows the other.
// Arguments: how many threads, and their names.
public class Garbage {
	static volatile Object sink;

	public static void main(String[] args) throws Exception {
		int threads = args.length > 0 ? Integer.parseInt(args[0]) : 3;

		for (int i = 0; i < threads; i++) {
			Thread thread = new Thread(Garbage::allocate, args.length > i + 1 ? args[i + 1] : "garbage-" + i);
			thread.setDaemon(true);
			thread.start();
		}
		System.out.println("ready");
		for (int c; (c = System.in.read()) >= 0 && c != 'q';)
			;
	}

	static void allocate() {
		Object[] kept = new Object[256];

		for (int n = 0;; n++) {
			kept[n & 255] = new byte[64 + (n * 31 & 2047)];
			sink = new int[n & 127];
		}
	}
}
