/* SPDX-License-Identifier: Apache-2.0 */
/* Formats struct err. Texts that do not fit are truncated, and all are cleaned, since they may quote other processes. */
#include "base/err.h"

#include "base/clean.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Replaces *e by a new sentence followed by `after`. */
__attribute__((format(printf, 3, 0))) static void err_format(
	struct err *e, enum err_kind kind, const char *fmt, va_list ap, const char *after)
{
	*e = (struct err){.kind = kind};
	vsnprintf(e->what, sizeof(e->what), fmt, ap);
	clean_own(e->what);
	size_t len = strlen(e->what);
	snprintf(e->what + len, sizeof(e->what) - len, "%s", after);
}

int err_set(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (e)
		err_format(e, kind, fmt, ap, "");
	va_end(ap);
	return -1;
}

int err_set_errno(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	int saved = errno;
	char why[128];
	va_list ap;

	snprintf(why, sizeof(why), ": %s", strerror(saved));
	va_start(ap, fmt);
	if (e)
		err_format(e, kind, fmt, ap, why);
	va_end(ap);
	errno = saved;
	return -1;
}

int err_prefix(struct err *e, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return -1;
	struct err old = *e;
	va_start(ap, fmt);
	err_format(e, e->kind, fmt, ap, old.what);
	va_end(ap);
	memcpy(e->hint, old.hint, sizeof(e->hint));
	memcpy(e->details, old.details, sizeof(e->details));
	return -1;
}

__attribute__((format(printf, 3, 0))) static void err_add_line(
	char *block, size_t size, const char *fmt, va_list ap)
{
	size_t len = strlen(block);

	if (len && len + 1 < size) {
		block[len++] = '\n';
		block[len] = '\0';
	}
	vsnprintf(block + len, size - len, fmt, ap);
	clean_own(block + len);
}

void err_hint(struct err *e, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return;
	va_start(ap, fmt);
	err_add_line(e->hint, sizeof(e->hint), fmt, ap);
	va_end(ap);
}

void err_detail(struct err *e, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return;
	va_start(ap, fmt);
	err_add_line(e->details, sizeof(e->details), fmt, ap);
	va_end(ap);
}

void err_clean(struct err *e)
{
	e->what[sizeof(e->what) - 1] = '\0';
	e->hint[sizeof(e->hint) - 1] = '\0';
	e->details[sizeof(e->details) - 1] = '\0';
	clean_own(e->what);
	clean_lines(e->hint);
	clean_lines(e->details);
}
