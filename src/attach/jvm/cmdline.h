/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a java command line says: the main class or jar, and the flags that matter to attaching.
 *
 * Plain functions over the bytes of /proc/PID/cmdline (arguments separated by NUL) or of hsperfdata, which may be
 * anything; what they give out is cleaned (base/clean.h).
 */
#ifndef JHOT_ATTACH_JVM_CMDLINE_H
#define JHOT_ATTACH_JVM_CMDLINE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * cmdline_name: "shop-api.jar" or "org.acme.Main", "" if the command line of a java launcher names none. command is
 * sun.rt.javaCommand: main class or jar, and arguments; "" if not known. It covers options in files and other launchers,
 * which the command line does not, but does not show where the path of a jar with blanks ends.
 */
void cmdline_name(const struct buf *cmdline, const char *command, char *out, size_t bytes);
/* cmdline_join: the arguments with spaces between. */
void cmdline_join(const struct buf *cmdline, char *out, size_t bytes);
/* cmdline_has: is this one of the JVM's own options, before the main class? */
bool cmdline_has(const struct buf *cmdline, const char *option);
/* cmdline_has_file: may a file (@FILE) hold more options? environ_has_file: the same of JDK_JAVA_OPTIONS. */
bool cmdline_has_file(const struct buf *cmdline);
bool environ_has_file(const struct buf *env);
/* cmdline_is_java: is the program called java (or javaw)? */
bool cmdline_is_java(const struct buf *cmdline);
/* environ_has: does a variable from which the JVM takes options hold this one? (/proc/PID/environ) */
bool environ_has(const struct buf *env, const char *option);

#endif
