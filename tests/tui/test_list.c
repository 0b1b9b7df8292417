/* SPDX-License-Identifier: Apache-2.0 */
/* Cursor, scrolling, and an order that keeps the selected row on its line. */
#include "tests/tap.h"
#include "tui/screen/list.h"

static void test_moving(void)
{
	struct list l = {0};

	list_resize(&l, 100, 10);
	ok(!l.touched && l.cursor == 0 && l.top == 0, "starts at the top");
	list_step(&l, LIST_UP);
	is_int(l.cursor, 0, "not above the first row");
	ok(l.touched, "a key counts as a touch also where it cannot move");
	for (int i = 0; i < 9; i++)
		list_step(&l, LIST_DOWN);
	ok(l.cursor == 9 && l.top == 0, "down to the last visible line without scrolling");
	list_step(&l, LIST_DOWN);
	ok(l.cursor == 10 && l.top == 1, "then the screen follows");
	list_step(&l, LIST_PAGE_DOWN);
	ok(l.cursor == 19 && l.top == 10, "a page keeps the cursor's line");
	list_step(&l, LIST_HALF_UP);
	ok(l.cursor == 14 && l.top == 5, "half a page too");
	list_step(&l, LIST_END);
	ok(l.cursor == 99 && l.top == 90, "the end");
	list_step(&l, LIST_PAGE_DOWN);
	ok(l.cursor == 99 && l.top == 90, "nothing below it");
	list_resize(&l, 50, 10);
	ok(l.cursor == 49 && l.top == 40, "a list that shrinks takes the cursor along");
	list_resize(&l, 50, 60);
	ok(l.cursor == 49 && l.top == 0, "all rows fit");
	list_resize(&l, 0, 5);
	ok(l.cursor == 0 && l.top == 0, "an empty list");
	list_step(&l, LIST_DOWN);
	list_step(&l, LIST_END);
	ok(l.cursor == 0 && l.top == 0, "has nowhere to go");
	list_resize(&l, 100, 10);
	list_to(&l, 50);
	l.top = 45;
	list_follow(&l, 70);
	ok(l.cursor == 70 && l.top == 65, "a followed row keeps its screen line");
	list_follow(&l, 2);
	ok(l.cursor == 2 && l.top == 0, "as far as there are rows above");
}

static const char *text_of(void *ctx, int index)
{
	return ((const char *const *)ctx)[index];
}

static void test_finding(void)
{
	static const char *const texts[] = {
		"java.util.HashMap.get", "Foo.bar", "java.util.TreeMap.get", "x"};
	struct list l = {0};

	list_resize(&l, 4, 4);
	is_int(list_find(&l, text_of, (void *)texts, "get", 0, 1), 0, "from the row itself");
	is_int(list_find(&l, text_of, (void *)texts, "get", 1, 1), 2, "forward");
	is_int(list_find(&l, text_of, (void *)texts, "get", 3, 1), 0, "around the end");
	is_int(list_find(&l, text_of, (void *)texts, "get", 1, -1), 0, "backward");
	is_int(list_find(&l, text_of, (void *)texts, "get", -1, -1), 2, "around the beginning");
	is_int(list_find(&l, text_of, (void *)texts, "treemap", 0, 1), 2,
		"small letters match capitals");
	is_int(list_find(&l, text_of, (void *)texts, "Treemap", 0, 1), -1,
		"capitals match only themselves");
	is_int(list_find(&l, text_of, (void *)texts, "", 0, 1), -1, "nothing is not found");
	is_int(list_count_hits(&l, text_of, (void *)texts, "java"), 2, "hits");
}

/* Rows with ids 100, 101, ... and these counts. */
static void update(
	struct order *o, struct list *l, const uint64_t *counts, uint32_t n, enum order_how how)
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
	update(&o, &l, (uint64_t[]){50, 400, 200, 100, 12}, 5, ORDER_FRESH);
	is_order(&o, "12304", "sorted");
	ok(!order_selected(&o, &l, &id), "nobody has selected anything");
	update(&o, &l, (uint64_t[]){50, 400, 410, 100, 12}, 5, ORDER_KEEP);
	is_order(&o, "12304", "10 of 400 is noise");
	update(&o, &l, (uint64_t[]){50, 400, 900, 100, 12}, 5, ORDER_FREEZE);
	is_order(&o, "12304", "nothing moves while the order is held");
	update(&o, &l, (uint64_t[]){50, 400, 900, 100, 12}, 5, ORDER_KEEP);
	is_order(&o, "21304", "what truly leads passes");
	ok(l.cursor == 0, "a cursor that was never moved stays on the first line");
	list_to(&l, 2);
	ok(order_selected(&o, &l, &id) && id == 103, "the third row is selected");
	update(&o, &l, (uint64_t[]){50, 400, 900, 2000, 12}, 5, ORDER_KEEP);
	is_order(&o, "21304", "it rises and keeps its line");
	ok(order_selected(&o, &l, &id) && id == 103, "it is still selected");
	update(&o, &l, (uint64_t[]){5000, 400, 900, 1, 12}, 5, ORDER_KEEP);
	is_order(&o, "02314", "others flow around it");
	list_to(&l, 0);
	update(&o, &l, (uint64_t[]){5000, 400, 900, 1, 12}, 5, ORDER_KEEP);
	is_order(&o, "02143", "let go, it finds its place");
	list_to(&l, 3);
	update(&o, &l, (uint64_t[]){5000, 400, 900, 1, 90000}, 5, ORDER_FRESH);
	is_order(&o, "40213", "a fresh order is the true one");
	ok(order_selected(&o, &l, &id) && id == 104 && l.cursor == 0,
		"and the cursor goes with its row");
	o.reverse = true;
	update(&o, &l, (uint64_t[]){5000, 400, 900, 1, 90000}, 5, ORDER_FRESH);
	is_order(&o, "31204", "reversed");
	update(&o, &l, (uint64_t[]){5000, 400, 900, 1, 90000}, 5, ORDER_KEEP);
	is_order(&o, "31204", "and stays so");
	update(&o, &l, NULL, 0, ORDER_KEEP);
	ok(!order_selected(&o, &l, &id), "no rows");
	order_done(&o);
}

int main(void)
{
	test_moving();
	test_finding();
	test_order();
	return tap_done();
}
