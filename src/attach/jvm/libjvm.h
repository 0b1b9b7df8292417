/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds libjvm and the hsperfdata file among a process's mappings, and facts about the JVM in its files.
 *
 * Reads maps and the mapped files only. Plain values. Single-threaded; blocks as long as these files do.
 */
#ifndef JHOT_ATTACH_JVM_LIBJVM_H
#define JHOT_ATTACH_JVM_LIBJVM_H

#include "base/maps.h"

#include <stddef.h>

struct libjvm {
	bool mapped;
	struct proc_map map; /* the first of its mappings */
	char path[512];      /* path of map, inside the process's own root */
	/*
	 * The JVM's own hsperfdata file, TEMP/hsperfdata_USER/NSPID. HotSpot keeps it mapped for its whole life, so the path
	 * also identifies the JVM's temporary folder. "" without -XX:+UsePerfData.
	 */
	struct proc_map perf;
	char perf_path[512];
};

/* 0, or -errno if maps cannot be read. *out must not be copied: its maps point into it. */
int libjvm_find(pid_t pid, struct libjvm *out);

/* 1: the file exports HotSpot's tables (gHotSpotVMStructs), 0: it does not, -1: it cannot be read. */
int libjvm_is_hotspot(pid_t pid, const struct libjvm *jvm);

/* The JVM's temporary folder, from the path of its counters; false if it has no counters for this nspid. */
bool libjvm_temp(const struct libjvm *jvm, pid_t nspid, char *out, size_t bytes);

/*
 * 1: this HotSpot supports -XX:AltTempDir (JDK 28 and later), 0: its temporary folder is always /tmp, -1: the file cannot be
 * read.
 */
int libjvm_has_alt_temp(pid_t pid, const struct libjvm *jvm);

/* "17.0.12" from the release file of the JDK that contains libjvm; false if there is none. */
bool libjvm_version(pid_t pid, const struct libjvm *jvm, char *out, size_t bytes);

/* True when the program is Java compiled ahead of time (GraalVM native-image). */
bool exe_is_native_image(pid_t pid);

/* True when the program's interpreter is musl's loader. */
bool exe_is_musl(pid_t pid);

#endif
