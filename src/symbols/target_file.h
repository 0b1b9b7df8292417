/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening the files of a target as the target sees them: in its root, or behind one of its mappings.
 *
 * The target may have arranged its files against us: symbolic links are resolved inside its root where the
 * kernel can do so (5.6), and only regular files are opened, without waiting. pid 0: files as named, for
 * tests. Returns a descriptor for the caller to close, or -errno.
 */
#ifndef JHOT_SYMBOLS_TARGET_FILE_H
#define JHOT_SYMBOLS_TARGET_FILE_H

#include "symbols/symbols.h"

int target_file_open(pid_t pid, const char *path);

/*
 * target_file_open_module: the very file that is mapped, also when it was deleted since (needs privileges then).
 * -ESTALE: another file stands at its path now.
 */
int target_file_open_module(pid_t pid, const struct symbols_module *m);

#endif
