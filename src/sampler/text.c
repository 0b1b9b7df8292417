/* SPDX-License-Identifier: Apache-2.0 */
/* Names of errors and intervals; patterns. */
#include "sampler/text.h"

#include <errno.h>
#include <string.h>

static const struct {
	int error;
	const char *name;
} text_errors[] = {
	{EACCES, "EACCES"},
	{EAGAIN, "EAGAIN"},
	{EINVAL, "EINVAL"},
	{EMFILE, "EMFILE"},
	{ENFILE, "ENFILE"},
	{ENODEV, "ENODEV"},
	{ENOENT, "ENOENT"},
	{ENOMEM, "ENOMEM"},
	{ENOSYS, "ENOSYS"},
	{EPERM, "EPERM"},
	{ESRCH, "ESRCH"},
	{EBUSY, "EBUSY"},
	{E2BIG, "E2BIG"},
	{EOPNOTSUPP, "EOPNOTSUPP"},
};

void text_add_interval(struct text *t, uint64_t interval, bool time)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{1000000, " ms"}, {1000, " us"}, {1, " ns"}};
	size_t i = 0;

	while (i < 2 && (interval % units[i].ns || interval < units[i].ns))
		i++;
	text_add_number(t, time ? interval / units[i].ns : interval);
	text_add(t, time ? units[i].name : "");
}

void text_add_errno(struct text *t, int error)
{
	for (size_t i = 0; i < sizeof(text_errors) / sizeof(text_errors[0]); i++) {
		if (text_errors[i].error == error) {
			text_add(t, text_errors[i].name);
			return;
		}
	}
	text_add(t, "error ");
	text_add_number(t, (uint64_t)(error < 0 ? -error : error));
}
