/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples the threads of a live JVM from outside and reports how well they could be walked.
 *
 *   walkstat [-n SAMPLES] [-a] [-b BROKEN] [-d] [-p] [-u] [-c] [-m] [-t] [-o FILE] [-i FILE [-k NAME]] PID
 *
 *   -n  samples to take (default 2000)      -a  all threads, not only running ones
 *   -b  print this many broken stacks         -d  with registers, code and stack words
 *   -p  print every stack                   -u  with unwind rows for native frames
 *   -c  without anchors: only the chain of frames is followed
 *   -o  write every stack as a line, root first
 *   -t  every stack is walked a second time, with the caches of earlier walks; differences are
 *       counted and printed
 *   -m  print a line for each module with samples
 *   -i  write memory images of the first short stack of each kind, and of -b broken ones
 *   -k  instead, of the first stacks of any depth whose innermost frame has NAME in its name
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "target.h"
#include "tests/walk/image.h"
#include "tests/walk/self_table.h"
#include "walk/frames/frame_cache.h"
#include "walk/frames/tail.h"
#include "walk/hotspot/code_cache.h"
#include "walk/hotspot/method.h"
#include "walk/hotspot/names.h"
#include "walk/hotspot/threads.h"
#include "walk/load/arch.h"
#include "walk/load/mem.h"

#define DEPTH     2048
#define NAMES_MAX (1u << 16)
#define THREADS   4096
#define LEAVES    32
#define KINDS     256
#define IMAGE_MAX 26 /* maximum depth of an example */
#define IMAGE_VIRTUAL \
	130 /* the same for virtual threads: frames in the heap show up in deep stacks only */
#define IMAGE_NAMED 12         /* examples selected by their innermost frame's name */
#define WIDE        (8u << 10) /* bytes of stack kept of a broken example */

struct stat {
	struct target *target;
	struct walk_layout *layout;
	struct names *names;
	char *text[NAMES_MAX];
	uint32_t last_name;
	struct {
		pid_t tid;
		uint64_t java;
	} threads[THREADS];
	int thread_count;
	uint64_t samples, frames, deepest, java_samples, truncated, why[WALK_BREAK_COUNT];
	uint64_t suspicious, unnamed;
	int show_broken;
	bool show_all, show_dump;
	FILE *collapsed, *images;
	struct recorder *recorder;
	char kinds[KINDS][64];
	const char *keep_named;
	int kept_named;
	struct unwind_table *rows;
	bool chain_only;
	struct {
		struct frame_cache_walk walk; /* cache NULL: no second walk */
		struct tail *tails;           /* by tid, modulo THREADS */
		uint64_t frames, differ, followed;
	} again;
	struct leaf {
		char name[64];
		uint64_t samples, java, broken;
	} leaves[LEAVES];
};

/* --- names ------------------------------------------------------------------------------------------- */

static void names_drain(struct stat *s)
{
	struct names_entry e;

	while (names_next(s->names, s->last_name, &e)) {
		s->last_name = e.id;
		if (e.id < NAMES_MAX &&
			asprintf(&s->text[e.id], "%.*s%s%.*s%.*s", e.class_bytes, e.class_name,
				e.class_bytes ? "." : "", e.name_bytes, e.name, e.signature_bytes,
				e.signature) < 0)
			exit(1);
	}
}

/* One line per sample, root first: class.method_[kind];... */
static void collapsed_print(
	struct stat *s, const struct walk_frame *frames, const uint64_t *packed, uint32_t count)
{
	static const char *const suffixes[] = {[WALK_INTERPRETED] = "_[i]",
		[WALK_C1] = "_[1]",
		[WALK_C2] = "_[2]",
		[WALK_INLINED] = "_[n]",
		[WALK_NO_INLINING] = "_[~]",
		[WALK_C1_NO_INLINING] = "_[~]",
		[WALK_JAVA] = "_[j]",
		[WALK_STUB] = "_[s]",
		[WALK_BREAK] = ""};
	char text[512];

	for (uint32_t i = count; i-- > 0;) {
		uint32_t id = (uint32_t)packed[i];
		const char *name = id < NAMES_MAX && s->text[id] ? s->text[id] : "?";

		if (frames[i].type == WALK_NATIVE) {
			target_describe(s->target, frames[i].value, text, sizeof(text));
			fprintf(s->collapsed, "%s;", text);
		} else {
			fprintf(s->collapsed, "%.*s%s;", (int)strcspn(name, "("), name,
				suffixes[frames[i].type]);
		}
	}
	fprintf(s->collapsed, " 1\n");
}

static const char *const kinds[] = {[WALK_INTERPRETED] = "interp",
	[WALK_C1] = "c1",
	[WALK_C2] = "c2",
	[WALK_INLINED] = "inline",
	[WALK_NO_INLINING] = "coarse",
	[WALK_C1_NO_INLINING] = "c1 coarse",
	[WALK_JAVA] = "java",
	[WALK_NATIVE] = "native",
	[WALK_STUB] = "stub",
	[WALK_BREAK] = "BREAK"};

static const char *frame_name(const struct stat *s, uint64_t packed)
{
	uint32_t id = (uint32_t)packed;

	return id < NAMES_MAX && s->text[id] ? s->text[id] : "?";
}

static void frame_print(struct stat *s, const struct walk_frame *f, uint64_t packed)
{
	char text[512];

	if (f->type == WALK_NATIVE) {
		target_describe(s->target, f->value, text, sizeof(text));
		printf("    %-7s %s\n", kinds[f->type], text);
	} else {
		printf("    %-7s %s @%d\n", kinds[f->type], frame_name(s, packed), (int16_t)f->bci);
	}
}

/* --- sanity of what was walked ----------------------------------------------------------------------- */

static bool is_java(const struct walk_frame *f)
{
	return walk_type_is_java(f->type);
}

/*
 * A Java frame that directly called another Java frame stands at an invoke bytecode: 182..186, or one of
 * the interpreter's own (203 and up: fast_invokevfinal, invokehandle).
 */
static bool caller_plausible(struct stat *s, const struct walk_frame *f)
{
	struct method m;
	uint8_t code;

	if (f->bci == WALK_BCI_UNKNOWN)
		return true;
	if (!method_load(s->layout, target_mem(s->target), f->value, &m))
		return false;
	code = mem_u8(
		target_mem(s->target), m.const_method + s->layout->const_method_bytes + f->bci);
	return (code >= 182 && code <= 186) || code >= 203;
}

static int suspicious_frame(struct stat *s, const struct walk_frame *f, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (is_java(&f[i]) && is_java(&f[i - 1]) && !caller_plausible(s, &f[i]))
			return (int)i;
	return -1;
}

/* A dump of the stack and the code, to debug the walker. */
static void dump(struct stat *s, const struct walk_regs *regs)
{
	const struct walk_mem *mem = target_mem(s->target);
	struct code_blob blob;
	uint8_t code[48];

	if (code_cache_find(s->layout, mem, regs->pc, &blob)) {
		printf("  blob 0x%lx code +0x%lx pc +0x%lx end +0x%lx frame %d complete %d\n",
			blob.start, blob.code - blob.start, regs->pc - blob.start,
			blob.end - blob.start, blob.frame_words, blob.frame_complete);
	}
	if (mem_load(mem, regs->pc - 24, code, sizeof(code))) {
		printf("  code");
		for (int i = 0; i < 48; i++)
			printf("%s%02x", i == 24 ? " | " : " ", code[i]);
		putchar('\n');
	}
	printf("  rax 0x%lx rbx 0x%lx r13 0x%lx\n", regs->link, regs->method, regs->sender);
	for (int i = -4; i < 48; i++) {
		uint64_t word = mem_u64(mem, regs->sp + 8ull * (uint64_t)i);

		printf("  sp%+4d 0x%016lx", i * 8, word);
		if (word >= s->layout->interpreter_low && word < s->layout->interpreter_high)
			printf(" interpreter");
		else if (code_cache_find(s->layout, mem, word, &blob))
			printf(" blob 0x%lx kind %d %s", blob.start, blob.kind,
				arch_after_call(mem, word) ? "after a call" : "");
		putchar('\n');
	}
}

/* --- images ------------------------------------------------------------------------------------------ */

/* Which part of its code a compiled leaf is in. */
static const char *compiled_part(const struct stat *s, uint64_t pc)
{
	struct code_blob blob;

	if (!code_cache_find(s->layout, target_mem(s->target), pc, &blob))
		return "nowhere";
	if (blob.frame_complete > 0 && pc < blob.code + (uint32_t)blob.frame_complete)
		return "prologue";
	return arch_compiled_prologue(target_mem(s->target), pc, blob.code, 0) == ARCH_BODY
		       ? "body"
		       : "epilogue";
}

/* A label for the stack: by its leaf and other contents. */
static void kind_of_stack(struct stat *s, const struct walk_regs *regs,
	const struct walk_frame *frames, const uint64_t *packed, uint32_t count, char *out)
{
	const struct walk_range *entries = &s->layout->interpreter_entries;
	const char *leaf = "", *more = "", *virtual = "";
	char text[512];
	bool java = false;

	switch (frames[0].type) {
	case WALK_INTERPRETED:
		more = regs->pc >= entries->low && regs->pc < entries->high ? "entry" : "body";
		break;
	case WALK_NATIVE:
		target_describe(s->target, frames[0].value, text, sizeof(text));
		text[strcspn(text, "+ ")] = '\0';
		more = text;
		break;
	case WALK_STUB:
	case WALK_BREAK: more = frame_name(s, packed[0]); break;
	default: more = compiled_part(s, regs->pc); break;
	}
	for (uint32_t i = 0; i < count; i++) {
		java |= is_java(&frames[i]);
		if (strstr(frame_name(s, packed[i]), "vm/Continuation.run("))
			virtual = "-virtual";
	}
	leaf = kinds[frames[0].type];
	snprintf(out, 64, "%s-%.32s%s%s", leaf, more, virtual, java ? "" : "-nojava");
	for (char *c = out; *c; c++)
		if (*c == ' ')
			*c = '_';
}

static bool kind_is_new(struct stat *s, const char *kind)
{
	for (int i = 0; i < KINDS; i++) {
		if (!strcmp(s->kinds[i], kind))
			return false;
		if (!s->kinds[i][0]) {
			strcpy(s->kinds[i], kind);
			return true;
		}
	}
	return false;
}

/* Names already known are not read again, so a new table reads them all. */
static void names_note(struct stat *s, const struct walk_frame *frames, uint32_t count)
{
	static _Alignas(64) char memory[1 << 20];
	static uint64_t packed[DEPTH];

	memset(memory, 0, sizeof(memory));
	names_resolve(names_init(memory, sizeof(memory)), s->layout, recorder_mem(s->recorder),
		NULL, frames, count, packed, NULL);
}

/* Whether an image of this stack is kept. */
static bool is_wanted(struct stat *s, const char *kind, uint64_t leaf, uint32_t count)
{
	if (s->keep_named)
		return strstr(frame_name(s, leaf), s->keep_named) && s->kept_named++ < IMAGE_NAMED;
	return count <= (strstr(kind, "-virtual") ? IMAGE_VIRTUAL : IMAGE_MAX) &&
	       kind_is_new(s, kind);
}

/* Of a broken stack more memory is kept, since a corrected walk will read more. */
static void image_keep(struct stat *s, const struct walk_regs *regs,
	const struct walk_thread *thread, const struct walk_frame *frames, const uint64_t *packed,
	uint32_t count, bool broken)
{
	char kind[64], text[512];

	kind_of_stack(s, regs, frames, packed, count, kind);
	if (broken) {
		snprintf(text, sizeof(text), "broken-%.48s-%d", kind, s->show_broken);
		recorder_note(s->recorder, regs->sp - 64, WIDE);
		recorder_note(s->recorder, regs->pc - 64, 128);
	} else if (!is_wanted(s, kind, packed[0], count)) {
		return;
	} else {
		snprintf(text, sizeof(text), "%s", kind);
	}
	names_note(s, frames, count);
	image_stack_write(s->images, s->recorder, text, regs, thread, frames, count);
	for (uint32_t i = 0; i < count; i++) {
		if (frames[i].type == WALK_NATIVE) {
			target_describe(s->target, frames[i].value, text, sizeof(text));
			fprintf(s->images, "# %s\n", text);
			snprintf(text, sizeof(text), "%lx", frames[i].value);
		} else {
			snprintf(text, sizeof(text), "%s", frame_name(s, packed[i]));
		}
		image_frame_write(s->images, frames[i].type, frames[i].bci, text);
	}
	fflush(s->images);
}

/* --- sampling ---------------------------------------------------------------------------------------- */

static void thread_add(void *ctx, uint64_t java_thread, int32_t tid)
{
	struct stat *s = ctx;

	if (s->thread_count < THREADS) {
		s->threads[s->thread_count].tid = tid;
		s->threads[s->thread_count++].java = java_thread;
	}
}

static uint64_t java_thread_of(const struct stat *s, pid_t tid)
{
	for (int i = 0; i < s->thread_count; i++)
		if (s->threads[i].tid == tid)
			return s->threads[i].java;
	return 0;
}

/* The module of the leaf; NULL if it is not a native frame, or there are too many modules. */
static struct leaf *leaf_of(struct stat *s, const struct walk_frame *f)
{
	char text[512];

	if (f->type != WALK_NATIVE)
		return NULL;
	target_describe(s->target, f->value, text, sizeof(text));
	text[strcspn(text, "+")] = 0;
	for (int i = 0; i < LEAVES; i++) {
		if (!s->leaves[i].name[0])
			snprintf(s->leaves[i].name, sizeof(s->leaves[i].name), "%.63s", text);
		if (!strncmp(s->leaves[i].name, text, sizeof(s->leaves[i].name) - 1))
			return &s->leaves[i];
	}
	return NULL;
}

static void leaf_count(struct leaf *leaf, bool java, bool broken)
{
	if (!leaf)
		return;
	leaf->samples++;
	leaf->java += java;
	leaf->broken += broken;
}

static bool any_java(const struct walk_frame *frames, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (is_java(&frames[i]))
			return true;
	return false;
}

/* --- the second walk --------------------------------------------------------------------------------- */

static void again_init(struct stat *s)
{
	s->again.walk.table = calloc(1, sizeof(struct frame_cache));
	s->again.tails = calloc(THREADS, sizeof(*s->again.tails));
	if (s->rows)
		s->rows->generation = 1;
}

/* Walks with caches, as the agent does. True if that finds other frames than a walk without them. */
static bool again_differs(struct stat *s, pid_t tid, const struct walk_regs *regs,
	struct walk_thread thread, const uint64_t *first, uint32_t first_count)
{
	static struct walk_frame frames[DEPTH];
	static uint64_t packed[DEPTH];
	const struct walk_mem *mem = target_mem(s->target);
	struct walk_result r;

	s->again.walk.epoch = (uint32_t)time(NULL) / 4;
	thread.cache = &s->again.walk;
	thread.tail = tail_acquire(&s->again.tails[tid % THREADS], (uint32_t)tid);
	r = walk_stack(s->layout, mem, regs, &thread, frames, DEPTH);
	names_resolve(s->names, s->layout, mem, &s->again.walk, frames, r.count, packed, NULL);
	frame_cache_insert(&s->again.walk, frames, packed, r.count);
	if (thread.tail)
		tail_release(thread.tail, packed, r.count);
	s->again.followed += r.followed;
	for (uint32_t i = 0; i < r.count; i++)
		s->again.frames += frames[i].type == WALK_PACKED;
	return r.count != first_count || memcmp(packed, first, r.count * sizeof(*packed)) != 0;
}

static void sample(struct stat *s, pid_t tid)
{
	static struct walk_frame frames[DEPTH];
	static uint64_t packed[DEPTH];
	struct walk_regs regs;
	struct walk_thread thread = {.java_thread = java_thread_of(s, tid), .rows = s->rows};
	uint32_t unnamed = 0;

	if (!target_stop(s->target, tid, &regs))
		return;
	if (thread.java_thread &&
		walk_thread_tid(s->layout, target_mem(s->target), thread.java_thread) != tid)
		thread.java_thread = 0;
	if (s->chain_only)
		thread.java_thread = 0;
	target_stack(s->target, regs.sp, &thread.stack_lo, &thread.stack_hi);

	const struct walk_mem *mem = target_mem(s->target);

	if (s->images)
		mem = recorder_begin(s->recorder, mem);

	struct walk_result r = walk_stack(s->layout, mem, &regs, &thread, frames, DEPTH);
	int odd = suspicious_frame(s, frames, r.count);

	names_resolve(s->names, s->layout, mem, NULL, frames, r.count, packed, &unnamed);
	names_drain(s);
	bool differs = s->again.walk.table && again_differs(s, tid, &regs, thread, packed, r.count);

	names_drain(s);
	s->again.differ += differs;
	if (s->images && (!r.why || s->show_broken > 0))
		image_keep(s, &regs, &thread, frames, packed, r.count, r.why != WALK_BREAK_NONE);
	if (s->show_dump && s->show_broken > 0 && (r.why || odd >= 0))
		dump(s, &regs);
	target_resume(s->target, tid);
	if (s->collapsed)
		collapsed_print(s, frames, packed, r.count);
	s->samples++;
	s->frames += r.count;
	s->deepest = r.count > s->deepest ? r.count : s->deepest;
	s->truncated += r.truncated;
	s->why[r.why]++;
	s->suspicious += odd >= 0;
	s->unnamed += unnamed != 0;
	s->java_samples += any_java(frames, r.count);
	leaf_count(leaf_of(s, &frames[0]), any_java(frames, r.count), r.why != WALK_BREAK_NONE);
	if (s->show_all || differs || ((r.why || odd >= 0 || unnamed) && s->show_broken-- > 0)) {
		printf("tid %d java 0x%lx pc 0x%lx sp 0x%lx fp 0x%lx %s%s%s\n", tid,
			thread.java_thread, regs.pc, regs.sp, regs.fp, walk_break_name(r.why),
			odd >= 0 ? " ODD CALLER" : "", differs ? " DIFFERS" : "");
		for (uint32_t i = 0; i < r.count; i++) {
			if ((int)i == odd)
				printf("  odd:\n");
			frame_print(s, &frames[i], packed[i]);
		}
		fflush(stdout);
	}
}

static void report(const struct stat *s)
{
	uint64_t broken = 0;

	for (int i = 1; i < WALK_BREAK_COUNT; i++)
		broken += s->why[i];
	printf("samples %lu java %lu mean %.1f max %lu truncated %lu broken %lu (%.2f %%) odd %lu "
	       "unnamed %lu",
		s->samples, s->java_samples,
		s->samples ? (double)s->frames / (double)s->samples : 0., s->deepest, s->truncated,
		broken, s->samples ? 100. * (double)broken / (double)s->samples : 0., s->suspicious,
		s->unnamed);
	for (int i = 1; i < WALK_BREAK_COUNT; i++)
		if (s->why[i])
			printf(" %s %lu", walk_break_name((enum walk_break)i), s->why[i]);
	putchar('\n');
	if (s->again.walk.table)
		printf("again: differ %lu, of %lu frames %lu remembered, by tails %lu\n",
			s->again.differ, s->frames, s->again.frames, s->again.followed);
}

static void samples_take(struct stat *s, uint64_t want, bool all)
{
	for (uint64_t round = 0; s->samples < want; round++) {
		struct timespec pause = {0, 200000 + (long)(random() % 800000)};
		pid_t tids[THREADS];
		int n = target_threads(s->target, tids, THREADS);

		if (!n)
			break;
		if (round % 64 == 0) {
			target_forget(s->target);
			s->thread_count = 0;
			walk_threads_each(s->layout, target_mem(s->target), thread_add, s);
		}
		for (int i = 0; i < n && s->samples < want; i++)
			if (all || target_running(s->target, tids[i]))
				sample(s, tids[i]);
		nanosleep(&pause, NULL);
	}
}

int main(int argc, char **argv)
{
	static struct stat s;
	uint64_t want = 2000;
	bool all = false, rows = false, leaves = false, again = false;
	int opt;
	char note[256];

	while ((opt = getopt(argc, argv, "n:ab:dpucmto:i:k:")) != -1) {
		switch (opt) {
		case 'n': want = strtoul(optarg, NULL, 0); break;
		case 'a': all = true; break;
		case 'b': s.show_broken = atoi(optarg); break;
		case 'd': s.show_dump = true; break;
		case 'o': s.collapsed = fopen(optarg, "we"); break;
		case 'i': s.images = fopen(optarg, "we"); break;
		case 'k': s.keep_named = optarg; break;
		case 'p': s.show_all = true; break;
		case 'u': rows = true; break;
		case 'c': s.chain_only = true; break;
		case 'm': leaves = true; break;
		case 't': again = true; break;
		default: return 2;
		}
	}
	if (optind >= argc || !(s.target = target_open(atoi(argv[optind])))) {
		fprintf(stderr, "walkstat: give the pid of a HotSpot JVM\n");
		return 2;
	}
	if (rows)
		s.rows = process_table(atoi(argv[optind]));
	s.layout = malloc(sizeof(*s.layout));
	s.names = names_init(calloc(1, 1 << 20), 1 << 20);
	if (target_layout(s.target, s.layout, note, sizeof(note))) {
		fprintf(stderr, "walkstat: %s\n", note);
		return 1;
	}
	if (again)
		again_init(&s);
	s.recorder = recorder_new();
	if (s.images)
		image_layout_write(s.images, s.layout);
	samples_take(&s, want, all);
	if (s.collapsed)
		fclose(s.collapsed);
	if (s.images)
		fclose(s.images);
	report(&s);
	for (int i = 0; leaves && i < LEAVES && s.leaves[i].name[0]; i++)
		printf("  %-24s %6lu samples, %6lu reach Java, %6lu broken\n", s.leaves[i].name,
			s.leaves[i].samples, s.leaves[i].java, s.leaves[i].broken);
	target_close(s.target);
	return s.again.differ != 0;
}
