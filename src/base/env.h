/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program is told of where it runs: users' names, the terminal's character set.
 *
 * Both without libc's databases, since a program that carries its libc with it finds none that fit on another host.
 */
#ifndef JHOT_BASE_ENV_H
#define JHOT_BASE_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A user's name in /etc/passwd, else the number. */
void env_user(uid_t uid, char *out, size_t bytes);

/* LC_ALL, LC_CTYPE or LANG, the first that is set, names UTF-8: that is what the terminal takes. */
bool env_is_utf8(void);

#endif
