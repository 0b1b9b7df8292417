/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of the styles for three color depths, the two sets of symbols, and sparklines. */
#include "tui/screen/theme.h"

#include "profile/profile.h"
#include "profile/query/error.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define OWN -1 /* the terminal's default color */
/* The eight colors that every color terminal has. */
enum { BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN, WHITE };

/* Black on a soft background, in two shades with 256 colors. */
#define BOX_STYLE(type, shade) (STYLE_BOX_FIRST + 2 * ((type)-STYLE_JAVA) + (shade))
#define BOX(type, c16, c256, c256_other)                                        \
	[BOX_STYLE(type, 0)] = {{OWN, OWN, 0}, {BLACK, c16, 0}, {16, c256, 0}}, \
			 [BOX_STYLE(type, 1)] = {                               \
				 {OWN, OWN, 0}, {BLACK, c16, 0}, {16, c256_other, 0}}
_Static_assert(STYLE_BREAK - STYLE_JAVA == 7, "eight frame styles, sixteen boxes");

static const struct appearance appearances[STYLE_COUNT][THEME_DEPTHS] = {
	[STYLE_NORMAL] = {{OWN, OWN, 0}, {OWN, OWN, 0}, {OWN, OWN, 0}},
	[STYLE_DIM] = {{OWN, OWN, ATTR_DIM}, {OWN, OWN, ATTR_DIM}, {245, OWN, 0}},
	[STYLE_STRONG] = {{OWN, OWN, ATTR_BOLD}, {OWN, OWN, ATTR_BOLD}, {OWN, OWN, ATTR_BOLD}},
	[STYLE_TAB] = {{OWN, OWN, 0}, {OWN, OWN, 0}, {OWN, OWN, 0}},
	[STYLE_TAB_ON] = {{OWN, OWN, ATTR_BOLD}, {GREEN, OWN, ATTR_BOLD}, {71, OWN, ATTR_BOLD}},
	[STYLE_COLUMNS] = {{OWN, OWN, ATTR_REVERSE}, {BLACK, GREEN, 0}, {16, 108, 0}},
	[STYLE_SORTED] = {{OWN, OWN, ATTR_REVERSE | ATTR_BOLD}, {BLACK, CYAN, 0}, {16, 152, 0}},
	[STYLE_CURSOR] = {{OWN, OWN, ATTR_REVERSE}, {BLACK, CYAN, 0}, {16, 110, 0}},
	[STYLE_KEY] = {{OWN, OWN, ATTR_BOLD}, {CYAN, OWN, ATTR_BOLD}, {73, OWN, ATTR_BOLD}},
	[STYLE_LABEL] = {{OWN, OWN, 0}, {OWN, OWN, 0}, {OWN, OWN, 0}},
	[STYLE_GOOD] = {{OWN, OWN, ATTR_BOLD}, {GREEN, OWN, ATTR_BOLD}, {71, OWN, ATTR_BOLD}},
	[STYLE_WARN] = {{OWN, OWN, ATTR_REVERSE}, {BLACK, YELLOW, 0}, {16, 179, 0}},
	[STYLE_BAD] = {{OWN, OWN, ATTR_REVERSE | ATTR_BOLD}, {WHITE, RED, ATTR_BOLD},
		{231, 160, ATTR_BOLD}},
	[STYLE_HIT] = {{OWN, OWN, ATTR_BOLD | ATTR_UNDERLINE},
		{MAGENTA, OWN, ATTR_BOLD | ATTR_UNDERLINE}, {170, OWN, ATTR_BOLD | ATTR_UNDERLINE}},
	[STYLE_SPARK] = {{OWN, OWN, 0}, {GREEN, OWN, 0}, {72, OWN, 0}},
	[STYLE_TREE] = {{OWN, OWN, ATTR_DIM}, {OWN, OWN, ATTR_DIM}, {243, OWN, 0}},
	[STYLE_PROMPT] = {{OWN, OWN, ATTR_BOLD}, {OWN, OWN, ATTR_BOLD}, {OWN, OWN, ATTR_BOLD}},
	[STYLE_JAVA] = {{OWN, OWN, 0}, {GREEN, OWN, 0}, {71, OWN, 0}},
	[STYLE_INLINED] = {{OWN, OWN, 0}, {CYAN, OWN, 0}, {73, OWN, 0}},
	[STYLE_INTERPRETED] = {{OWN, OWN, ATTR_BOLD}, {MAGENTA, OWN, 0}, {133, OWN, 0}},
	[STYLE_NATIVE] = {{OWN, OWN, 0}, {RED, OWN, 0}, {167, OWN, 0}},
	[STYLE_VM] = {{OWN, OWN, 0}, {YELLOW, OWN, 0}, {136, OWN, 0}},
	[STYLE_KERNEL] = {{OWN, OWN, 0}, {YELLOW, OWN, ATTR_BOLD}, {172, OWN, 0}},
	[STYLE_CLASS] = {{OWN, OWN, 0}, {CYAN, OWN, ATTR_BOLD}, {109, OWN, 0}},
	[STYLE_BREAK] = {{OWN, OWN, ATTR_BOLD}, {RED, OWN, ATTR_BOLD}, {160, OWN, ATTR_BOLD}},
	[STYLE_BOX] = {{OWN, OWN, 0}, {BLACK, WHITE, 0}, {16, 251, 0}},
	BOX(STYLE_JAVA, GREEN, 114, 150),
	BOX(STYLE_INLINED, CYAN, 80, 116),
	BOX(STYLE_INTERPRETED, MAGENTA, 176, 182),
	BOX(STYLE_NATIVE, RED, 174, 181),
	BOX(STYLE_VM, YELLOW, 179, 186),
	BOX(STYLE_KERNEL, YELLOW, 173, 180),
	BOX(STYLE_CLASS, CYAN, 110, 117),
	BOX(STYLE_BREAK, RED, 203, 210),
};

const struct appearance *theme_appearance(enum theme_depth depth, enum style style)
{
	return &appearances[style][depth];
}

static const char *const names[STYLE_BOX] = {"normal", "dim", "strong", "tab", "tab-on", "columns",
	"sorted", "cursor", "key", "label", "good", "warn", "bad", "hit", "spark", "tree", "prompt",
	"java", "inlined", "interpreted", "native", "vm", "kernel", "class", "break"};
_Static_assert(STYLE_BOX == 25, "a name per style");

const char *theme_name(enum style style)
{
	return style < STYLE_BOX ? names[style] : NULL;
}

int theme_find(const char *name)
{
	for (int i = 0; i < STYLE_BOX; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

char theme_letter(uint8_t style)
{
	return style == STYLE_NORMAL ? '.'
				     : (char)(style <= 26 ? 'a' + style - 1 : 'A' + style - 27);
}
_Static_assert(STYLE_COUNT <= 53, "a letter per style");

enum style theme_frame(uint8_t frame_type)
{
	static const uint8_t styles[FRAME_TYPES] = {
		[FRAME_COMPILED] = STYLE_JAVA,
		[FRAME_C1] = STYLE_JAVA,
		[FRAME_INLINED] = STYLE_INLINED,
		[FRAME_NO_INLINING] = STYLE_JAVA,
		[FRAME_C1_NO_INLINING] = STYLE_JAVA,
		[FRAME_INTERPRETED] = STYLE_INTERPRETED,
		[FRAME_JAVA] = STYLE_JAVA,
		[FRAME_NATIVE] = STYLE_NATIVE,
		[FRAME_VM] = STYLE_VM,
		[FRAME_KERNEL] = STYLE_KERNEL,
		[FRAME_CLASS] = STYLE_CLASS,
		[FRAME_BREAK] = STYLE_BREAK,
		[FRAME_CLASS_OUTSIDE] = STYLE_CLASS,
		[FRAME_WAITS] = STYLE_CLASS,
		[FRAME_CONTEXT] = STYLE_CLASS,
	};

	return frame_type < FRAME_TYPES ? styles[frame_type] : STYLE_NORMAL;
}

enum style theme_box(uint8_t frame_type, unsigned shade)
{
	if (frame_type >= FRAME_TYPES)
		return STYLE_BOX;
	return (enum style)BOX_STYLE(theme_frame(frame_type), shade % 2);
}

/* --- symbols --------------------------------------------------------------------------------------------- */

const struct glyphs glyphs_utf8 = {
	.spark = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	.bar = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"},
	.sort = "▼",
	.plus_minus = "±",
	.ellipsis = "…",
	.enter = "⏎",
	.tree_mid = "├",
	.tree_last = "└",
	.tree_line = "│",
	.gap = "·",
	.left = "←",
	.right = "→",
	.up = "↑",
	.down = "↓",
	.box_edge = "▏",
};

const struct glyphs glyphs_ascii = {
	.spark = {" ", ".", ".", ":", ":", "=", "=", "#", "#"},
	.bar = {" ", " ", " ", "-", "-", "=", "=", "#", "#"},
	.sort = "v",
	.plus_minus = "~",
	.ellipsis = "~",
	.enter = "Enter",
	.tree_mid = "|",
	.tree_last = "`",
	.tree_line = "|",
	.gap = "_",
	.left = "<-",
	.right = "->",
	.up = "Up",
	.down = "Down",
	.box_edge = "|",
};

#define MEAN_LEVEL 5

static int level_of(double value, double full)
{
	int level = full > 0 ? (int)lround(GLYPH_LEVELS * value / full) : 0;

	if (level > GLYPH_LEVELS)
		return GLYPH_LEVELS;
	return level < 1 && value > 0 ? 1 : level;
}

void glyph_spark(const struct glyphs *g, char *out, const int64_t *counts, int n)
{
	double sum = 0;
	int known = 0;

	for (int i = 0; i < n; i++) {
		sum += counts[i] < 0 ? 0 : (double)counts[i];
		known += counts[i] >= 0;
	}
	double mean = known ? sum / known : 0, full = mean * GLYPH_LEVELS / MEAN_LEVEL;
	bool few = mean * n < ERROR_FEW;

	*out = '\0';
	for (int i = 0; i < n; i++) {
		double v = (double)counts[i];
		bool chance = fabs(v - mean) <= 2 * sqrt(mean);
		int level = level_of(chance ? mean : v, full);

		if (few && chance)
			level = 0;
		out = stpcpy(out, counts[i] < 0 ? g->gap : g->spark[level]);
	}
}

void glyph_gauge(const struct glyphs *g, char *out, const int64_t *values, int n, int64_t max)
{
	*out = '\0';
	for (int i = 0; i < n; i++)
		out = stpcpy(out, values[i] < 0
					  ? g->spark[0]
					  : g->spark[level_of((double)values[i], (double)max)]);
}

int64_t glyph_top(const int64_t *values, int n, int64_t unit)
{
	int64_t top = unit;

	for (int i = 0; i < n; i++)
		while (values[i] > top && top <= INT64_MAX / 2) /* values of a file are unbounded */
			top *= 2;
	return top;
}

void glyph_bar(const struct glyphs *g, char *out, double share, int width)
{
	int eighths = (int)lround(share * width * GLYPH_LEVELS);

	*out = '\0';
	for (int i = 0; i < width; i++, eighths -= GLYPH_LEVELS)
		out = stpcpy(out, g->bar[eighths >= GLYPH_LEVELS ? GLYPH_LEVELS
					  : eighths > 0          ? eighths
								 : 0]);
}
