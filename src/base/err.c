/* SPDX-License-Identifier: Apache-2.0 */
/* Filling in struct err; texts that do not fit are cut, and whatever they repeat of others' is cleaned. */
#include "base/err.h"

#include "base/clean.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void err_clear(struct err *e, enum err_kind kind)
{
	memset(e, 0, sizeof(*e));
	e->kind = kind;
}

int err_set(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return -1;
	err_clear(e, kind);
	va_start(ap, fmt);
	vsnprintf(e->what, sizeof(e->what), fmt, ap);
	va_end(ap);
	clean_own(e->what);
	return -1;
}

int err_set_errno(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;
	size_t len;

	if (!e)
		return -1;
	err_clear(e, kind);
	va_start(ap, fmt);
	vsnprintf(e->what, sizeof(e->what), fmt, ap);
	va_end(ap);
	clean_own(e->what);
	len = strlen(e->what);
	snprintf(e->what + len, sizeof(e->what) - len, ": %s", strerror(saved));
	errno = saved;
	return -1;
}

int err_prefix(struct err *e, const char *fmt, ...)
{
	char old[sizeof(e->what)];
	va_list ap;
	size_t len;

	if (!e)
		return -1;
	memcpy(old, e->what, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(e->what, sizeof(e->what), fmt, ap);
	va_end(ap);
	clean_own(e->what);
	len = strlen(e->what);
	snprintf(e->what + len, sizeof(e->what) - len, "%s", old);
	return -1;
}

static void err_add_line(char *block, size_t size, const char *fmt, va_list ap)
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
