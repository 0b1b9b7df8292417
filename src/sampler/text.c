/* SPDX-License-Identifier: Apache-2.0 */
/* Names of errors, and intervals with units. */
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

void text_add_interval(struct text *t, uint64_t interval, enum text_unit unit)
{
	static const struct {
		uint64_t size;
		const char *name;
	} units[][3] = {
		[TEXT_COUNT] = {{1, ""}},
		[TEXT_TIME] = {{1000000, " ms"}, {1000, " us"}, {1, " ns"}},
		[TEXT_BYTES] = {{1 << 20, " MB"}, {1 << 10, " kB"}, {1, " bytes"}},
	};
	size_t i = 0;

	while (units[unit][i].size > 1 && (interval % units[unit][i].size || !interval))
		i++;
	text_add_number(t, interval / units[unit][i].size);
	text_add(t, units[unit][i].name);
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
