/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with a program, in sentences, each with what proves it and where to look.
 *
 * Rules look at the model (a window of it) and at the vitals of the last minute. A rule is a file and a row of
 * finding_rules; it is silent rather than wrong. Findings are the struct's, the worst first, valid until the next look.
 * One thread.
 */
#ifndef JHOT_FINDINGS_FINDINGS_H
#define JHOT_FINDINGS_FINDINGS_H

#include "profile/profile.h"
#include "profile/vitals.h"

#define FINDINGS_MAX 12

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
	unsigned
		events; /* that have to be sampled for it, a bit per enum profile_event_id; 0: vitals do */
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
};

struct findings;
struct findings *findings_new(void);
void findings_free(struct findings *f);

/* The vitals of now, once a second or so. */
void findings_vitals(struct findings *f, const struct vitals *v);
/* Looks at [from, to) seconds. Returns the number of findings. */
unsigned findings_look(struct findings *f, const struct profile *p, uint32_t from, uint32_t to);
const struct finding *findings_get(const struct findings *f, unsigned i);

/* All rules; NULL ends them. */
extern const struct finding_rule *const finding_rules[];
/* Can it look: are its events sampled? finding_rule_lacks: the first that is not; -1: it can. */
bool finding_rule_looks(const struct finding_rule *rule, const struct vitals *v);
int finding_rule_lacks(const struct finding_rule *rule, const struct vitals *v);

#endif
