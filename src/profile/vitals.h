/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vital signs of the JVM, the agent and the host: plain values that the session gathers and views
 * print.
 *
 * Copied by value. -1 in an integer means "not known" and is displayed as such, never as 0. The
 * profile stores the fields of VITALS_KEPT for each second, beside the samples. Counters rise since
 * the start of the JVM, unless noted otherwise.
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
	char note[96]; /* limitations of the event and their reasons; "": none */
};

/* CPU use in % of one core between the last two polls of all threads, by owner. The fields add up to cpu_pct. */
struct vitals_cpu {
	int java_pct;        /* the remainder: code of the program, and some of the JVM's */
	int jit_pct, gc_pct; /* compiler and collector threads, user and kernel */
	int kernel_pct;      /* all other threads, in the kernel */
};

/* Resources that the host grants the JVM. Counters start at an arbitrary value: only differences are meaningful. */
struct vitals_host {
	int64_t cpu_limit; /* the lowest of its cgroups' limits, in 0.001 cores; 0: none */
	int64_t cpu_period_us;
	int64_t cpu_periods;   /* periods in which the cgroup was runnable */
	int64_t cpu_throttled; /* of these: periods in which it was throttled */
	int64_t throttled_us;  /* time throttled, summed over the CPUs */
	int64_t major_faults;  /* of the JVM */
	int64_t swap_bytes;    /* memory of the JVM that is swapped out */
	int64_t swapped_in; /* pages read from swap by the whole host; not known while swap_bytes is 0 */
	int64_t cpus_free_ms; /* idle time of the CPUs that the JVM may run on, since boot */
	/* Time that the JVM's threads waited for a core, summed (schedstat). A lower bound: threads that lived only between two polls
	 * are missing. */
	int64_t queued_ms;
	int64_t fds, fds_limit; /* open file descriptors, and their limit */
	int64_t anon_bytes;     /* resident memory of the JVM that belongs to no file */
};

struct vitals {
	uint64_t time_ns; /* CLOCK_MONOTONIC of the reading */

	/* the process */
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
	int64_t gc_count, gc_time_ms; /* pauses of the collectors */
	int64_t safepoint_count, safepoint_time_ms;
	int gc_pct_x10;        /* collection pauses in the last 10 s, in 0.1 % of the time */
	int safepoint_pct_x10; /* the same for all safepoints */
	int64_t threads_live, threads_daemon, classes_loaded;
	int threads_running;
	char vitals_note[96]; /* "no hsperfdata: ..." or "" */

	/* the session */
	bool alive;   /* the JVM is running */
	bool stalled; /* the agent has published nothing for 2 s */
	char walker[24];
	char walker_note[136]; /* why the walker is degraded, or "" */
	struct vitals_event events[VITALS_EVENTS];
	int64_t lost;     /* samples of all events */
	int64_t cost_ns;  /* the agent's own CPU time since attach */
	int cost_pct_x10; /* of one core over the last 10 s */
	int64_t agent_bytes;
	int counter_count;
	struct {
		char name[24];
		int64_t value;
	} counters[VITALS_COUNTERS];

	char command[512]; /* main class or jar, and its arguments; "" if not known */
	char vm_args[1024], vm_flags[256];
	struct vitals_cpu cpu;
	char agent_note[136]; /* the agent's last note that is not about one event, or "" */
	struct vitals_host host;
	int64_t safepoint_sync_ms; /* time to stop all threads, summed over all safepoints */
	int64_t classes_unloaded;
	int64_t gc_whole; /* collections of the whole heap, or their equivalent (session/gauges/heap.c) */
	int64_t gc_time_ns; /* gc_time_ms, with more precision */
	int64_t heap_committed;
	int64_t cpu_user_ms, cpu_system_ms; /* of the JVM */
	int64_t machine_busy_ms;            /* of all CPUs, since boot */
	int64_t machine_cpus;
	int64_t code_used, code_max; /* bytes of the code cache for compiled methods */
	int64_t compilations;
	int64_t heap_low;        /* lowest heap_used of all polls since the previous reading */
	int64_t heap_looks;      /* number of these polls in this session */
	int64_t threads_started; /* platform threads */
	/*
	 * Collections by cause, since the session's start: humongous allocations (G1), System.gc(),
	 * metaspace at a limit.
	 */
	int64_t gc_humongous, gc_explicit, gc_metadata;
};

/*
 * Upper bound of all values from outside (recordings, JVM counters, the agent): two years in ns, 72
 * PB. Sums of a few cannot overflow.
 */
#define VITALS_MAX ((int64_t)1 << 56)

extern const struct vitals_host vitals_host_unknown;

/* Sets all values of JVM and host to "not known". */
void vitals_unknown(struct vitals *v);

/* Validates values from outside: impossible ones become "not known", impossible counts of the agent 0. */
void vitals_bound(struct vitals *v);

/* --- second by second --------------------------------------------------------------------------------- */

/* The fields of struct vitals that a profile stores per second. */
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
	X(int64_t, gc_explicit)       \
	X(int64_t, gc_metadata)       \
	X(int64_t, uptime_s)

#define VITALS_FIELD(type, name) type name;
struct vitals_second {
	uint32_t second; /* adjacent seconds may share a reading */
	int64_t lost, broken,
		walked; /* samples since the session's start: vitals.lost and vitals_broken() */
	VITALS_KEPT(VITALS_FIELD)
};
/* Copies the stored fields into v; others keep their value. */
void vitals_restore(struct vitals *v, const struct vitals_second *kept);

struct profile;
/* Stores the vitals of the current second, replacing earlier ones of it. For feeders. */
void profile_vitals_set(struct profile *p, const struct vitals *v);
/*
 * Stores a copy of another profile's vitals for the current second. Samples, losses and broken
 * stacks count from `first` on, the first ones to be copied.
 */
void profile_vitals_copy(
	struct profile *p, const struct vitals_second *kept, const struct vitals_second *first);
/*
 * Vitals of a second. NULL: none stored, or older than the history. Like the next two valid until
 * the next feeding call.
 */
const struct vitals_second *profile_vitals(const struct profile *p, uint32_t second);
/* Vitals of the first second at or after this one that has any. NULL: none. */
const struct vitals_second *profile_vitals_next(const struct profile *p, uint32_t second);
/* The first vitals ever stored, to which differences are computed. NULL: none. */
const struct vitals_second *profile_vitals_first(const struct profile *p);

/* --- quality of the data ------------------------------------------------------------------------------- */

/*
 * Number of samples with an incomplete stack, which ends in a frame with the reason. *samples: all
 * walked samples. *most: the counter of the most frequent reason ("break_native"), or NULL.
 */
int64_t vitals_broken(const struct vitals *v, int64_t *samples, const char **most);

/*
 * Whether a counter of the agent means lost samples, threads that could not be sampled, or samples
 * without their request.
 */
enum vitals_loss { VITALS_NO_LOSS, VITALS_LOST, VITALS_UNSAMPLED, VITALS_NO_REQUEST };
enum vitals_loss vitals_loss(const char *counter);

#endif
