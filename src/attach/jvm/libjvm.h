/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which libjvm a process has mapped, and whether it is HotSpot's.
 *
 * Looks at maps and at the file only. Plain values. One thread.
 */
#ifndef JHOT_ATTACH_JVM_LIBJVM_H
#define JHOT_ATTACH_JVM_LIBJVM_H

#include "base/maps.h"

struct libjvm {
	bool mapped;
	struct proc_map map; /* the first of its mappings */
	char path[512];      /* of map: inside the process's own root */
};

/* libjvm_find: 0, or -errno when the process's maps are closed to us. */
int libjvm_find(pid_t pid, struct libjvm *out);

/* libjvm_is_hotspot: 1 if the file names HotSpot's exported tables, 0 if not, -1 if it cannot be read. */
int libjvm_is_hotspot(pid_t pid, const struct libjvm *jvm);

/* libjvm_version: "17.0.12" from the release file of the JDK around it; false if there is none. */
bool libjvm_version(pid_t pid, const struct libjvm *jvm, char *out, size_t bytes);

/* exe_is_native_image: is the program an ahead-of-time compiled Java one (GraalVM native-image)? */
bool exe_is_native_image(pid_t pid);

/* exe_is_musl: does the program name musl's loader as its own? */
bool exe_is_musl(pid_t pid);

#endif
