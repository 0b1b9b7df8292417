/* SPDX-License-Identifier: Apache-2.0 */
/* base: errors, buffers, hashing, interning, JSON. */
#include "base/buf.h"
#include "base/clean.h"
#include "base/err.h"
#include "base/file.h"
#include "base/intern.h"
#include "base/json.h"
#include "base/utf8.h"
#include "tests/tap.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

static void test_err(void)
{
	struct err e = {0};

	errno = ENOSPC;
	is_int(err_set_errno(&e, ERR_OUTPUT, "cannot write %s", "a.svg"), -1,
		"setting an error returns -1");
	is_str(e.what, "cannot write a.svg: No space left on device", "errno's text is appended");
	err_hint(&e, "free some space");
	err_hint(&e, "choose another folder");
	is_str(e.hint, "free some space\nchoose another folder", "hints are lines");
	err_prefix(&e, "export: ");
	is_str(e.what, "export: cannot write a.svg: No space left on device",
		"a prefix goes in front");
	is_int(e.kind, ERR_OUTPUT, "the kind stays");
	is_int(err_set(NULL, ERR_FAILED, "x"), -1, "a NULL error is allowed");
}

static void test_read(void)
{
	static const char text[] = "one\ntwo";
	struct buf whole = {0}, piece = {0};
	FILE *f = tmpfile();
	int ends[2];

	fwrite(text, 1, sizeof(text) - 1, f);
	fflush(f);
	is_int(buf_read_all(&whole, fileno(f), 100), 0, "a file is read from its beginning");
	is_str(buf_str(&whole), text, "as a whole");
	buf_clear(&whole);
	is_int(buf_read_all(&whole, fileno(f), 3), -EFBIG,
		"one that is larger than it may be is not");
	is_int(buf_read_all(&piece, -1, 100), -EBADF, "nor one that is closed");
	is_int(pipe(ends), 0, "a pipe");
	is_int(file_write(ends[1], text, 3), 0, "is written to");
	is_int(buf_read(&piece, ends[0], 100), 3, "what there is in it is added");
	is_str(buf_str(&piece), "one", "to the buffer");
	close(ends[1]);
	is_int(buf_read(&piece, ends[0], 100), 0, "its end is told");
	close(ends[0]);
	fclose(f);
	buf_done(&whole);
	buf_done(&piece);
	ok(!*plural(1) && !strcmp(plural(0), "s") && !strcmp(plural(2), "s"),
		"1 thread, 0 threads, 2 threads");
}

static const char hostile[] = "a\033[31m\nb\302\233"
			      "2J\342\200\256c\377";

static void test_clean(void)
{
	struct buf quoted = {0};
	struct err e = {0}, before;
	char text[64], word[64];

	snprintf(text, sizeof(text), "%s", hostile);
	clean_own(text);
	is_str(text, "a?[31m?b?2J?c?", "what moves cursors, ends lines or turns them is replaced");
	snprintf(text, sizeof(text), "one\n\033two\n\n\302\205three\n");
	clean_lines(text);
	is_str(text, "one\n?two\n\n?three\n", "lines stay lines where they are meant");
	clean_word(word, sizeof(word), "app$(id>x)`id`;&|'\" *?[~#\\.jar");
	is_str(word, "app__id_x__id_____________.jar", "a word is one for any shell");
	clean_word(word, sizeof(word), "org.acme/Main-2_a:\303\251@%+=,");
	is_str(word, "org.acme/Main-2_a:\303\251@%+=,", "and stays if it is one");
	err_set(&e, ERR_ATTACH, "JVM \"%s\"", hostile);
	err_hint(&e, "jhot %s", hostile);
	err_hint(&e, "second");
	err_detail(&e, "%s", hostile);
	is_str(e.what, "JVM \"a?[31m?b?2J?c?\"", "an error repeats nobody's control characters");
	is_str(e.hint, "jhot a?[31m?b?2J?c?\nsecond", "nor do its hints");
	is_str(e.details, "a?[31m?b?2J?c?", "nor its details");
	before = e;
	err_clean(&e);
	ok(!memcmp(&before, &e, sizeof(e)), "one that is clean stays");
	memset(e.details, '\033', sizeof(e.details));
	err_clean(&e);
	ok(!memchr(e.details, '\033', sizeof(e.details)) && strlen(e.details) < sizeof(e.details),
		"one that another process filled in is cleaned, and ends");
	json_quote(&quoted, "\302\233"
			    "2J\033");
	is_str(buf_str(&quoted), "\"\\u009b2J\\u001b\"", "JSON writes them as numbers");
	buf_done(&quoted);
}

static void test_buf(void)
{
	struct buf b = {0};
	char *s;

	is_str(buf_str(&b), "", "an empty buffer reads as \"\"");
	for (int i = 0; i < 1000; i++)
		buf_printf(&b, "%d,", i);
	is_int(b.len, 3890, "a thousand numbers");
	is_str(b.data + b.len - 4, "999,", "the last one is there");
	s = buf_steal(&b);
	is_int(b.len, 0, "stealing empties it");
	free(s);
	buf_done(&b);
}

static void test_intern(void)
{
	struct intern in = {0};
	char name[32];
	bool same = true;

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 5000; i++) {
			snprintf(name, sizeof(name), "name %d", i);
			same = same && intern_add(&in, name, strlen(name)) == (uint32_t)i;
		}
	}
	ok(same, "5,000 texts keep their numbers");
	is_str(intern_text(&in, 4321), "name 4321", "and are found by number");
	is_int(intern_add(&in, "name 77 and more", 7), 77, "a length cuts a text");
	is_str(intern_text(&in, 99999), "", "an unknown number is empty");
	intern_done(&in);
}

static void test_vacant(void)
{
	uint64_t keep[3] = {~(1ull << 3 | 1ull << 63), ~0ull, 1};
	struct vacant v = {0};

	is_int(vacant_allocate(&v, 0), VACANT_NONE, "no number is vacant at first");
	vacant_set(&v, keep, 130);
	is_int(v.count, 3, "those that are not kept are, below the end");
	ok(vacant_has(&v, 129) && !vacant_has(&v, 130), "and none beyond");
	is_int(vacant_allocate(&v, 4), 63, "the lowest from a number on");
	is_int(vacant_allocate(&v, 0), 3, "the lowest");
	is_int(vacant_allocate(&v, 129), 129, "that one itself");
	is_int(vacant_allocate(&v, 0), VACANT_NONE, "each once");
	vacant_done(&v);
}

static void test_sweep(void)
{
	struct intern in = {0};
	uint64_t keep = 1 << 1;

	intern_add(&in, "a", 1);
	intern_add(&in, "b", 1);
	intern_add(&in, "c", 1);
	intern_sweep(&in, &keep);
	is_str(intern_text(&in, 1), "b", "a text that is kept keeps its number");
	is_str(intern_text(&in, 2), "", "others are gone");
	is_int(intern_add(&in, "c", 1), 0, "numbers are given again");
	is_int(intern_add(&in, "b", 1), 1, "equal texts have one");
	intern_done(&in);
}

static void test_json(void)
{
	struct buf b = {0};
	struct json j = {&b, false};

	json_begin(&j, NULL, '{');
	json_str(&j, "a\"b", "tab\t\xff \xc3\xa9 \x01");
	json_begin(&j, "n", '[');
	json_int(&j, NULL, -5);
	json_num(&j, NULL, 0.5);
	json_bool(&j, NULL, true);
	json_num(&j, NULL, NAN);
	json_end(&j, ']');
	json_end(&j, '}');
	is_str(buf_str(&b),
		"{\"a\\\"b\":\"tab\\t\xef\xbf\xbd \xc3\xa9 \\u0001\",\"n\":[-5,0.5,true,null]}",
		"commas, quotes, repaired UTF-8");
	buf_done(&b);
}

static void test_utf8(void)
{
	static const uint32_t points[] = {0x41, 0xe9, 0x20ac, 0x1f600};
	char text[5];

	is_int(utf8_len("\xed\xa0\x80"), 0, "a surrogate is not UTF-8");
	is_int(utf8_len("\xc0\x80"), 0, "an overlong form is not UTF-8");
	for (int i = 0; i < 4; i++) {
		ok(utf8_put(points[i], text) == (size_t)i + 1 && utf8_len(text) == i + 1 &&
				utf8_value(text, i + 1) == points[i] &&
				utf8_back(text, (size_t)i + 1) == 0,
			"a code point of %d bytes, there and back", i + 1);
	}
}

int main(void)
{
	test_err();
	test_read();
	test_clean();
	test_buf();
	test_intern();
	test_utf8();
	test_vacant();
	test_sweep();
	test_json();
	return tap_done();
}
