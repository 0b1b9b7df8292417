/* SPDX-License-Identifier: Apache-2.0 */
/* Hand-written compressed line tables: both step encodings, both kinds of UNSIGNED5, and corrupt tables. */
#include "attach/jvm/line_table.h"

#include "tests/tap.h"

#define FIND(table, excluded, bci) line_table_find(table, sizeof(table), excluded, bci)

int main(void)
{
	/* bci 0 line 7, bci 5 line 9, bci 36 line 9 + 7 */
	static const uint8_t small[] = {0 << 3 | 7, 5 << 3 | 2, 31 << 3 | 0, 0 << 3 | 7, 0};
	/* bci 0 line 100 (signed 200: 200 = 192 + 8 -> 200, 0), then bci +4 line -30 (signed 8, 59) */
	static const uint8_t large[] = {0xff, 0, 200, 0, 0xff, 8, 59, 0};
	/* the same since JDK 20, where every byte is one higher */
	static const uint8_t since20[] = {0xff, 1, 201, 1, 0xff, 9, 60, 0};
	static const uint8_t endless[] = {0 << 3 | 7, 5 << 3 | 2};
	static const uint8_t cut[] = {0 << 3 | 7, 0xff, 200};
	static const uint8_t negative[] = {0 << 3 | 7, 0xff, 8, 201, 10, 0};
	/* bci 5, then the largest possible step of the bci, or of the line */
	static const uint8_t far[] = {5 << 3 | 2, 0xff, 254, 252, 252, 252, 252, 0, 0};
	static const uint8_t high[] = {5 << 3 | 2, 0xff, 0, 254, 252, 252, 252, 252, 0};
	static const uint8_t excluded[] = {0xff, 0, 9, 0};

	is_int(FIND(small, 0, 0), 7, "bci 0 has the first entry's line");
	is_int(FIND(small, 0, 4), 7, "a bci before the next entry has the first entry's line");
	is_int(FIND(small, 0, 5), 9, "the bci of the next entry has its line");
	is_int(FIND(small, 0, 60000), 16,
		"of two entries for one bci the last applies, also for any later bci");
	is_int(FIND(large, 0, 0), 100, "a large line step is decoded");
	is_int(FIND(large, 0, 3), 100, "the line of a large step applies up to the next entry");
	is_int(FIND(large, 0, 4), 70, "a negative line step is decoded");
	is_int(FIND(since20, 1, 0), 100, "a large line step is decoded (JDK 20)");
	is_int(FIND(since20, 1, 4), 70, "a negative line step is decoded (JDK 20)");
	is_int(FIND(endless, 0, 5), 0, "a table without an end marker is rejected");
	is_int(FIND(cut, 0, 5), 0, "a table truncated within a number is rejected");
	is_int(FIND(negative, 0, 5), 0, "a table with a negative line is rejected");
	is_int(FIND(far, 0, 5), 0, "a table whose bci steps overflow is rejected");
	is_int(FIND(high, 0, 5), 0, "a table whose line steps overflow is rejected");
	is_int(FIND(excluded, 1, 0), 0, "a table with an excluded byte is rejected");
	is_int(line_table_find(small, 0, 0, 0), 0, "an empty table is rejected");
	return tap_done();
}
