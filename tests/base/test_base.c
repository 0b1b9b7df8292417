/* SPDX-License-Identifier: Apache-2.0 */
/* base: errors, buffers, hashing, interning, JSON. */
#include "base/buf.h"
#include "base/err.h"
#include "base/intern.h"
#include "base/json.h"
#include "tests/tap.h"

#include <errno.h>

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
			same = same && intern_put(&in, name, strlen(name)) == (uint32_t)i;
		}
	}
	ok(same, "5,000 texts keep their numbers");
	is_str(intern_text(&in, 4321), "name 4321", "and are found by number");
	is_int(intern_put(&in, "name 77 and more", 7), 77, "a length cuts a text");
	is_str(intern_text(&in, 99999), "", "an unknown number is empty");
	intern_done(&in);
}

static void test_json(void)
{
	struct buf b = {0};
	struct json j = {&b, false};

	json_begin(&j, '{');
	json_key(&j, "a\"b");
	json_str(&j, "tab\t\xff \xc3\xa9 \x01");
	json_key(&j, "n");
	json_begin(&j, '[');
	json_int(&j, -5);
	json_num(&j, 0.5);
	json_bool(&j, true);
	json_null(&j);
	json_end(&j, ']');
	json_end(&j, '}');
	is_str(buf_str(&b),
		"{\"a\\\"b\":\"tab\\t\xef\xbf\xbd \xc3\xa9 \\u0001\",\"n\":[-5,0.5,true,null]}",
		"commas, quotes, repaired UTF-8");
	buf_done(&b);
	is_int(utf8_len("\xed\xa0\x80"), 0, "a surrogate is not UTF-8");
	is_int(utf8_len("\xc0\x80"), 0, "an overlong form is not UTF-8");
}

int main(void)
{
	test_err();
	test_buf();
	test_intern();
	test_json();
	return tap_done();
}
