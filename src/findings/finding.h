/* SPDX-License-Identifier: Apache-2.0 */
/* A finding, and the rule that finds it. */
#ifndef JHOT_FINDINGS_FINDING_H
#define JHOT_FINDINGS_FINDING_H

#include <stdint.h>

/* How bad it is: it comes before the share. */
enum finding_grade {
	FINDING_WORTH_KNOWING, /* it may be meant so */
	FINDING_COSTS,
	FINDING_STANDS_STILL, /* and will not go on by itself */
};

struct scene;
struct finding_rule {
	const char *name;  /* "deadlock": in JSON, and what tests ask for */
	const char *title; /* "DEADLOCK": what stands in the header before the sentence */
	const char *what;  /* what it looks for, for help and pages */
	unsigned events;   /* that it needs, a bit per enum profile_event_id; 0: vitals do */
	int look_s; /* for how long vitals must have been read before it can say that there is nothing */
	int uptime_s; /* a younger JVM is still starting: the rule does not judge it */
	/* Adds what it finds. */
	void (*look)(const struct scene *scene);
};

/* A half width below this is none where points are whole. */
#define FINDING_ERROR 0.005

struct finding {
	const struct finding_rule *rule;
	enum finding_grade grade;
	double share, error; /* 0..1 of what `what` says, and the 95 % half width; < 0: none */
	char what[240];      /* a sentence, the figures first */
	char proof[900];     /* lines: the stacks, threads, figures that prove it */
	char look[160];      /* what to look at next, a sentence */
	/* Where Enter leads: the event, and the thread or the method there. */
	int event;               /* -1: whatever is shown */
	uint32_t thread, method; /* PROFILE_NONE: none */
	uint64_t subject;        /* the same for the same thing in the next look */
	double since_s;          /* for how long it has been found */
	uint32_t second;         /* where the seconds begin that it is about */
};

#endif
