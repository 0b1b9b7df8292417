/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses java command lines: the main class or jar, and the flags that matter to attaching.
 *
 * Pure functions over the bytes of /proc/PID/cmdline or environ (NUL-separated) or of hsperfdata. Hostile input; results are
 * cleaned (base/clean.h).
 */
#ifndef JHOT_ATTACH_JVM_CMDLINE_H
#define JHOT_ATTACH_JVM_CMDLINE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * "shop-api.jar" or "org.acme.Main", "" if neither input names one. command is sun.rt.javaCommand: main class or jar, and
 * arguments; "" if unknown. It covers option files and other launchers, which the command line does not, but does not show
 * where the path of a jar with blanks ends.
 */
void cmdline_name(const struct buf *cmdline, const char *command, char *out, size_t bytes);
/* The arguments, separated by blanks, cut to fit. */
void cmdline_join(const struct buf *cmdline, char *out, size_t bytes);
/* True when `option` is among the JVM's own options, i.e. before the main class. */
bool cmdline_has(const struct buf *cmdline, const char *option);
/* True when an option file (@FILE) may contain further options; environ_has_file: the same for JDK_JAVA_OPTIONS. */
bool cmdline_has_file(const struct buf *cmdline);
bool environ_has_file(const struct buf *env);
/* True when the program is called java or javaw. */
bool cmdline_is_java(const struct buf *cmdline);
/* The value of an environment variable, inside env and not cleaned; NULL: it is not set. */
const char *environ_get(const struct buf *env, const char *name);
/* True when an environment variable from which the JVM takes options contains this one. */
bool environ_has(const struct buf *env, const char *option);

#endif
