/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Colors of the boxes in the picture; of a diff, by how much each box changed. web/colors.js and
 * web/diff.js compute the same.
 */
#include "export/web/flame.h"

#include "base/java_name.h"
#include "profile/diff/diff.h"

#include <math.h>
#include <string.h>

/*
 * type: conventional hues (Java green, inlined teal, native red, VM yellow, kernel orange) of
 * similar contrast. safe: blues, orange, yellow and brown of different lightness, for red-green
 * color blindness.
 */
const struct flame_type flame_types[FLAME_TYPES] = {
	[FRAME_COMPILED] = {'A', "compiled", {128, 38, 73}, {212, 54, 72}},
	[FRAME_C1] = {'B', "C1", {92, 40, 74}, {204, 60, 82}},
	[FRAME_INLINED] = {'C', "inlined", {178, 38, 74}, {224, 50, 63}},
	[FRAME_NO_INLINING] = {'N', "compiled, no inlining info", {128, 18, 82}, {212, 24, 80}},
	[FRAME_INTERPRETED] = {'D', "interpreted", {66, 44, 74}, {196, 44, 90}},
	[FRAME_JAVA] = {'E', "Java", {140, 34, 76}, {212, 40, 77}},
	[FRAME_NATIVE] = {'F', "native", {6, 62, 82}, {32, 84, 66}},
	[FRAME_VM] = {'G', "JVM", {46, 68, 75}, {50, 90, 82}},
	[FRAME_KERNEL] = {'H', "kernel", {26, 70, 78}, {24, 38, 55}},
	[FRAME_CLASS] = {'I', "class", {268, 44, 83}, {300, 14, 76}},
	[FRAME_BREAK] = {'J', "broken stack", {0, 0, 80}, {0, 0, 84}},
	[FRAME_CLASS_OUTSIDE] = {'M', "class outside", {292, 44, 80}, {300, 10, 62}},
	[FRAME_WAITS] = {'O', "waits", {236, 34, 84}, {60, 12, 91}},
	[FRAME_C1_NO_INLINING] = {'Q', "C1, no inlining info", {92, 20, 82}, {204, 28, 86}},
	[FRAME_CONTEXT] = {'R', "request", {200, 44, 80}, {48, 30, 88}},
	[FLAME_THREAD] = {'K', "thread", {216, 36, 83}, {220, 10, 80}},
	[FLAME_ALL] = {'L', "all", {220, 10, 86}, {220, 8, 87}},
	[FLAME_NARROW] = {'P', "narrow frames", {220, 4, 90}, {220, 4, 90}},
};

/* HSL in degrees and percent to 0xrrggbb. */
static uint32_t color_of(double hue, double saturation, double lightness)
{
	static const int channels[] = {0, 8, 4};
	uint32_t color = 0;

	hue = fmod(360 + hue, 360);
	saturation /= 100;
	lightness /= 100;
	for (int i = 0; i < 3; i++) {
		double k = fmod(channels[i] + hue / 30, 12);
		double m = fmin(fmin(k - 3, 9 - k), 1);
		double c = lightness - saturation * fmin(lightness, 1 - lightness) * fmax(m, -1);

		color = color << 8 | (uint32_t)(c * 255 + 0.5);
	}
	return color;
}

static uint32_t color_hash(const char *text, size_t len)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	return hash;
}

static uint32_t color_of_type(const struct flame *f, const struct flame_node *n)
{
	const struct flame_hue *t = &flame_types[n->type].type;
	const char *name = f->names[n->name];
	uint32_t hash = color_hash(name, strlen(name));

	return color_of(t->hue + (t->saturation ? (int)(hash >> 8 & 3) * 4 - 6 : 0), t->saturation,
		t->lightness + (int)(hash >> 16 & 3) * 2 - 3);
}

/* Types differ in lightness, so names vary it less. */
static uint32_t color_safe(const struct flame *f, const struct flame_node *n)
{
	const struct flame_hue *t = &flame_types[n->type].safe;
	const char *name = f->names[n->name];

	return color_of(t->hue, t->saturation,
		t->lightness + (int)(color_hash(name, strlen(name)) >> 16 & 3) - 1.5);
}

static bool color_is_java(uint8_t type)
{
	return frame_is_java(type) || frame_is_class(type);
}

/* The length of the package, including its dot, or of the library in a name. */
static size_t color_package(const char *name, uint8_t type)
{
	size_t class_at, method_at;

	if (!color_is_java(type)) {
		const char *end = *name == '[' ? strchr(name, ']') : NULL;
		return end ? (size_t)(end - name) : 0;
	}
	java_name_parts(name, &class_at, &method_at);
	return type == FRAME_CLASS || type == FRAME_CLASS_OUTSIDE ? method_at : class_at;
}

static uint32_t color_of_package(const struct flame *f, const struct flame_node *n)
{
	const char *name = f->names[n->name];
	size_t len = color_package(name, n->type);
	uint32_t hash = len || color_is_java(n->type) ? color_hash(name, len)
						      : color_hash(&flame_types[n->type].letter, 1);
	bool plain = n->type == FLAME_ALL || n->type == FLAME_THREAD || n->type == FLAME_NARROW;

	return color_of(hash % 30 * 12, plain ? 8 : 46, 76 + (int)(hash >> 12 & 3) * 2);
}

static uint32_t color_of_self(const struct flame *f, const struct flame_node *n)
{
	double all = f->nodes[0].total ? (double)f->nodes[0].total : 1;
	double heat = fmin(1, sqrt((double)n->self / all) * 1.6);

	return color_of(48 - 42 * heat, 8 + 66 * heat, 87 - 17 * heat);
}

const struct flame_scheme flame_schemes[] = {
	{"type", color_of_type},
	{"safe", color_safe},
	{"package", color_of_package},
	{"self", color_of_self},
	{NULL, NULL},
};

const struct flame_scheme *flame_scheme_by_name(const char *name)
{
	const struct flame_scheme *s = flame_schemes;

	while (name && s->name && strcmp(s->name, name) != 0)
		s++;
	return s->name ? s : NULL;
}

uint32_t flame_legend_color(const struct flame_scheme *scheme, uint8_t type)
{
	const struct flame_hue *t =
		scheme->color == color_safe ? &flame_types[type].safe : &flame_types[type].type;

	if (scheme->color != color_safe && scheme->color != color_of_type)
		return 0;
	return color_of(t->hue, t->saturation, t->lightness);
}

/* --- of a diff --------------------------------------------------------------------------------------- */

/* Ramps from small to full change. Orange-red and blue suit color blindness; glyphs repeat the information. */
static const unsigned char more[2][3] = {{246, 208, 194}, {214, 88, 48}};
static const unsigned char less[2][3] = {{200, 218, 242}, {62, 122, 200}};
#define SAME 0xe3e4e7

double flame_change(const struct flame *f, const struct flame_node *n)
{
	double a = (double)n->count / f->diff->graph_scale;
	double b = (double)(n->total - n->count) / f->diff->graph_scale;

	return a == b || fabs(b - a) < diff_band(f->diff, a, b) ? 0 : (b - a) / fmax(a, b);
}

static uint32_t color_of_change(const struct flame *f, const struct flame_node *n)
{
	double change = flame_change(f, n);
	const unsigned char(*ramp)[3] = change > 0 ? more : less;
	uint32_t color = 0;

	for (int i = 0; change && i < 3; i++)
		color = color << 8 |
			(uint32_t)(ramp[0][i] + sqrt(fabs(change)) * (ramp[1][i] - ramp[0][i]) +
				   0.5);
	return change ? color : SAME;
}

const struct flame_scheme flame_scheme_diff = {"diff", color_of_change};
