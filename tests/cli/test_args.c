/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines, intervals, sizes, and suggestions for misspelt words. */
#include "base/clock.h"
#include "cli/line/args.h"
#include "cli/line/nearest.h"
#include "cli/line/units.h"
#include "cli/line/verb.h"

#include "tests/tap.h"

/* A table of our own: the parser must not depend on the verbs that there are. */
static const struct verb record = {.bit = VERB_RECORD,
	.name = "record",
	.synopsis = "PID|NAME",
	.min_operands = 1,
	.max_operands = 1};
static const struct verb top = {
	.bit = VERB_TOP, .name = "top", .synopsis = "[PID|NAME]", .max_operands = 1};
const struct verb *const verbs[] = {&record, &top, NULL};

#define WORDS(...) ((char *const[]){__VA_ARGS__, NULL})

static int parse(struct args *args, const struct verb *verb, char *const *words, struct err *err)
{
	int n = 0;

	while (words[n])
		n++;
	memset(err, 0, sizeof(*err));
	return args_parse(args, verb, n, words, err);
}

static void test_forms(void)
{
	struct args a;
	struct err err;

	is_int(parse(&a, &record, WORDS("-d", "5", "-e", "cpu", "-taocol", "--output=b.svg", "77"),
		       &err),
		0, "options of all forms are accepted");
	is_str(args_get(&a, OPT_DURATION), "5", "an option's value may be the next word");
	ok(args_has(&a, OPT_THREADS) && args_has(&a, OPT_ANNOTATE),
		"several single-letter options may share a word");
	is_int(args_count(&a, OPT_OUTPUT), 2, "an option may be given twice");
	is_str(args_nth(&a, OPT_OUTPUT, 0), "col",
		"a value may follow its letter in the same word");
	is_str(args_nth(&a, OPT_OUTPUT, 1), "b.svg", "a value may follow = after a long option");
	ok(!args_nth(&a, OPT_OUTPUT, 2), "args_nth returns NULL beyond the last value");
	is_str(args_get(&a, OPT_OUTPUT), "b.svg", "args_get returns the last of several values");
	ok(!args_has(&a, OPT_TOTAL) && !args_get(&a, OPT_TITLE),
		"an option that was not given has no value");
	ok(a.operand_count == 1 && !strcmp(a.operands[0], "77"),
		"a word that is not an option is an operand");
	args_done(&a);

	is_int(parse(&a, &record, WORDS("--", "-d"), &err), 0, "after -- all words are operands");
	is_str(a.operands[0], "-d", "an operand after -- may begin with a dash");
	args_done(&a);
	is_int(parse(&a, &record, WORDS("-", "--total"), &err), 0, "a single dash is an operand");
	args_done(&a);
	is_int(parse(&a, &record, WORDS("--help"), &err), 0, "--help needs no operand");
	args_done(&a);
	is_int(parse(&a, &top, WORDS("-d", "2"), &err), 0,
		"a letter may mean different options for different verbs");
	ok(args_has(&a, OPT_DELAY) && !args_has(&a, OPT_DURATION),
		"-d of top is the delay, not the duration");
	args_done(&a);
}

static void test_refusals(void)
{
	static const struct {
		const struct verb *verb;
		const char *words[3];
		const char *what, *hint;
	} bad[] = {
		{&record, {"--duratoin", "5", "1"}, "no option --duratoin", "--duration"},
		{&record, {"--duratoin=5", "1"}, "no option --duratoin=5", "--duration"},
		{&top, {"--clokc", "1"}, "no option --clokc", "jhot top --help"},
		{&record, {"--clock", "1"}, "no option --clock", "jhot record --help"},
		{&record, {"-x", "1"}, "no option -x", "jhot record --help"},
		{&record, {"-tx", "1"}, "no option -x", "jhot record --help"},
		{&top, {"--total", "1"}, "`jhot top` has no option --total", "jhot record --total"},
		{&record, {"1", "-d"}, "--duration requires a value: --duration SECONDS", ""},
		{&record, {"1", "--total=3"}, "--total does not take a value", ""},
		{&record, {"-t"}, "is missing an argument: jhot record PID|NAME",
			"jhot record --help"},
		{&top, {"1", "2"}, "Unexpected argument \"2\"", ""},
		{&top, {"--"}, NULL, NULL},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *words[] = {(char *)bad[i].words[0], (char *)bad[i].words[1],
			(char *)bad[i].words[2], NULL};
		struct args a;
		struct err err;
		int rc = parse(&a, bad[i].verb, words, &err);

		if (!bad[i].what) {
			is_int(rc, 0, "the words after -- are accepted");
			args_done(&a);
			continue;
		}
		ok(rc == -1 && err.kind == ERR_USAGE && strstr(err.what, bad[i].what) &&
				strstr(err.hint, bad[i].hint) && !strstr(err.hint, "--clock"),
			"the words \"%s ...\" are refused: %s", bad[i].words[0], err.what);
	}
}

static void test_table(void)
{
	for (const struct option_def *o = options; o->name; o++) {
		int clashes = 0;

		for (const struct option_def *p = options; p->name; p++)
			clashes += p != o && (p->verbs & o->verbs) &&
				   (!strcmp(p->name, o->name) ||
					   (o->letter && p->letter == o->letter));
		ok(!clashes, "--%s has a unique name and letter", o->name);
		ok(!o->help || (strlen(o->help) < 110 && o->help[strlen(o->help) - 1] != '.'),
			"its help is a short phrase");
	}
}

static void test_intervals(void)
{
	static const struct {
		const char *text;
		uint64_t value;
		enum units_kind kind;
	} good[] = {
		{"10ms", 10 * NS_PER_MS, UNITS_TIME},
		{"500us", 500 * NS_PER_US, UNITS_TIME},
		{"1s", NS_PER_S, UNITS_TIME},
		{"100000", 100000, UNITS_PLAIN},
		{"100000ns", 100000, UNITS_TIME},
		{"0.5ms", 500 * NS_PER_US, UNITS_TIME},
		{"512k", 512 << 10, UNITS_BYTES},
		{"512K", 512 << 10, UNITS_BYTES},
		{"1m", 1 << 20, UNITS_BYTES},
		{"2MB", 2 << 20, UNITS_BYTES},
	};
	static const char *const bad[] = {"", "0", "0ms", "ms", "-1ms", "10 ms", "10xs", "1e3",
		"1.2.3", ".", "99999999999999999999", "9999999999s", "0x10", "inf", "nan", "0.1ns"};
	enum units_kind kind;
	struct err err;
	uint64_t v;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(!units_interval(good[i].text, &v, &kind, &err) && v == good[i].value &&
				kind == good[i].kind,
			"interval %s is parsed", good[i].text);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(units_interval(bad[i], &v, &kind, &err) == -1 && err.kind == ERR_USAGE,
			"\"%s\" is refused as an interval", bad[i]);
	ok(!units_duration("5", &v, &err) && v == 5 * NS_PER_S,
		"a duration without a unit is in seconds");
	ok(!units_duration("2m", &v, &err) && v == 120 * NS_PER_S,
		"a duration in minutes is parsed");
	ok(units_duration("5x", &v, &err) == -1, "a duration with an unknown unit is refused");
}

static void test_nearest(void)
{
	static const char *const slips[][2] = {{"recrod", "record"}, {"ls", "list"},
		{"lst", "list"}, {"tpo", "top"}, {"statsu", "status"}, {"rec", "record"},
		{"evnets", "events"}, {"reprot", "report"}, {"stats", "status"}, {"dumps", "dump"}};
	static const char *const others[][2] = {{"kafka", "record"}, {"Main", "list"},
		{"demo", "dump"}, {"app", "top"}, {"Shop", "stop"}, {"tomcat", "top"},
		{"s", "stop"}, {"12345", "list"}, {"", "top"}};
	static const char *const words[] = {"list", "record", "status", "stop", "top"};
	static const struct {
		const char *word, *want;
	} cases[] = {{"lsit", "list"}, {"recrod", "record"}, {"stauts", "status"}, {"sotp", "stop"},
		{"tomcat", NULL}, {"x", NULL}, {"", NULL}, {"records", "record"},
		{"aVeryLongWordThatIsLongerThanTheTableOfTheDistance", NULL}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nearest n;

		nearest_init(&n, cases[i].word);
		for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
			nearest_offer(&n, words[k]);
		is_str(n.best, cases[i].want, cases[i].word);
	}
	is_int(nearest_distance("ab", "ba"), 1, "a transposition is one edit");
	is_int(nearest_distance("kitten", "sitting"), 3,
		"two substitutions and an insertion are three edits");
	is_int(nearest_distance("", "abc"), 3, "three insertions are three edits");
	for (size_t i = 0; i < sizeof(slips) / sizeof(slips[0]); i++)
		ok(nearest_is_slip(slips[i][0], slips[i][1]), "%s is recognized as a typo of %s",
			slips[i][0], slips[i][1]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ok(!nearest_is_slip(others[i][0], others[i][1]), "%s is not taken for a typo of %s",
			others[i][0], others[i][1]);
}

int main(void)
{
	test_forms();
	test_refusals();
	test_table();
	test_intervals();
	test_nearest();
	return tap_done();
}
