/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the JVM, the agent and the host are: plain values that the session gathers and views print.
 *
 * Copied by value. -1 in an integer means "not known" and is shown as such, never as 0. A profile keeps those of each
 * second beside its samples, so that views, exporters and whoever looks back know them by the same seconds.
 */
#ifndef JHOT_PROFILE_VITALS_H
#define JHOT_PROFILE_VITALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VITALS_EVENTS   8
#define VITALS_COUNTERS 48

enum vitals_state { VITALS_OFF, VITALS_ON, VITALS_FAILED }; /* of an event */

struct vitals_event {
	int state;        /* enum vitals_state */
	char engine[24];  /* "perf", "ctimer", ... */
	int64_t interval; /* ns or bytes */
	int64_t samples, lost;
	char note[96]; /* what is degraded and why */
};

/* Of one core, over the last look at all threads: they add up to cpu_pct. -1: not known. */
struct vitals_cpu {
	int java_pct; /* what is none of the others: the program's own code, and some of the JVM's */
	int jit_pct, gc_pct; /* of the compilers' and the collector's threads, whatever they do */
	int kernel_pct;      /* of the other threads, in the kernel */
};

/* What the host does to the JVM. Counts only rise; what they began with says nothing. -1: not known. */
struct vitals_host {
	int64_t cpu_limit; /* the tightest one of its cgroups, in 0.001 cores; 0: there is none */
	int64_t cpu_period_us;
	int64_t cpu_periods;   /* in which the cgroup wanted to run */
	int64_t cpu_throttled; /* of these: in which it was stopped, its share being used up */
	int64_t throttled_us;  /* for how long, added up over the CPUs */
	int64_t major_faults;  /* pages that the JVM waited for a disk for */
	int64_t swap_bytes;    /* of its memory, moved out */
	int64_t swapped_in; /* pages that the host has read back, for anybody; not known while swap_bytes is 0 */
	int64_t cpus_free_ms; /* for how long those CPUs had nothing to do that it may run on, since the host came up */
	int64_t queued_ms; /* for how long the JVM's threads waited for a core, added up (schedstat). A lower bound: waits of threads that started and ended between two reads are missing */
	int64_t fds, fds_limit; /* open descriptors, and how many it may have */
};

struct vitals {
	uint64_t time_ns; /* when this was read, monotonic */

	/* who */
	int pid;
	char name[128]; /* jar or main class */
	char jdk[64];   /* "21.0.4" */
	char vm[128];
	char user[40];
	int64_t uptime_s;

	/* the JVM, over the last second */
	int cpu_pct; /* of one core: 231 = 2.3 cores; user + system */
	int64_t rss_bytes;
	int64_t heap_used, heap_max;  /* bytes */
	char gc_name[24];             /* "G1" */
	int64_t gc_count, gc_time_ms; /* since the JVM's start */
	int64_t safepoint_count, safepoint_time_ms;
	int gc_pct_x10; /* share of the last 10 s that collections stopped the program, in 0.1 % */
	int safepoint_pct_x10; /* same, stopped at safepoints */
	int64_t threads_live, threads_daemon, classes_loaded;
	int threads_running;
	char vitals_note[96]; /* "no hsperfdata: ..." or "" */

	/* the session */
	bool alive;   /* the JVM still runs */
	bool stalled; /* the agent has not published for 2 s */
	char walker[24];
	char walker_note[136]; /* why the walker is degraded, or "" */
	struct vitals_event events[VITALS_EVENTS];
	int64_t lost;     /* over all events */
	int64_t cost_ns;  /* agent's own CPU time, since attach */
	int cost_pct_x10; /* of one core over the last 10 s */
	int64_t agent_bytes;
	int counter_count;
	struct {
		char name[24];
		int64_t value;
	} counters[VITALS_COUNTERS];

	char command[512]; /* main class or jar, and its arguments; "" if not known */
	char vm_args[1024], vm_flags[256]; /* the JVM's own */
	struct vitals_cpu cpu;
	char agent_note[136]; /* what the agent has said last, but on the lines of events, or "" */
	struct vitals_host host;
	int64_t safepoint_sync_ms; /* of all safepoints, until every thread had come to a stop */
	int64_t classes_unloaded;
	int64_t gc_whole; /* collections of the whole heap; see gauges/heap.c for what stands for one */
	int64_t gc_time_ns; /* gc_time_ms, finer */
	int64_t heap_committed;
	int64_t cpu_user_ms, cpu_system_ms; /* of the JVM, since its start */
	int64_t machine_busy_ms;            /* of all its CPUs, since it came up */
	int64_t machine_cpus;
	int64_t code_used, code_max; /* bytes of the code cache for compiled methods */
	int64_t compilations;        /* since the JVM's start */
	int64_t heap_low;   /* the least heap_used at any look since the reading before this one */
	int64_t heap_looks; /* how many there have been in this session */
	int64_t threads_started; /* platform threads, since the JVM's start */
	int64_t gc_humongous; /* G1: collections for an array of half a region or more, of those seen in this session */
};

/*
 * No number that comes from elsewhere (a recording, the JVM's counters, the agent's page) is larger: two years in ns,
 * 72 PB. So sums and differences of a few of them fit.
 */
#define VITALS_MAX ((int64_t)1 << 56)

extern const struct vitals_host vitals_host_unknown;

/* How the JVM is, is not known. */
void vitals_unknown(struct vitals *v);

/* vitals_bound: what cannot be is not known (-1), counts that cannot be are 0. For all that comes from elsewhere. */
void vitals_bound(struct vitals *v);

/* --- second by second --------------------------------------------------------------------------------- */

/* The fields of struct vitals that are kept of each second of a profile. */
#define VITALS_KEPT(X)                \
	X(uint64_t, time_ns)          \
	X(int, cpu_pct)               \
	X(int, gc_pct_x10)            \
	X(int, safepoint_pct_x10)     \
	X(int, threads_running)       \
	X(int, cost_pct_x10)          \
	X(struct vitals_cpu, cpu)     \
	X(int64_t, rss_bytes)         \
	X(int64_t, heap_used)         \
	X(int64_t, heap_committed)    \
	X(int64_t, heap_max)          \
	X(int64_t, gc_count)          \
	X(int64_t, gc_whole)          \
	X(int64_t, gc_time_ns)        \
	X(int64_t, cpu_user_ms)       \
	X(int64_t, cpu_system_ms)     \
	X(int64_t, machine_busy_ms)   \
	X(int64_t, machine_cpus)      \
	X(int64_t, threads_live)      \
	X(int64_t, threads_daemon)    \
	X(struct vitals_host, host)   \
	X(int64_t, safepoint_count)   \
	X(int64_t, safepoint_time_ms) \
	X(int64_t, safepoint_sync_ms) \
	X(int64_t, classes_loaded)    \
	X(int64_t, classes_unloaded)  \
	X(int64_t, code_used)         \
	X(int64_t, code_max)          \
	X(int64_t, compilations)      \
	X(int64_t, heap_low)          \
	X(int64_t, heap_looks)        \
	X(int64_t, threads_started)   \
	X(int64_t, gc_humongous)      \
	X(int64_t, uptime_s)

#define VITALS_FIELD(type, name) type name;
struct vitals_second {
	uint32_t second; /* of the profile; seconds side by side may have the same reading */
	int64_t lost, broken,
		walked; /* samples since the session began: vitals.lost and what vitals_broken counts */
	VITALS_KEPT(VITALS_FIELD)
};
/* Into the vitals what was kept of a second. */
void vitals_put_back(struct vitals *v, const struct vitals_second *kept);

struct profile;
/* They are so in the running second, of which the last that is told stays; for who feeds the profile. */
void profile_vitals_set(struct profile *p, const struct vitals *v);
/* Those of a second, as far back as the history goes; NULL: not known. */
const struct vitals_second *profile_vitals(const struct profile *p, uint32_t second);
/* Those of the first second at or after this one that has some; NULL: there is none. */
const struct vitals_second *profile_vitals_next(const struct profile *p, uint32_t second);
/* The first that were told, however long ago: what counts since then are differences to. NULL: none were. */
const struct vitals_second *profile_vitals_first(const struct profile *p);

/* --- how good the data is ------------------------------------------------------------------------------ */

/*
 * Samples of the session whose stack is broken: it ends in a frame that says why. *most: the most frequent reason as
 * its counter is called ("break_native"), NULL if there is none. *samples: of all that were walked.
 */
int64_t vitals_broken(const struct vitals *v, int64_t *samples, const char **most);

/*
 * Does this counter of the agent's say that something is in no trace: samples (VITALS_LOST), or threads that could not be
 * sampled (VITALS_UNSAMPLED)?
 */
enum vitals_loss { VITALS_NO_LOSS, VITALS_LOST, VITALS_UNSAMPLED };
enum vitals_loss vitals_loss(const char *counter);

#endif
