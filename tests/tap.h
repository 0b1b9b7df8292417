/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test header: TAP on stdout, one line per check, a plan at the end.
 *
 *   int main(void) { ok(1 + 1 == 2, "adds"); is_int(f(), 3, "f"); is_str(g(), "x", "g"); return tap_done(); }
 *
 * tap_skip("f", "why") reports a check that cannot be made here. tap_skip_all("why") does so for a whole test (no JDK,
 * not root) and ends it. ./bootstrap check counts both by their reasons.
 */
#ifndef JHOT_TESTS_TAP_H
#define JHOT_TESTS_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count, tap_failed;

__attribute__((format(printf, 2, 3), unused)) static bool ok(bool pass, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", pass ? "" : "not ", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	tap_failed += !pass;
	return pass;
}

__attribute__((format(printf, 1, 2), unused)) static void diag(const char *fmt, ...)
{
	va_list ap;

	fputs("# ", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

__attribute__((unused)) static bool is_int_(int64_t got, int64_t want, const char *name)
{
	bool pass = ok(got == want, "%s", name);

	if (!pass)
		diag("got %" PRId64 ", want %" PRId64, got, want);
	return pass;
}
#define is_int(got, want, name) is_int_((int64_t)(got), (int64_t)(want), name)

__attribute__((unused)) static bool is_str(const char *got, const char *want, const char *name)
{
	bool pass = ok(got && want ? !strcmp(got, want) : got == want, "%s", name);

	if (!pass)
		diag("got \"%s\", want \"%s\"", got ? got : "(null)", want ? want : "(null)");
	return pass;
}

__attribute__((unused)) static void tap_skip(const char *name, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++tap_count, name, why);
}

__attribute__((unused, noreturn)) static void tap_skip_all(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	exit(0);
}

__attribute__((unused)) static int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed ? 1 : 0;
}

#endif
