/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts of the environment: user names, the terminal's character set.
 *
 * Without libc's databases: a statically linked program does not find matching ones on another host. Blocks only for
 * /etc/passwd. Any thread.
 */
#ifndef JHOT_BASE_ENV_H
#define JHOT_BASE_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A user's name in /etc/passwd, else the decimal uid. */
void env_user(uid_t uid, char *out, size_t bytes);

/* True when the terminal uses UTF-8, according to the first of LC_ALL, LC_CTYPE and LANG that is set. */
bool env_is_utf8(void);

#endif
