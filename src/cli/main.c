/* SPDX-License-Identifier: Apache-2.0 */
/* Selects and runs the verb; prints its error on stderr and returns the error's kind as the exit code. */
#include "attach/jvm/hotspot.h"
#include "cli/background.h"
#include "cli/line/args.h"
#include "cli/line/help.h"
#include "cli/line/nearest.h"
#include "cli/line/verb.h"
#include "cli/report.h"
#include "import/import.h"
#include "symbols/child/child.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static bool is_word(const char *arg, const char *a, const char *b)
{
	return !strcmp(arg, a) || !strcmp(arg, b);
}

/*
 * Rejects a word that is almost a verb, even if a JVM has that name: another user could name a
 * process like a mistyped verb to have it attached.
 */
static int refuse_near_verb(const char *word, struct err *err)
{
	const char *meant = NULL;

	for (const struct verb *const *v = verbs; *v && !meant; v++)
		if (nearest_is_slip(word, (*v)->name))
			meant = (*v)->name;
	if (!meant)
		return 0;
	err_set(err, ERR_USAGE, "jhot has no verb \"%s\".", word);
	err_hint(err, "jhot %s", meant);
	err_hint(err, "jhot %s %s     if that is the name of a JVM", VERB_DEFAULT, word);
	return -1;
}

static int run_verb(const struct verb *verb, int argc, char **argv, struct err *err)
{
	struct args args;
	int rc = 0;

	if (args_parse(&args, verb, argc, argv, err))
		return -1;
	if (args_has(&args, OPT_HELP))
		help_verb(stdout, verb);
	else if (args_has(&args, OPT_VERSION))
		puts("jhot " JHOT_VERSION);
	else
		rc = verb->run(&args, err);
	args_done(&args);
	return rc;
}

/*
 * True when an operand is a profile that `view` would open. A number is always a pid, even if a
 * file has that name.
 */
static bool names_file(int argc, char **argv)
{
	struct err unused = {0};
	struct args args;
	bool found = false;

	if (args_parse(&args, verb_find(VERB_OF_FILES), argc, argv, &unused))
		return false;
	for (int i = 0; i < args.operand_count && !found; i++)
		found = !hotspot_is_pid(args.operands[i]) && import_accepts(args.operands[i]);
	args_done(&args);
	return found;
}

/* No verb given: runs `view` if a profile is named, else `top`, with all words as arguments. */
static int run_default(int argc, char **argv, struct err *err)
{
	struct nearest near;

	if (names_file(argc, argv))
		return run_verb(verb_find(VERB_OF_FILES), argc, argv, err);
	if (argc && refuse_near_verb(argv[0], err))
		return -1;
	int rc = run_verb(verb_find(VERB_DEFAULT), argc, argv, err);
	if (!rc || !argc || argv[0][0] == '-' ||
		(err->kind != ERR_USAGE && err->kind != ERR_NO_TARGET))
		return rc;
	/* The word is neither a verb nor a JVM. */
	nearest_init(&near, argv[0]);
	for (const struct verb *const *v = verbs; *v; v++)
		nearest_offer(&near, (*v)->name);
	if (near.best)
		err_hint(err, "jhot %s", near.best);
	return rc;
}

static int run(int argc, char **argv, struct err *err)
{
	if (argc == 1 && is_word(argv[0], "--help", "-h")) {
		help_main(stdout);
		return 0;
	}
	const struct verb *verb = argc ? verb_find(argv[0]) : NULL;
	if (verb)
		return run_verb(verb, argc - 1, argv + 1, err);
	if (argc == 1 && is_word(argv[0], "--version", "-V")) {
		puts("jhot " JHOT_VERSION);
		return 0;
	}
	return run_default(argc, argv, err);
}

int main(int argc, char **argv)
{
	struct err err = {0};

	if (elf_child_main(argc, argv, NULL))
		return 0;
#if defined(M_MMAP_THRESHOLD) /* glibc only: musl maps every large block anyway */
	/* Returns large tables to the system when they are freed, instead of keeping them in the heap. */
	mallopt(M_MMAP_THRESHOLD, 4 << 20);
	mallopt(M_TRIM_THRESHOLD, 8 << 20);
#endif
	signal(SIGXFSZ, SIG_IGN); /* reported as a write error instead */
	int rc = run(argc > 0 ? argc - 1 : 0, argv + (argc > 0), &err);
	if ((fflush(stdout) || ferror(stdout)) && !rc)
		rc = err_set_errno(&err, ERR_OUTPUT, "Cannot write to stdout");
	if (!rc)
		return 0;
	if (err.kind == ERR_NONE)
		err_set(&err, ERR_FAILED,
			"jhot failed without an error message; this is a bug in jhot.");
	if (err.kind != ERR_FOUND && err.kind != ERR_SLOWER) {
		report_error(stderr, &err);
		background_log_error(&err);
	}
	return (int)err.kind;
}
