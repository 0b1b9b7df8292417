/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind rows against their source: for thousands of addresses of real libraries, a step by packed rows over random
 * registers and memory must give the same result as libdw's description of that address, evaluated here operation by
 * operation.
 */
#include "symbols/cfi.h"
#include "symbols/elf.h"
#include "symbols/mapped.h"
#include "tests/symbols/debug_frame.h"
#include "tests/tap.h"
#include "tests/walk/self_table.h"
#include "walk/load/arch.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#define SAMPLES 20000
#define SP      0x7ffc12340000ull
#define FP      0x7ffc12340800ull
#define LINK    0x0000555566667777ull

#if defined(__x86_64__)
enum { REG_SP = 7, REG_FP = 6, REG_RA = 16 };
#else
enum { REG_SP = 31, REG_FP = 29, REG_RA = 30 };
#endif

/* --- made-up memory: every address holds a word of its own, a plausible stack address --------------- */

static uint64_t word_at(uint64_t addr)
{
	return 0x7ffc00000000ull + (addr * 0x9e3779b97f4a7c15ull >> 34 << 3);
}

static bool load(const struct walk_mem *mem, uint64_t addr, void *out, size_t bytes)
{
	uint64_t v = word_at(addr);

	(void)mem;
	memcpy(out, &v, bytes);
	return bytes == sizeof v;
}

static const struct walk_mem made_up = {.load = load, .ctx = NULL};

/* --- the oracle: DWARF operations, by the book ------------------------------------------------------- */

struct oracle {
	uint64_t cfa, fp, ra;
	bool root, signal, known;
};

static uint64_t reg_value(uint64_t number, uint64_t pc, bool *known)
{
	if (number == REG_SP)
		return SP;
	if (number == REG_FP)
		return FP;
	if (number == REG_RA)
		return REG_RA == 16 ? pc : LINK;
	*known = false; /* no walk has it */
	return 0;
}

struct machine {
	uint64_t stack[16];
	unsigned depth;
	bool value; /* the result is a value, not a location */
	bool known;
};

static uint64_t pop(struct machine *m)
{
	if (m->depth)
		return m->stack[--m->depth];
	m->known = false;
	return 0;
}

static void push(struct machine *m, uint64_t v)
{
	if (m->depth < 16)
		m->stack[m->depth++] = v;
	else
		m->known = false;
}

static void evaluate_binary(struct machine *m, unsigned atom)
{
	uint64_t b = pop(m), a = pop(m);

	switch (atom) {
	case DW_OP_and: push(m, a & b); break;
	case DW_OP_plus: push(m, a + b); break;
	case DW_OP_shl: push(m, a << b); break;
	case DW_OP_ge: push(m, (int64_t)a >= (int64_t)b); break;
	default: m->known = false;
	}
}

static void evaluate_op(struct machine *m, const Dwarf_Op *op, uint64_t pc, uint64_t cfa)
{
	unsigned a = op->atom;

	if (a >= DW_OP_lit0 && a <= DW_OP_lit31)
		push(m, a - DW_OP_lit0);
	else if (a >= DW_OP_breg0 && a <= DW_OP_breg31)
		push(m, reg_value(a - DW_OP_breg0, pc, &m->known) + op->number);
	else if (a == DW_OP_bregx)
		push(m, reg_value(op->number, pc, &m->known) + op->number2);
	else if (a == DW_OP_const1u || a == DW_OP_const2u || a == DW_OP_const4u ||
		 a == DW_OP_const8u)
		push(m, op->number);
	else if (a == DW_OP_call_frame_cfa)
		push(m, cfa);
	else if (a == DW_OP_plus_uconst)
		push(m, pop(m) + op->number);
	else if (a == DW_OP_deref)
		push(m, word_at(pop(m)));
	else if (a == DW_OP_stack_value)
		m->value = true;
	else
		evaluate_binary(m, a);
}

static uint64_t evaluate(
	const Dwarf_Op *ops, size_t count, uint64_t pc, uint64_t cfa, bool location, bool *known)
{
	struct machine m = {.known = true};
	uint64_t v;

	for (size_t i = 0; i < count; i++)
		evaluate_op(&m, &ops[i], pc, cfa);
	v = pop(&m);
	if (!m.known)
		*known = false;
	return location && !m.value ? word_at(v) : v;
}

static struct oracle ask(Dwarf_CFI *cfi, uint64_t address, uint64_t pc)
{
	struct oracle o = {.known = true, .fp = FP, .ra = LINK};
	Dwarf_Op mem[3], *ops;
	size_t count;
	Dwarf_Frame *frame;

	if (dwarf_cfi_addrframe(cfi, address, &frame)) {
		o.known = false;
		return o;
	}
	dwarf_frame_info(frame, NULL, NULL, &o.signal);
	if (!dwarf_frame_cfa(frame, &ops, &count) && count)
		o.cfa = evaluate(ops, count, pc, 0, false, &o.known);
	else
		o.known = false;
	if (!dwarf_frame_register(frame, REG_FP, mem, &ops, &count) && count)
		o.fp = evaluate(ops, count, pc, o.cfa, true, &o.known);
	if (dwarf_frame_register(frame, REG_RA, mem, &ops, &count))
		o.known = false;
	else if (count)
		o.ra = evaluate(ops, count, pc, o.cfa, true, &o.known);
	else
		o.root = ops == mem;
	free(frame);
	return o;
}

/* --- one file ----------------------------------------------------------------------------------------- */

struct file {
	const char *path;
	Elf *elf;
	Dwarf_CFI *cfi;
	GElf_Phdr text;
};

static bool file_open(struct file *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t count = 0;

	*f = (struct file){.path = path};
	elf_version(EV_CURRENT);
	f->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	f->cfi = f->elf ? dwarf_getcfi_elf(f->elf) : NULL;
	if (!f->cfi || elf_getphdrnum(f->elf, &count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(f->elf, (int)i, &f->text) && f->text.p_type == PT_LOAD &&
			(f->text.p_flags & PF_X))
			return true;
	return false;
}

struct tally {
	unsigned same, differ, no_rule, far, unknown, roots, signals;
};

static void compare_at(
	const struct file *f, const struct unwind_table *t, uint64_t offset, struct tally *n)
{
	uint64_t pc = t->modules[0].start + offset - t->modules[0].file_offset;
	struct oracle o = ask(f->cfi, offset - f->text.p_offset + f->text.p_vaddr, pc);
	struct walk_regs r = {.pc = pc, .sp = SP, .fp = FP, .link = LINK};
	enum unwind_result got = unwind_step(t, &made_up, &r, true);
	bool same;

	if (o.signal || o.root) {
		same = got == (o.signal ? UNWIND_OK_EXACT : UNWIND_ROOT);
		n->signals += o.signal;
		n->roots += o.root;
	} else if (
		!o.known) { /* libdw knows nothing, or a register that no walk has: padding may have a row */
		n->unknown++;
		return;
	} else if (got == UNWIND_NO_RULE && ARCH_HAS_LINK && o.cfa - SP > INT16_MAX) {
		/* aarch64 saves registers at the frame's other end, here further from the CFA than a rule can say. */
		n->far++;
		return;
	} else if (got == UNWIND_NO_RULE) {
		n->no_rule++;
		return;
	} else {
		same = (got == UNWIND_OK && r.sp == o.cfa && r.pc == o.ra && r.fp == o.fp) ||
		       (got == UNWIND_STUCK && o.cfa <= SP);
	}
	if (!same && !n->differ)
		diag("at offset %#" PRIx64 ": result %d sp %#" PRIx64 " pc %#" PRIx64
		     " fp %#" PRIx64 ", libdw sp %#" PRIx64 " pc %#" PRIx64 " fp %#" PRIx64,
			offset, (int)got, r.sp, r.pc, r.fp, o.cfa, o.ra, o.fp);
	n->same += same;
	n->differ += !same;
}

static bool rows_are_sorted(const struct cfi_row *rows, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (rows[i].offset <= rows[i - 1].offset)
			return false;
	return count > 0 && rows[count - 1].rule.cfa == CFI_CFA_NONE;
}

static void test_file(const char *path)
{
	struct file f;
	struct cfi *c = self_compile(path);
	struct tally n = {0};
	size_t count;
	const struct cfi_row *rows = cfi_rows(c, &count);
	struct unwind_table *t = calloc(1, sizeof *t + sizeof t->modules[0]);
	uint64_t random = 88172645463325252ull;

	ok(rows_are_sorted(rows, count), "%s: %zu rows are sorted, and the last one ends the code",
		path, count);
	if (!ok(file_open(&f, path), "%s: libdw opens the file", path))
		return;
	t->count = 1;
	t->modules[0] = (struct unwind_module){0x7f0000001000 + f.text.p_offset,
		0x7f0000001000 + f.text.p_offset + f.text.p_filesz, f.text.p_offset,
		self_pack(rows, count)};
	for (int i = 0; i < SAMPLES; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		compare_at(&f, t, f.text.p_offset + random % f.text.p_filesz, &n);
	}
	diag("same %u, no rule %u, frames of more than 32 KB %u, unknown to libdw %u, roots %u, "
	     "signals %u",
		n.same, n.no_rule, n.far, n.unknown, n.roots, n.signals);
	is_int(n.differ, 0, "every step matches libdw's");
	/* The data that linkers put into the text segment's pages and padding are the unknown ones. */
	ok(n.same > SAMPLES / 2, "more than half of the text's addresses are known");
	ok(n.no_rule * 200 <= n.same, "rules that rows cannot express are rare");
	dwarf_cfi_end(f.cfi);
	elf_end(f.elf);
	cfi_close(c);
	free((void *)(uintptr_t)t->modules[0].rows);
	free(t);
}

/* --- special rows ------------------------------------------------------------------------------------- */

static uint64_t file_offset_of(const void *address)
{
	char line[4096];
	unsigned long start, end, offset;
	uint64_t found = 0;
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
			(uintptr_t)address >= start && (uintptr_t)address < end)
			found = (uintptr_t)address - start + offset;
	if (f)
		fclose(f);
	return found;
}

static const struct cfi_row *row_at(const struct cfi *c, uint64_t offset)
{
	size_t count;
	const struct cfi_row *rows = cfi_rows(c, &count), *found = NULL;

	for (size_t i = 0; i < count && rows[i].offset <= offset; i++)
		found = &rows[i];
	return found;
}

static void test_debug_frame(void)
{
	struct cfi *c = self_compile("/proc/self/exe");
	const struct cfi_row *row = row_at(c, file_offset_of(debug_frame_middle));

	debug_frame_function(); /* it is code that runs */
	ok(row && row->rule.cfa == CFI_CFA_SP,
		"a function described only by .debug_frame has a row");
	is_int(row ? row->rule.cfa_offset : 0, DEBUG_FRAME_CFA,
		"a row from .debug_frame has the right CFA");
	row = row_at(c, file_offset_of((const void *)(uintptr_t)test_debug_frame));
	ok(row && row->rule.cfa != CFI_CFA_NONE, "functions in .eh_frame have rows, too");
	cfi_close(c);
}

/* builddir: where the tests were built; "." when run by hand there. */
static void test_split(void)
{
	const char *top = getenv("builddir") ? getenv("builddir") : ".";
	char path[4096];
	struct err e = {0};
	int fd, debug_fd;
	struct elf_child *child;
	struct elf_facts facts;
	struct cfi *c;
	size_t count = 0, large = 0;
	const struct cfi_row *rows = NULL;

	snprintf(path, sizeof path, "%s/tests/symbols/split.so", top);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ok(fd >= 0 && !cfi_open(fd, -1, &e),
		"a library without call frame information is refused: %s", e.what);
	child = elf_child_new();
	debug_fd = elf_child_facts(child, fd, NULL, &facts, NULL)
			   ? -1
			   : debug_file_open(child, 0, path, &facts, NULL);
	elf_child_free(child);
	ok(debug_fd >= 0, "the library's debug file is found");
	c = cfi_open(fd, debug_fd, &e);
	if (c && !cfi_compile(c, NULL, &e))
		rows = cfi_rows(c, &count);
	for (size_t i = 0; i < count; i++)
		large += rows[i].rule.cfa == CFI_CFA_SP && rows[i].rule.cfa_offset > 500;
	ok(large > 0, "the debug file yields rows, also for a large frame (%zu rows)", count);
	cfi_close(c);
	close(debug_fd);
	close(fd);
}

static unsigned count_rules(const struct cfi *c, enum cfi_cfa cfa)
{
	size_t count;
	const struct cfi_row *rows = cfi_rows(c, &count);
	unsigned n = 0;

	for (size_t i = 0; i < count; i++)
		n += rows[i].rule.cfa == cfa;
	return n;
}

static void test_libc(const char *libc)
{
	struct cfi *c;

	if (!self_libc_has_cfi(self_table())) {
		tap_skip(libc, NO_LIBC_CFI);
		return;
	}
	test_file(libc);
	c = self_compile(libc);
	ok(count_rules(c, CFI_CFA_ROOT) > 0, "libc's thread start is a root");
#if defined(__x86_64__)
	is_int(count_rules(c, CFI_CFA_SIGNAL), 1, "libc has one signal trampoline");
	ok(count_rules(c, CFI_CFA_PLT) > 0, "libc's lazy PLT has a rule");
#endif
	cfi_close(c);
}

static void test_vdso(void)
{
	struct cfi *c = self_compile_vdso();

	ok(!c || count_rules(c, CFI_CFA_SP) > 0, "the vDSO has rows");
	cfi_close(c);
}

/* --- files that are not what they should be ---------------------------------------------------------- */

static void test_not_elf(void)
{
	struct err e = {0};
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char junk[4096];

	ok(!cfi_open(fd, -1, &e), "a file that is not ELF is refused: %s", e.what);
	close(fd);
	memset(junk, 0xa5, sizeof junk);
	memcpy(junk, "\177ELF\2\1\1", 7);
	ok(!cfi_open_image(junk, sizeof junk, &e), "junk after an ELF magic is refused: %s",
		e.what);
}

/*
 * Addresses that stand in memory, not in the file (DW_EH_PE_indirect): rows by the pointers' own addresses would be
 * of other code.
 */
static void test_indirect(void)
{
	static const unsigned char pcrel[] = {'z', 'R', 0, 1, 0x78, 16, 1, 0x1b};
	const char *srcdir = getenv("srcdir");
	unsigned char image[8192], *found;
	char path[4096];
	struct err e = {0};
	struct cfi *c;
	size_t bytes;
	FILE *f;

	snprintf(path, sizeof path, "%s/tests/fuzz/corpus/cfi/eh_frame", srcdir ? srcdir : ".");
	f = fopen(path, "re");
	bytes = f ? fread(image, 1, sizeof image, f) : 0;
	if (f)
		fclose(f);
	c = bytes ? cfi_open_image(image, bytes, &e) : NULL;
	ok(c != NULL, "a small library is opened: %s", e.what);
	cfi_close(c);
	found = memmem(image, bytes, pcrel, sizeof pcrel);
	if (!ok(found != NULL, "the library's addresses are relative"))
		return;
	found[sizeof pcrel - 1] |= DW_EH_PE_indirect;
	c = cfi_open_image(image, bytes, &e);
	ok(!c, "indirect addresses yield no rows: %s", e.what);
	cfi_close(c);
}

static uint64_t random_next(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 20;
}

#define FLIPS 8

/* Eight wrong bytes anywhere in a real file: what comes out is in order and passes the check, or is refused. */
static void test_damaged(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t bytes = (size_t)lseek(fd, 0, SEEK_END), at[FLIPS];
	unsigned char *image = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	uint64_t random = 1;
	unsigned compiled = 0, refused = 0, wrong = 0;

	for (unsigned round = 0; round < 400; round++) {
		/* Half of the rounds damage the headers, which every reader must survive most. */
		size_t range = round % 2 ? bytes : round % 4 ? 0x400 : 0x1000;
		size_t start = round % 4 ? 0 : bytes - range;
		struct err e = {0};
		struct cfi *c;

		for (int i = 0; i < FLIPS; i++) {
			at[i] = start * (round % 2 == 0) + random_next(&random) % range;
			image[at[i]] ^= (unsigned char)(1 + round % 255);
		}
		c = cfi_open_image(image, bytes, &e);
		if (c && !cfi_compile(c, NULL, &e)) {
			size_t count;
			const struct cfi_row *rows = cfi_rows(c, &count);

			compiled++;
			wrong += count && !rows_are_sorted(rows, count);
			if (count)
				free(self_pack(rows, count));
		} else {
			refused++;
		}
		cfi_close(c);
		for (int i = FLIPS - 1; i >= 0; i--)
			image[at[i]] ^= (unsigned char)(1 + round % 255);
	}
	ok(!wrong && compiled > 50 && refused > 10,
		"damaged files: %u compiled with sorted rows, %u refused", compiled, refused);
	munmap(image, bytes);
	close(fd);
}

static const char *library_of(const void *symbol)
{
	Dl_info info;

	return dladdr(symbol, &info) ? info.dli_fname : NULL;
}

int main(int argc, char **argv)
{
	const char *libc = library_of((const void *)(uintptr_t)getppid);
	const char *libz = library_of((const void *)(uintptr_t)deflateInit_);
	const char *java = getenv("JAVA");
	char *home = java ? realpath(java, NULL) : NULL, libjvm[4096];

	if (elf_child_main(argc, argv, NULL))
		return 0;
	test_libc(libc);
	test_file(libz);
	test_file("/proc/self/exe");
	if (home) {
		*strrchr(home, '/') = 0;
		snprintf(libjvm, sizeof libjvm, "%s/../lib/server/libjvm.so", home);
		if (!access(libjvm, R_OK))
			test_file(libjvm);
		else
			diag("no libjvm beside %s: not compared", home);
	}
	test_debug_frame();
	test_split();
	test_vdso();
	test_not_elf();
	test_indirect();
	test_damaged(libz);
	free(home);
	return tap_done();
}
