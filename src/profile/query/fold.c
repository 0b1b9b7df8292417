/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collapsed views: each frame gets a kind from its method, its type and the frames above it, and
 * each stack is interned in the view from the root down. Results are cached per sampled stack.
 * "Fold" is the code's word for collapse.
 */
#include "profile/query/query.h"

#include "base/java_name.h"
#include "profile/model/fit.h"

#include <stdio.h>

enum fold_kind {
	KIND_SHOWN,
	KIND_FRAMEWORK, /* a run of one of these three is one frame, also where it has samples itself */
	KIND_NATIVE,
	KIND_KERNEL,
	KIND_RUN, /* inside of a native run: the run is one frame; frames with own samples are shown */
	KIND_ENTRY,     /* a thread's entry: omitted; frames with own samples are shown */
	KIND_JVM_WAITS, /* a wait of a JVM-internal thread: one row for all of them */
	KINDS
};

static const struct {
	const char *name;
	enum frame_type type;
} kinds[KINDS] = {
	[KIND_SHOWN] = {"", FRAME_NATIVE},
	[KIND_FRAMEWORK] = {"[framework frames]", FRAME_JAVA},
	[KIND_NATIVE] = {"[native frames]", FRAME_NATIVE},
	[KIND_KERNEL] = {"[kernel frames]", FRAME_KERNEL},
	[KIND_RUN] = {"[native frames]", FRAME_NATIVE},
	[KIND_ENTRY] = {"", FRAME_NATIVE},
	[KIND_JVM_WAITS] = {"[the JVM's own threads] wait", FRAME_WAITS},
};

struct fold {
	const struct profile *p;
	uint64_t stamp; /* hash of the settings below */
	bool lines, io;
	unsigned hide; /* enum filter_hide */
	char *frameworks;
	uint32_t serial;
	uint64_t made; /* frames processed so far */
	struct model_stacks view;

	uint8_t *kinds;       /* per sampled stack: its kind and STACK_... bits, 0: not known yet */
	uint8_t *methods;     /* per method: METHOD_... bits, 0: not known yet */
	uint32_t *shown;      /* per sampled stack: the stack shown; KIND_RUN: that above the run */
	uint16_t *runs;       /* per sampled stack that is hidden: frames of its run so far */
	uint16_t *shown_runs; /* per stack of the view: frames of the longest run it replaces */
	uint32_t *lined;      /* per frame: the frame with its line, + 1 */
	uint32_t *way;        /* scratch: stacks on the way to the root */
	uint32_t kinds_cap, methods_cap, shown_cap, runs_cap, shown_runs_cap, lined_cap, way_cap;
};

/* Bits of a stack beside its kind. */
#define STACK_KIND        0x07
#define STACK_BEGIN       0x08 /* thread's frames begin after it: FRAME_CONTEXT, is_compiled() */
#define STACK_KNOWN       0x10
#define STACK_JAVA        0x20 /* it has a Java frame */
#define STACK_SYSTEM      0x40 /* its leaf is native code of the system or the JVM ... */
#define STACK_OS          0x80 /* ... of the system */

#define METHOD_KNOWN      1
#define METHOD_FRAMEWORK  2
#define METHOD_SYSTEM     4
#define METHOD_ENTRY      8
#define METHOD_OS         16
#define METHOD_COMPILING  32 /* "[compiling]", then the method being compiled, then the compiler */
#define METHOD_REFERENCES 64 /* where the Reference Handler waits for work */

/* --- methods ----------------------------------------------------------------------------------------- */

/* Libraries below every program, whose inner frames are collapsed. Any other library may be the program's own. */
static const char *const jvm_modules[] = {"libjvm.", "libjava.", "libjli.", "libnio.", "libnet.",
	"libzip.", "libjimage.", "libverify.", "libextnet.", "libmanagement", "libinstrument.",
	"libjhot.", NULL};
static const char *const os_modules[] = {"libc.", "libc-", "libpthread", "libm.", "libm-", "libdl",
	"librt", "ld-", "libstdc++", "libgcc_s", "libz.", "[", NULL};

/* Frames before a thread's first Java frame, outermost first; also functions without a name ("0x92620"). */
static const char *const entry_names[] = {"0x", "_start", "__libc_start", "clone", "__clone",
	"thread_start", "start_thread", "JLI_Launch", "JVMInit", "ContinueInNewThread",
	"CallJavaMainInNewThread", "ThreadJavaMain", "JavaMain", "java_start",
	"thread_native_entry", "Thread::call_run", "JavaThread::run",
	"JavaThread::thread_main_inner", "thread_entry", "jni_Call", "jni_invoke_",
	"JavaCalls::call", "os::os_exception_wrapper", "call_stub", NULL};

static bool in_framework(const struct fold *f, const char *class_name)
{
	const char *at = f->frameworks;

	while (*(at += strspn(at, " \t\n"))) {
		size_t len = strcspn(at, " \t\n");

		if (!strncmp(class_name, at, len))
			return true;
		at += len;
	}
	return false;
}

static uint8_t method_bits(struct fold *f, uint32_t method)
{
	const struct profile_method *m = &f->p->methods->list[method].pub;
	uint8_t bits = METHOD_KNOWN;

	f->methods = fit_zeroed(f->methods, &f->methods_cap, method + 1, 1);
	if (f->methods[method])
		return f->methods[method];
	if (*m->class_name && in_framework(f, m->class_name))
		bits |= METHOD_FRAMEWORK;
	if (!*m->class_name && name_begins_with_any(m->module, os_modules))
		bits |= METHOD_OS | METHOD_SYSTEM;
	/* Stubs have no module; "java" is the launcher. */
	if (!*m->class_name && (!*m->module || !strcmp(m->module, "java") ||
				       name_begins_with_any(m->module, jvm_modules)))
		bits |= METHOD_SYSTEM;
	/* "main" without a module is not the launcher's: it is the root in a profile of another kind of program. */
	if (bits & METHOD_SYSTEM && (name_begins_with_any(m->name, entry_names) ||
					    (*m->module && !strcmp(m->name, "main"))))
		bits |= METHOD_ENTRY;
	if (!*m->class_name && !strcmp(m->name, "[compiling]"))
		bits |= METHOD_COMPILING;
	if (!strcmp(m->class_name, "java.lang.ref.Reference") &&
		!strcmp(m->name, "waitForReferencePendingList"))
		bits |= METHOD_REFERENCES;
	return f->methods[method] = bits;
}

/* --- stacks ------------------------------------------------------------------------------------------ */

static uint8_t stack_bits(const struct fold *f, uint32_t stack)
{
	return stack == PROFILE_ROOT_STACK ? KIND_ENTRY : f->kinds[stack];
}

static enum fold_kind kind_of_native(struct fold *f, uint32_t stack, uint8_t bits)
{
	uint8_t above = stack_bits(f, model_parent(&f->p->stacks, stack));

	if (f->hide & FILTER_ENTRY && bits & METHOD_ENTRY &&
		((above & STACK_KIND) == KIND_ENTRY || above & STACK_BEGIN))
		return KIND_ENTRY;
	if (f->hide & FILTER_NATIVE)
		return KIND_NATIVE;
	/*
	 * The first frame of a run stays, as it names the call. libjvm's frames without Java above
	 * are the work of a JVM thread.
	 */
	if (f->hide & FILTER_RUNS && bits & METHOD_SYSTEM && above & STACK_SYSTEM &&
		(above & STACK_JAVA || (bits & METHOD_OS && above & STACK_OS)))
		return KIND_RUN;
	return KIND_SHOWN;
}

/* True for a wait of the Reference Handler, the JVM-internal thread that waits in Java: for the collector. */
static bool waits_for_references(struct fold *f, uint32_t stack)
{
	const struct model_stacks *s = &f->p->stacks;

	do
		stack = model_parent(s, stack);
	while (stack != PROFILE_ROOT_STACK && !frame_is_java(model_type(s, stack)));
	return stack != PROFILE_ROOT_STACK &&
	       method_bits(f, model_method(s, stack)) & METHOD_REFERENCES;
}

/*
 * For a leaf of type FRAME_WAITS: true for a JVM-internal thread, with no Java frame and no library
 * of the program on its stack.
 */
static bool waits_in_jvm(struct fold *f, uint32_t stack)
{
	const struct model_stacks *s = &f->p->stacks;
	bool jvm = false;

	if (stack_bits(f, model_parent(s, stack)) & STACK_JAVA)
		return waits_for_references(f, stack);
	while ((stack = model_parent(s, stack)) != PROFILE_ROOT_STACK) {
		uint8_t bits = method_bits(f, model_method(s, stack));

		if (!(bits & METHOD_SYSTEM))
			return false;
		jvm |= !(bits & METHOD_OS);
	}
	return jvm;
}

static enum fold_kind kind_of(struct fold *f, uint32_t stack, uint8_t bits)
{
	switch (model_type(&f->p->stacks, stack)) {
	case FRAME_KERNEL:
		return f->hide & FILTER_KERNEL ? KIND_KERNEL : kind_of_native(f, stack, bits);
	case FRAME_NATIVE:
	case FRAME_VM: return kind_of_native(f, stack, bits);
	case FRAME_CLASS_OUTSIDE:
	case FRAME_CLASS:
	case FRAME_WAITS:
		return f->hide & FILTER_ENTRY && waits_in_jvm(f, stack) ? KIND_JVM_WAITS
									: KIND_SHOWN;
	case FRAME_CONTEXT:
	case FRAME_BREAK: return KIND_SHOWN;
	default:
		return f->hide & FILTER_FRAMEWORK && bits & METHOD_FRAMEWORK ? KIND_FRAMEWORK
									     : KIND_SHOWN;
	}
}

/* True for "[compiling]" at the root and for the method being compiled after it, which does not run here. */
static bool is_compiled(struct fold *f, uint32_t stack, uint8_t bits)
{
	const struct model_stacks *s = &f->p->stacks;
	uint32_t above = model_parent(s, stack);

	if (above != PROFILE_ROOT_STACK) {
		stack = above;
		bits = method_bits(f, model_method(s, stack));
	}
	return bits & METHOD_COMPILING && model_parent(s, stack) == PROFILE_ROOT_STACK;
}

static enum fold_kind fold_kind(struct fold *f, uint32_t stack)
{
	uint8_t bits = method_bits(f, model_method(&f->p->stacks, stack));
	uint8_t above = stack_bits(f, model_parent(&f->p->stacks, stack));
	enum fold_kind kind = kind_of(f, stack, bits);

	f->kinds[stack] = (uint8_t)(kind | STACK_KNOWN | (above & STACK_JAVA));
	if (model_type(&f->p->stacks, stack) == FRAME_CONTEXT) {
		f->kinds[stack] |= STACK_BEGIN;
		return kind;
	}
	if (is_compiled(f, stack, bits))
		f->kinds[stack] |= STACK_BEGIN;
	else if (frame_is_java(model_type(&f->p->stacks, stack)))
		f->kinds[stack] |= STACK_JAVA;
	if (bits & METHOD_SYSTEM)
		f->kinds[stack] |= STACK_SYSTEM;
	if (bits & METHOD_OS)
		f->kinds[stack] |= STACK_OS;
	return kind;
}

static enum fold_kind fold_kind_at(const struct fold *f, uint32_t stack)
{
	return (enum fold_kind)(f->kinds[stack] & STACK_KIND);
}

/* --- views ------------------------------------------------------------------------------------------------ */

/* An exported id of a view: a tag bit, the low bits of the fold's serial number, and the id in the view. */
#define EXPORT_TAG    0x80000000u
#define EXPORT_SERIAL 28
#define EXPORT_ID     0x0fffffffu

static struct fold *fold_new(const struct profile *p, const struct filter *filter)
{
	struct fold *f = xcalloc(1, sizeof(*f));
	uint32_t stacks = p->stacks.trie.cap;

	f->p = p;
	f->lines = filter_lines(filter);
	f->io = filter_io(filter);
	/* The default folds assume stacks of a JVM. */
	f->hide = p->methods->jvm ? filter_hide(filter)
				  : filter_hide(filter) & ~(unsigned)FILTER_FOLDS;
	f->frameworks = xstrdup(filter_frameworks(filter));
	f->serial = ++p->scratch->fold_serial;
	model_stacks_init(&f->view, &p->stacks);
	f->shown = fit_zeroed(NULL, &f->shown_cap, stacks, sizeof(*f->shown));
	f->runs = fit_zeroed(NULL, &f->runs_cap, stacks, sizeof(*f->runs));
	f->shown_runs = fit_zeroed(NULL, &f->shown_runs_cap, stacks, sizeof(*f->shown_runs));
	return f;
}

void fold_free(struct fold *f)
{
	if (!f)
		return;
	model_stacks_done(&f->view);
	free(f->frameworks);
	free(f->kinds);
	free(f->methods);
	free(f->shown);
	free(f->runs);
	free(f->shown_runs);
	free(f->lined);
	free(f->way);
	free(f);
}

struct fold *fold_of(const struct profile *p, const struct profile_query *q)
{
	const struct filter *f = q->filter;
	struct scratch *s = p->scratch;

	if (!f || !filter_folds(f))
		return NULL;
	const char *text = filter_frameworks(f);
	uint64_t stamp = hash_pair(
		filter_hide(f) * 8 + p->methods->jvm * 4 + filter_lines(f) * 2 + filter_io(f),
		hash_bytes(text, strlen(text), 0));
	if (s->fold && s->fold->stamp == stamp)
		return s->fold;
	fold_free(s->fold);
	s->fold = fold_new(p, f);
	s->fold->stamp = stamp;
	return s->fold;
}

size_t fold_bytes(const struct fold *f)
{
	if (!f)
		return 0;
	return sizeof(*f) + model_stacks_bytes(&f->view) + (size_t)f->shown_cap * 4 +
	       ((size_t)f->runs_cap + f->shown_runs_cap) * 2 + (size_t)f->lined_cap * 4 +
	       (size_t)f->kinds_cap + f->methods_cap;
}

const struct model_stacks *fold_view(const struct profile *p, const struct fold *f)
{
	return f ? &f->view : &p->stacks;
}

uint64_t fold_made(const struct fold *f)
{
	return f->made;
}

uint32_t fold_serial(const struct fold *f)
{
	return f ? f->serial : 0;
}

uint32_t fold_export(const struct fold *f, uint32_t stack)
{
	if (!f || stack == PROFILE_ROOT_STACK)
		return stack;
	return stack > EXPORT_ID ? PROFILE_ROOT_STACK
				 : EXPORT_TAG | (f->serial & 7) << EXPORT_SERIAL | stack;
}

bool fold_import(const struct fold *f, uint32_t exported, uint32_t *stack)
{
	*stack = exported & EXPORT_ID;
	return exported & EXPORT_TAG && f &&
	       (exported & ~EXPORT_TAG) >> EXPORT_SERIAL == (f->serial & 7) &&
	       *stack < f->view.trie.count;
}

struct profile_stack profile_get_stack(const struct profile *p, uint32_t stack)
{
	const struct fold *f = stack < p->stacks.trie.count ? NULL : p->scratch->fold;
	const struct model_stacks *view = fold_view(p, f);

	/* An id of a former view reads as the empty stack, so walks to the root end. */
	if (stack >= p->stacks.trie.count && !fold_import(f, stack, &stack))
		return (struct profile_stack){PROFILE_ROOT_STACK, PROFILE_NONE, 0};
	return (struct profile_stack){fold_export(f, model_parent(view, stack)),
		model_frame(view, stack), view->extent[stack].depth};
}

uint32_t filter_collapsed_frames(const struct profile *p, uint32_t stack)
{
	const struct fold *f = p->scratch->fold;

	return fold_import(f, stack, &stack) && stack < f->shown_runs_cap ? f->shown_runs[stack]
									  : 0;
}

/* --- collapsing -------------------------------------------------------------------------------------- */

/* The frame with ":line" appended to its method's name, interned. */
static uint32_t line_frame(struct fold *f, uint32_t frame)
{
	const struct profile_frame fr = f->p->frames->list[frame];
	char name[512];

	if (!f->lines || fr.line <= 0)
		return frame;
	f->lined = fit_zeroed(f->lined, &f->lined_cap, frame + 1, sizeof(*f->lined));
	if (!f->lined[frame]) {
		struct profile_method m = f->p->methods->list[fr.method].pub;
		snprintf(name, sizeof(name), "%.490s:%d", m.name, fr.line);
		uint32_t method = profile_method(f->p, m.class_name, name, m.signature, m.module);
		f->lined[frame] =
			1 + profile_frame(f->p, method, (enum frame_type)fr.type, 0xffff, fr.line);
	}
	return f->lined[frame] - 1;
}

static uint32_t kind_frame(struct fold *f, enum fold_kind kind)
{
	uint32_t method = profile_method(f->p, "", kinds[kind].name, "", "");

	return profile_frame(f->p, method, kinds[kind].type, 0xffff, 0);
}

static uint32_t fold_child(struct fold *f, uint32_t parent, uint32_t frame)
{
	uint32_t child = model_stacks_child(&f->view, f->p, parent, frame);

	f->shown_runs =
		fit_zeroed(f->shown_runs, &f->shown_runs_cap, child + 1, sizeof(*f->shown_runs));
	return child;
}

static uint32_t fold_run(struct fold *f, enum fold_kind kind, uint32_t parent, uint16_t run)
{
	uint32_t shown = fold_child(f, parent, kind_frame(f, kind));

	if (f->shown_runs[shown] < run)
		f->shown_runs[shown] = run;
	return shown;
}

static uint32_t fold_frame(struct fold *f, uint32_t stack, uint32_t parent)
{
	uint32_t apart[2];

	if (f->io && model_io_apart(f->p, model_frame(&f->p->stacks, stack), apart))
		return fold_child(f, fold_child(f, parent, apart[0]), apart[1]);
	return fold_child(f, parent, line_frame(f, model_frame(&f->p->stacks, stack)));
}

/* The parent, in the view, of a stack's children. Ends a KIND_RUN; a run of one frame is shown as that frame. */
static uint32_t shown_parent(struct fold *f, uint32_t stack)
{
	if (stack == PROFILE_ROOT_STACK || fold_kind_at(f, stack) != KIND_RUN)
		return f->shown[stack];
	if (f->runs[stack] == 1)
		return fold_frame(f, stack, f->shown[stack]);
	return fold_run(f, KIND_RUN, f->shown[stack], f->runs[stack]);
}

/* Extends a run by one frame, or begins it. */
static uint32_t show_hidden(struct fold *f, enum fold_kind kind, uint32_t stack)
{
	uint32_t above = model_parent(&f->p->stacks, stack);
	bool more = above != PROFILE_ROOT_STACK && fold_kind_at(f, above) == kind;
	uint32_t parent = more ? f->shown[above] : shown_parent(f, above);

	f->runs[stack] = more ? (uint16_t)(f->runs[above] + (f->runs[above] < UINT16_MAX)) : 1;
	if (kind == KIND_RUN || kind == KIND_ENTRY)
		return parent;
	if (!more)
		return fold_run(f, kind, parent, 1);
	if (f->shown_runs[parent] < f->runs[stack])
		f->shown_runs[parent] = f->runs[stack];
	return parent;
}

static void show_one(struct fold *f, uint32_t stack)
{
	enum fold_kind kind = fold_kind(f, stack);

	f->made++;
	if (kind == KIND_JVM_WAITS)
		f->shown[stack] = fold_child(f, PROFILE_ROOT_STACK, kind_frame(f, kind));
	else if (kind == KIND_SHOWN)
		f->shown[stack] =
			fold_frame(f, stack, shown_parent(f, model_parent(&f->p->stacks, stack)));
	else
		f->shown[stack] = show_hidden(f, kind, stack);
}

uint32_t fold_stack(struct fold *f, uint32_t stack)
{
	const struct model_stacks *sampled = f ? &f->p->stacks : NULL;
	uint32_t n = 0;

	if (!f || stack == PROFILE_ROOT_STACK)
		return stack;
	f->shown = fit_zeroed(f->shown, &f->shown_cap, stack + 1, sizeof(*f->shown));
	f->runs = fit_zeroed(f->runs, &f->runs_cap, stack + 1, sizeof(*f->runs));
	f->kinds = fit_zeroed(f->kinds, &f->kinds_cap, stack + 1, 1);
	for (uint32_t at = stack; at != PROFILE_ROOT_STACK && !(f->kinds[at] & STACK_KNOWN);
		at = model_parent(sampled, at)) {
		f->way = fit(f->way, &f->way_cap, n + 1, sizeof(*f->way));
		f->way[n++] = at;
	}
	while (n-- > 0)
		show_one(f, f->way[n]);
	enum fold_kind kind = fold_kind_at(f, stack);
	/* The leaf of a sample is never hidden. */
	if (kind == KIND_RUN || kind == KIND_ENTRY)
		return fold_frame(f, stack, shown_parent(f, model_parent(sampled, stack)));
	return f->shown[stack];
}

bool fold_is_run(const struct fold *f, uint32_t method)
{
	return f && f->hide & FILTER_RUNS &&
	       !strcmp(profile_get_method(f->p, method)->full, kinds[KIND_RUN].name);
}
