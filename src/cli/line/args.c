/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing a command line by the options table. */
#include "cli/line/args.h"

#include "base/buf.h"
#include "cli/line/nearest.h"
#include "cli/line/verb.h"

#include <stdlib.h>
#include <string.h>

/* The parser's position in argv. */
struct scan {
	struct args *args;
	char *const *next, *const *end;
};

static bool option_of(const struct option_def *o, const struct verb *verb)
{
	return (o->verbs & (unsigned)verb->bit) != 0;
}

/* The error for an option that the verb does not have; suggests verbs that have it, or the nearest option. */
static int unknown_option(
	const char *shown, const char *name, size_t len, const struct verb *verb, struct err *err)
{
	struct nearest near;
	char *word = xstrndup(name, len);

	err_set(err, ERR_USAGE, "`jhot %s` has no option %s.", verb->name, shown);
	nearest_init(&near, word);
	for (const struct option_def *o = options; o->name; o++) {
		if (!o->help)
			continue;
		if (option_of(o, verb))
			nearest_offer(&near, o->name);
		if (option_of(o, verb) || strcmp(o->name, word) || len < 2)
			continue;
		for (const struct verb *const *v = verbs; *v; v++)
			if (option_of(o, *v))
				err_hint(err, "jhot %s --%s", (*v)->name, o->name);
	}
	if (near.best)
		err_hint(err, "--%s", near.best);
	err_hint(err, "jhot %s --help", verb->name);
	free(word);
	return -1;
}

/* Records the option. value: from the same word; NULL: the next word is consumed if the option needs one. */
static int accept(struct scan *s, const struct option_def *o, const char *value, struct err *err)
{
	struct args *args = s->args;

	if (!o->arg && value) {
		err_set(err, ERR_USAGE, "--%s does not take a value.", o->name);
		return -1;
	}
	if (o->arg && !value) {
		if (s->next == s->end) {
			err_set(err, ERR_USAGE, "--%s requires a value: --%s %s.", o->name, o->name,
				o->arg);
			err_hint(err, "jhot %s --help", args->verb->name);
			return -1;
		}
		value = *s->next++;
	}
	args->values =
		xreallocarray(args->values, (size_t)args->value_count + 1, sizeof(*args->values));
	args->values[args->value_count++] = (struct args_value){o->id, value ? value : ""};
	return 0;
}

static int parse_long(struct scan *s, const char *word, struct err *err)
{
	const char *name = word + 2, *eq = strchr(name, '=');
	size_t len = eq ? (size_t)(eq - name) : strlen(name);
	const struct verb *verb = s->args->verb;

	for (const struct option_def *o = options; o->name; o++)
		if (option_of(o, verb) && strlen(o->name) == len && !strncmp(o->name, name, len))
			return accept(s, o, eq ? eq + 1 : NULL, err);
	return unknown_option(word, name, len, verb, err);
}

static int parse_letters(struct scan *s, const char *word, struct err *err)
{
	const struct verb *verb = s->args->verb;

	for (const char *p = word + 1; *p; p++) {
		const struct option_def *o = options;
		char shown[] = {'-', *p, '\0'};

		while (o->name && !(option_of(o, verb) && o->letter == *p))
			o++;
		if (!o->name)
			return unknown_option(shown, p, 1, verb, err);
		if (o->arg)
			return accept(s, o, p[1] ? p + 1 : NULL, err);
		if (accept(s, o, NULL, err))
			return -1;
	}
	return 0;
}

static int check_operands(const struct args *args, struct err *err)
{
	const struct verb *verb = args->verb;

	if (args_has(args, OPT_HELP) || args_has(args, OPT_VERSION))
		return 0;
	if (args->operand_count < verb->min_operands)
		err_set(err, ERR_USAGE, "`jhot %s` is missing an argument: jhot %s %s.", verb->name,
			verb->name, verb->synopsis);
	else if (args->operand_count > verb->max_operands)
		err_set(err, ERR_USAGE, "Unexpected argument \"%s\": jhot %s %s.",
			args->operands[verb->max_operands], verb->name, verb->synopsis);
	else
		return 0;
	err_hint(err, "jhot %s --help", verb->name);
	return -1;
}

int args_parse(
	struct args *args, const struct verb *verb, int argc, char *const *argv, struct err *err)
{
	struct scan s = {args, argv, argv + argc};
	bool only_operands = false;
	int rc = 0;

	*args = (struct args){.verb = verb, .operands_before = -1};
	args->operands = xcalloc((size_t)argc + 1, sizeof(*args->operands));
	while (!rc && s.next < s.end) {
		const char *word = *s.next++;

		if (only_operands || word[0] != '-' || !word[1])
			args->operands[args->operand_count++] = word;
		else if (!strcmp(word, "--")) {
			only_operands = true;
			args->operands_before = args->operand_count;
		} else
			rc = (word[1] == '-' ? parse_long : parse_letters)(&s, word, err);
	}
	if (!rc)
		rc = check_operands(args, err);
	if (rc)
		args_done(args);
	return rc;
}

void args_done(struct args *args)
{
	free(args->values);
	free(args->operands);
	*args = (struct args){0};
}

bool args_has(const struct args *args, enum option_id id)
{
	return args_get(args, id) != NULL;
}

const char *args_get(const struct args *args, enum option_id id)
{
	for (int i = args->value_count; i-- > 0;)
		if (args->values[i].id == id)
			return args->values[i].value;
	return NULL;
}

int args_count(const struct args *args, enum option_id id)
{
	int n = 0;

	for (int i = 0; i < args->value_count; i++)
		n += args->values[i].id == id;
	return n;
}

const char *args_nth(const struct args *args, enum option_id id, int n)
{
	for (int i = 0; i < args->value_count; i++)
		if (args->values[i].id == id && n-- == 0)
			return args->values[i].value;
	return NULL;
}
