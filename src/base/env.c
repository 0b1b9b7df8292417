/* SPDX-License-Identifier: Apache-2.0 */
/* Parses /etc/passwd, and the locale variables of the environment. */
#include "base/env.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void env_user(uid_t uid, char *out, size_t bytes)
{
	FILE *f = fopen("/etc/passwd", "re");
	struct passwd *pw = NULL;

	while (f && (pw = fgetpwent(f)) != NULL && pw->pw_uid != uid)
		;
	if (pw)
		snprintf(out, bytes, "%s", pw->pw_name);
	else
		snprintf(out, bytes, "%u", (unsigned)uid);
	if (f)
		fclose(f);
}

/* Values are like en_US.UTF-8, C.utf8, de_DE.UTF-8@euro. */
bool env_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *value = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !(value && *value); i++)
		value = getenv(names[i]);
	const char *set = value ? strchr(value, '.') : NULL;
	if (!set)
		return false;
	set++;
	return !strncasecmp(set, "UTF-8", 5) || !strncasecmp(set, "UTF8", 4);
}
