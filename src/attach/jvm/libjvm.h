/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a JVM a process has mapped: libjvm, and the file with its performance counters.
 *
 * Reads maps and the mapped files only. Plain values. One thread.
 */
#ifndef JHOT_ATTACH_JVM_LIBJVM_H
#define JHOT_ATTACH_JVM_LIBJVM_H

#include "base/maps.h"

#include <stddef.h>

struct libjvm {
	bool mapped;
	struct proc_map map; /* the first of its mappings */
	char path[512];      /* of map: inside the process's own root */
	/*
	 * The JVM's own hsperfdata file, TEMP/hsperfdata_USER/NSPID. HotSpot keeps it mapped from the start to the end,
	 * so the path tells the JVM's temporary folder as well. "" without -XX:+UsePerfData.
	 */
	struct proc_map perf;
	char perf_path[512];
};

/* libjvm_find: 0, or -errno when the process's maps are closed to us. The struct must not be copied: maps point into it. */
int libjvm_find(pid_t pid, struct libjvm *out);

/* libjvm_is_hotspot: 1 if the file names HotSpot's exported tables, 0 if not, -1 if it cannot be read. */
int libjvm_is_hotspot(pid_t pid, const struct libjvm *jvm);

/* libjvm_temp: the JVM's temporary folder by the path of its counters; false if there are none of this pid. */
bool libjvm_temp(const struct libjvm *jvm, pid_t nspid, char *out, size_t bytes);

/*
 * libjvm_has_alt_temp: 1 if this HotSpot knows -XX:AltTempDir (JDK 28 and later), 0 if its temporary folder is always
 * /tmp, -1 if the file cannot be read.
 */
int libjvm_has_alt_temp(pid_t pid, const struct libjvm *jvm);

/* libjvm_version: "17.0.12" from the release file of the JDK around it; false if there is none. */
bool libjvm_version(pid_t pid, const struct libjvm *jvm, char *out, size_t bytes);

/* exe_is_native_image: is the program an ahead-of-time compiled Java one (GraalVM native-image)? */
bool exe_is_native_image(pid_t pid);

/* exe_is_musl: does the program name musl's loader as its own? */
bool exe_is_musl(pid_t pid);

#endif
