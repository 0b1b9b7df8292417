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
	is_int(buf_read_all(&whole, fileno(f), 100), 0,
		"buf_read_all reads a file from its beginning");
	is_str(buf_str(&whole), text, "buf_read_all reads the whole file");
	buf_clear(&whole);
	is_int(buf_read_all(&whole, fileno(f), 3), -EFBIG,
		"buf_read_all refuses a file above the limit");
	is_int(buf_read_all(&piece, -1, 100), -EBADF, "buf_read_all fails for a closed descriptor");
	is_int(pipe(ends), 0, "a pipe is created");
	is_int(file_write(ends[1], text, 3), 0, "file_write writes to a pipe");
	is_int(buf_read(&piece, ends[0], 100), 3, "buf_read returns the number of bytes available");
	is_str(buf_str(&piece), "one", "buf_read appends the bytes to the buffer");
	close(ends[1]);
	is_int(buf_read(&piece, ends[0], 100), 0, "buf_read returns 0 at the end");
	close(ends[0]);
	fclose(f);
	buf_done(&whole);
	buf_done(&piece);
	ok(!*plural(1) && !strcmp(plural(0), "s") && !strcmp(plural(2), "s"),
		"plural is empty for 1 and \"s\" otherwise");
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
	is_str(text, "a?[31m?b?2J?c?", "control, bidi and invalid characters are replaced");
	snprintf(text, sizeof(text), "one\n\033two\n\n\302\205three\n");
	clean_lines(text);
	is_str(text, "one\n?two\n\n?three\n",
		"clean_lines keeps line ends and replaces other control characters");
	clean_word(word, sizeof(word), "app$(id>x)`id`;&|'\" *?[~#\\.jar");
	is_str(word, "app__id_x__id_____________.jar",
		"clean_word replaces every shell metacharacter");
	clean_word(word, sizeof(word), "org.acme/Main-2_a:\303\251@%+=,");
	is_str(word, "org.acme/Main-2_a:\303\251@%+=,", "clean_word keeps a safe word");
	err_set(&e, ERR_ATTACH, "JVM \"%s\"", hostile);
	err_hint(&e, "jhot %s", hostile);
	err_hint(&e, "second");
	err_detail(&e, "%s", hostile);
	is_str(e.what, "JVM \"a?[31m?b?2J?c?\"", "control characters in an error are replaced");
	is_str(e.hint, "jhot a?[31m?b?2J?c?\nsecond", "control characters in a hint are replaced");
	is_str(e.details, "a?[31m?b?2J?c?", "control characters in details are replaced");
	before = e;
	err_clean(&e);
	ok(!memcmp(&before, &e, sizeof(e)), "cleaning a clean error changes nothing");
	memset(e.details, '\033', sizeof(e.details));
	err_clean(&e);
	ok(!memchr(e.details, '\033', sizeof(e.details)) && strlen(e.details) < sizeof(e.details),
		"an error filled in by another process is cleaned and terminated");
	json_quote(&quoted, "\302\233"
			    "2J\033");
	is_str(buf_str(&quoted), "\"\\u009b2J\\u001b\"",
		"JSON writes control characters as escapes");
	buf_done(&quoted);
}

static void test_buf(void)
{
	struct buf b = {0};
	char *s;

	is_str(buf_str(&b), "", "an empty buffer reads as \"\"");
	for (int i = 0; i < 1000; i++)
		buf_printf(&b, "%d,", i);
	is_int(b.len, 3890, "a thousand numbers are appended");
	is_str(b.data + b.len - 4, "999,", "the last number is at the end");
	s = buf_steal(&b);
	is_int(b.len, 0, "stealing empties the buffer");
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
	ok(same, "5,000 texts keep their ids");
	is_str(intern_text(&in, 4321), "name 4321", "a text is found by its id");
	is_int(intern_add(&in, "name 77 and more", 7), 77, "intern_add uses only the given length");
	is_str(intern_text(&in, 99999), "", "an unknown id has an empty text");
	intern_done(&in);
}

static void test_vacant(void)
{
	uint64_t keep[3] = {~(1ull << 3 | 1ull << 63), ~0ull, 1};
	struct vacant v = {0};

	is_int(vacant_allocate(&v, 0), VACANT_NONE, "no id is vacant at first");
	vacant_set(&v, keep, 130);
	is_int(v.count, 3, "the ids below the end that are not kept are vacant");
	ok(vacant_has(&v, 129) && !vacant_has(&v, 130), "ids at and beyond the end are not vacant");
	is_int(vacant_allocate(&v, 4), 63, "the lowest vacant id from a given one is allocated");
	is_int(vacant_allocate(&v, 0), 3, "the lowest vacant id is allocated");
	is_int(vacant_allocate(&v, 129), 129, "a vacant id itself is allocated");
	is_int(vacant_allocate(&v, 0), VACANT_NONE, "each vacant id is allocated once");
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
	is_str(intern_text(&in, 1), "b", "a kept text keeps its id");
	is_str(intern_text(&in, 2), "", "other texts are removed by a sweep");
	is_int(intern_add(&in, "c", 1), 0, "ids of removed texts are reused");
	is_int(intern_add(&in, "b", 1), 1, "equal texts have the same id");
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
		"JSON has commas and quotes, and invalid UTF-8 is repaired");
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
			"a code point of %d bytes is encoded and decoded", i + 1);
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
