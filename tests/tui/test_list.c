/* SPDX-License-Identifier: Apache-2.0 */
/* Cursor, scrolling, and an order that keeps the selected row on its line. */
#include "tests/tap.h"
#include "tui/screen/list.h"

static void test_moving(void)
{
	struct list l = {0};

	list_resize(&l, 100, 10);
	ok(!l.touched && l.cursor == 0 && l.top == 0, "the cursor starts at the top");
	list_step(&l, LIST_UP);
	is_int(l.cursor, 0, "the cursor does not move above the first row");
	ok(l.touched, "a key counts as a touch even if the cursor cannot move");
	for (int i = 0; i < 9; i++)
		list_step(&l, LIST_DOWN);
	ok(l.cursor == 9 && l.top == 0,
		"the cursor moves to the last visible line without scrolling");
	list_step(&l, LIST_DOWN);
	ok(l.cursor == 10 && l.top == 1, "further down the screen scrolls");
	list_step(&l, LIST_PAGE_DOWN);
	ok(l.cursor == 19 && l.top == 10, "a page down keeps the cursor's screen line");
	list_step(&l, LIST_HALF_UP);
	ok(l.cursor == 14 && l.top == 5, "half a page up keeps the cursor's screen line");
	list_step(&l, LIST_END);
	ok(l.cursor == 99 && l.top == 90, "End moves to the last row");
	list_step(&l, LIST_PAGE_DOWN);
	ok(l.cursor == 99 && l.top == 90, "a page down at the end does not move");
	list_resize(&l, 50, 10);
	ok(l.cursor == 49 && l.top == 40, "a list that shrinks moves the cursor to its last row");
	list_resize(&l, 50, 60);
	ok(l.cursor == 49 && l.top == 0, "a list that fits starts at its first row");
	list_resize(&l, 0, 5);
	ok(l.cursor == 0 && l.top == 0, "an empty list has its cursor at 0");
	list_step(&l, LIST_DOWN);
	list_step(&l, LIST_END);
	ok(l.cursor == 0 && l.top == 0, "keys do not move the cursor of an empty list");
	list_resize(&l, 100, 10);
	list_to(&l, 50);
	l.top = 45;
	list_follow(&l, 70);
	ok(l.cursor == 70 && l.top == 65, "a followed row keeps its screen line");
	list_follow(&l, 2);
	ok(l.cursor == 2 && l.top == 0, "a followed row near the start has fewer rows above");
	list_follow(&l, 6);
	ok(l.cursor == 6 && l.top == 0,
		"a list at its first row stays there if the followed row fits");
	list_follow(&l, 30);
	ok(l.cursor == 30 && l.top == 24, "else it scrolls to the followed row");
}

static const char *text_of(const void *ctx, int index)
{
	return ((const char *const *)ctx)[index];
}

static void test_finding(void)
{
	static const char *const texts[] = {
		"java.util.HashMap.get", "Foo.bar", "java.util.TreeMap.get", "x"};
	struct list l = {0};

	list_resize(&l, 4, 4);
	is_int(list_find(&l, text_of, texts, "get", 0, 1), 0, "the search includes the start row");
	is_int(list_find(&l, text_of, texts, "get", 1, 1), 2, "the search goes forward");
	is_int(list_find(&l, text_of, texts, "get", 3, 1), 0, "the search wraps at the end");
	is_int(list_find(&l, text_of, texts, "get", 1, -1), 0, "the search goes backward");
	is_int(list_find(&l, text_of, texts, "get", -1, -1), 2,
		"the search wraps at the beginning");
	is_int(list_find(&l, text_of, texts, "treemap", 0, 1), 2,
		"lower-case letters match capitals");
	is_int(list_find(&l, text_of, texts, "Treemap", 0, 1), -1, "capitals match only capitals");
	is_int(list_find(&l, text_of, texts, "", 0, 1), -1, "an empty text is not found");
	is_int(list_count_hits(&l, text_of, texts, "java"), 2, "all matching rows are counted");
}

/* Rows with ids 100, 101, ... and these counts. */
static void update(
	struct order *o, struct list *l, const uint64_t *counts, uint32_t n, enum rank_how how)
{
	struct order_item items[16];

	for (uint32_t i = 0; i < n; i++)
		items[i] = (struct order_item){100 + i, counts[i], (double)counts[i], "n"};
	order_update(o, l, items, n, how);
}

static void is_order(const struct order *o, const char *want, const char *what)
{
	char got[64] = "";

	for (uint32_t i = 0; i < o->count; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%u", o->rows[i]);
	is_str(got, want, what);
}

static void test_order(void)
{
	struct order o = {0};
	struct list l = {0};
	uint32_t id;

	l.rows = 3;
	update(&o, &l, (uint64_t[]){50, 400, 200, 100, 12}, 5, RANK_SORT);
	is_order(&o, "12304", "a fresh order is sorted");
	ok(!order_selected(&o, &l, &id), "nothing is selected at first");
	update(&o, &l, (uint64_t[]){50, 400, 410, 100, 12}, 5, RANK_STABLE);
	is_order(&o, "12304", "a lead of 10 over 400 does not change the order");
	update(&o, &l, (uint64_t[]){50, 400, 900, 100, 12}, 5, RANK_FROZEN);
	is_order(&o, "12304", "a frozen order does not change");
	update(&o, &l, (uint64_t[]){50, 400, 900, 100, 12}, 5, RANK_STABLE);
	is_order(&o, "21304", "a significant lead changes the order");
	ok(l.cursor == 0, "an untouched cursor stays on the first line");
	list_to(&l, 2);
	ok(order_selected(&o, &l, &id) && id == 103, "the third row is selected");
	update(&o, &l, (uint64_t[]){50, 400, 900, 2000, 12}, 5, RANK_STABLE);
	is_order(&o, "21304", "the selected row keeps its line although it rises");
	ok(order_selected(&o, &l, &id) && id == 103, "the selected row stays selected");
	update(&o, &l, (uint64_t[]){5000, 400, 900, 1, 12}, 5, RANK_STABLE);
	is_order(&o, "02314", "other rows move around the selected one");
	list_to(&l, 0);
	update(&o, &l, (uint64_t[]){5000, 400, 900, 1, 12}, 5, RANK_STABLE);
	is_order(&o, "02143", "a row moves to its place once another is selected");
	list_to(&l, 3);
	update(&o, &l, (uint64_t[]){5000, 400, 900, 1, 90000}, 5, RANK_SORT);
	is_order(&o, "40213", "a fresh order is exact");
	ok(order_selected(&o, &l, &id) && id == 104 && l.cursor == 0,
		"in a fresh order the cursor follows its row");
	o.reverse = true;
	update(&o, &l, (uint64_t[]){5000, 400, 900, 1, 90000}, 5, RANK_SORT);
	is_order(&o, "31204", "a reversed order is sorted ascending");
	update(&o, &l, (uint64_t[]){5000, 400, 900, 1, 90000}, 5, RANK_STABLE);
	is_order(&o, "31204", "a reversed order stays reversed");
	update(&o, &l, NULL, 0, RANK_STABLE);
	ok(!order_selected(&o, &l, &id), "an empty list has no selected row");
	order_done(&o);
}

int main(void)
{
	test_moving();
	test_finding();
	test_order();
	return tap_done();
}
