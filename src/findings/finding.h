/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finding, and the rule that produces it. Plain values; findings are owned by struct findings
 * (findings.h), rules are constants.
 */
#ifndef JHOT_FINDINGS_FINDING_H
#define JHOT_FINDINGS_FINDING_H

#include <stdint.h>

/* Severity. Findings are sorted by grade, then by share. */
enum finding_grade {
	FINDING_WORTH_KNOWING, /* may be intentional */
	FINDING_COSTS,
	FINDING_BLOCKED, /* blocked for good: cannot make progress by itself */
};

struct scene;
/* Constant. A rule reports only what is unlikely to be intentional, and nothing when its input is missing. */
struct finding_rule {
	const char *name;  /* "deadlock": identifier in JSON */
	const char *title; /* "DEADLOCK": printed before the sentence */
	const char *what;  /* what the rule detects, for help and pages */
	unsigned events;   /* events it needs, a bit per enum profile_event_id; 0: vitals suffice */
	int needs_s;       /* seconds of vitals needed before silence means "not found" */
	int uptime_s;      /* a younger JVM is still warming up and is not judged */
	void (*judge)(const struct scene *scene); /* reports through scene_found() */
};

/* An error (half width of a share, 0..1) below this rounds to 0 percentage points. */
#define FINDING_ERROR 0.005

struct finding {
	const struct finding_rule *rule;
	enum finding_grade grade;
	/* 0..1 of the total that `what` names, and its 95 % half width; < 0: none. */
	double share, error;
	char what[240];   /* one sentence, figures first */
	char proof[900];  /* evidence, one item a line: stacks, threads, figures */
	char advice[160]; /* advice: what to check or change next */
	/* Navigation target of Enter: an event, and a thread or method in it. */
	int event;               /* -1: keep the current event */
	uint32_t thread, method; /* PROFILE_NONE: none */
	uint64_t subject;        /* identifies the same problem across evaluations */
	double since_s;          /* how long the problem has been reported without a break */
	uint32_t second;         /* first second of the evaluated window */
};

#endif
