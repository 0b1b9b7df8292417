/* SPDX-License-Identifier: Apache-2.0 */
/* symbols: demangling, the sorted table, kernel and perf-map texts, hostile ELF files. */
#include "symbols/child/child.h"
#include "symbols/demangle.h"
#include "symbols/loader.h"
#include "symbols/symbols.h"
#include "symbols/symtab.h"
#include "tests/tap.h"

#include <elf.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* 40 times a pair of the one before: 35 terabytes */
#define EXPLODES                                                                           \
	"_Z1f1AIiiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_IS5_S5_ES_IS6_S6_E" \
	"S_IS7_S7_ES_IS8_S8_ES_IS9_S9_ES_ISA_SA_ES_ISB_SB_ES_ISC_SC_ES_ISD_SD_ES_ISE_SE_E" \
	"S_ISF_SF_ES_ISG_SG_ES_ISH_SH_ES_ISI_SI_ES_ISJ_SJ_ES_ISK_SK_ES_ISL_SL_ES_ISM_SM_E" \
	"S_ISN_SN_ES_ISO_SO_ES_ISP_SP_ES_ISQ_SQ_ES_ISR_SR_ES_ISS_SS_ES_IST_ST_ES_ISU_SU_E" \
	"S_ISV_SV_ES_ISW_SW_ES_ISX_SX_ES_ISY_SY_ES_ISZ_SZ_ES_IS10_S10_ES_IS11_S11_ES_IS12" \
	"_S12_ES_IS13_S13_E"

static void test_demangle(void)
{
	static const char *const cases[][2] = {
		{"main", "main"},
		{"_ZN10PhaseChaitin13Register_AllocEv", NULL},
		{"_ZNK7Matcher4findEPK4Nodei", "Matcher::find"},
		{"_ZN4shop4CartIlE3addEli", "shop::Cart<long>::add"},
		{"_ZN12_GLOBAL__N_16helperEPKc", "(anonymous namespace)::helper"},
		{"_Z3maxIiET_S0_S0_", "max<int>"}, /* "int max<int>(int, int)" */
		{EXPLODES, EXPLODES},
		{"_ZN3FooclEv", "Foo::operator()"},
		{"_ZN3FoolsEi", "Foo::operator<<"},
		{"_ZN3FoocvmEv", "Foo::operator unsigned long"},
		{"_ZN3FooptEv", "Foo::operator->"},
		{"_ZZN3Foo3barEiENKUlvE_clEv", "Foo::bar(int)::{lambda()#1}::operator()"},
		{"_ZZNK3Foo3barEiENKUlvE_clEv", "Foo::bar(int) const::{lambda()#1}::operator()"},
		{"_ZN3Foo3barEPFviE", "Foo::bar"}, /* a function pointer among the parameters */
		{"_ZN9G1Barrier5applyEv.isra.0", "G1Barrier::apply"},
		{"_ZN9G1Barrier5applyEv.part.3.cold", "G1Barrier::apply"},
		{"parse.constprop.0", "parse"},
		{"memcpy@@GLIBC_2.14", "memcpy"},
		{"puts@plt", "puts@plt"},
		{"_ZN3FooptEv@plt", "Foo::operator->@plt"},
		{"_Z", "_Z"},
		{"_Znonsense", "_Znonsense"},
		{"", ""},
		{".cold", ".cold"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *name = demangle_name(cases[i][0]);

		if (cases[i][1])
			is_str(name, cases[i][1], cases[i][0]);
		free(name);
	}
}

static const char *const rust_names[][2] = {
	/* legacy */
	{"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
	{"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
	 "3bar17h930b740aa94f1d3aE",
		"<Test + 'static as foo::Bar<Test>>::bar"},
	{"_ZN4test17h0123456789abcdefE.llvm.1234", "test"},
	{"_ZN4test17h0123456789abcdefE@plt", "test@plt"},
	{"_ZN4core3fmt5write17h0123456789abcdegE", "core::fmt::write::h0123456789abcdeg"},
	{"_ZN99999999999999999999994core17h0123456789abcdefE",
		"_ZN99999999999999999999994core17h0123456789abcdefE"},
	/* v0 */
	{"_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example"},
	{"_RNvNtCsbDqzXfLQacH_4core3fmt5write", "core::fmt::write"},
	{"_RMC0INtC8arrayvec8ArrayVechKj7b_E", "<arrayvec::ArrayVec<u8, 123>>"},
	{"_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}"},
	{"_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8iterator8"
	 "Iterator9rpositionNCNgNpB9_6memchr7memrchrs_0E0Bb_",
		"<core::slice::Iter<u8> as core::iter::iterator::Iterator>::rposition::<"
		"core::slice::memchr::memrchr::{closure#1}>::{closure#0}"},
	{"_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_"
	 "ECs1iopQbuBiw2_3std",
		"alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>"},
	{"_RMCs4fqI2P2rA04_13const_genericINtB0_6SignedKanb_E", "<const_generic::Signed<-11>>"},
	{"_RMCs4fqI2P2rA04_13const_genericINtB0_4BoolKb0_E", "<const_generic::Bool<false>>"},
	{"_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKc76_E", "<const_generic::Char<'v'>>"},
	{"_RINvC1a1bFG_RL0_hEuE", "a::b::<for<'a> fn(&'a u8)>"},
	{"_RINvC1a1bTRhQaPtOxAyj4_SjEE",
		"a::b::<(&u8, &mut i8, *const u16, *mut i64, [u64; 4], [usize])>"},
	{"_RNvC1a", "_RNvC1a"},
	{"_RNvB_1a", "_RNvB_1a"},
	{"_RNvC9999999999999999999999a", "_RNvC9999999999999999999999a"},
	{"_R", "_R"},
	{"_RNvC1a1bzzz", "_RNvC1a1bzzz"},
};

static void test_rust(void)
{
	static const char digits[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char deep[2100] = "_R", *name;

	for (size_t i = 0; i < sizeof(rust_names) / sizeof(rust_names[0]); i++) {
		name = demangle_name(rust_names[i][0]);
		is_str(name, rust_names[i][1], rust_names[i][0]);
		free(name);
	}
	for (int i = 0; i < 2000; i++)
		strcat(deep, "M");
	name = demangle_name(deep);
	is_str(name, deep, "a name nested 2,000 times is not demangled");
	free(name);
	/* Each tuple is four times the one before: 4^30. */
	strcpy(deep, "_RINvC1a1bTuuuuE");
	for (size_t i = 0, before = 8; i < 30; i++) {
		size_t at = strlen(deep);
		char back[4] = {'B', digits[(before - 1) / 62], digits[(before - 1) % 62], '_'};

		before = at - 2;
		snprintf(
			deep + at, sizeof(deep) - at, "T%.4s%.4s%.4s%.4sE", back, back, back, back);
	}
	strcat(deep, "E");
	name = demangle_name(deep);
	is_str(name, deep, "a name of 4^30 parts is not demangled");
	free(name);
}

static const char *find(struct symtab *t, uint64_t at)
{
	const struct symtab_entry *e = symtab_find(t, at);

	return e ? symtab_name(t, e) : NULL;
}

static void test_symtab(void)
{
	struct symtab t = {0};

	symtab_finish(&t);
	is_str(find(&t, 5), NULL, "an empty table finds nothing");
	symtab_add(&t, 0x200, 0x10, "second", SYMTAB_LOCAL);
	symtab_add(&t, 0x100, 0x20, "__alias", SYMTAB_GLOBAL);
	symtab_add(&t, 0x100, 0x20, "first", SYMTAB_WEAK);
	symtab_add(&t, 0x108, 0, "", SYMTAB_BOUNDARY);
	symtab_add(&t, 0x150, 0, "", SYMTAB_BOUNDARY);
	symtab_add(&t, 0x300, 0, "open_ended", SYMTAB_GLOBAL);
	symtab_add(&t, 0x400, 0x100, "outer", SYMTAB_GLOBAL);
	symtab_add(&t, 0x410, 0x8, "inner", SYMTAB_GLOBAL);
	symtab_add(&t, UINT64_MAX - 4, 0x100, "last", SYMTAB_GLOBAL);
	symtab_finish(&t);
	is_str(find(&t, 0xff), NULL, "an address before the first function is not found");
	is_str(find(&t, 0x100), "first", "of aliases the plain name is used");
	is_str(find(&t, 0x110), "first", "a mark inside a named function does not split it");
	is_str(find(&t, 0x120), NULL, "an address after a function with a size is not found");
	is_str(find(&t, 0x160), "", "a mark is found without a name");
	is_str(find(&t, 0x20f), "second", "the last byte of a function is found");
	is_str(find(&t, 0x210), NULL, "the byte after a function is not found");
	is_str(find(&t, 0x3ff), "open_ended", "a function without a size extends to the next one");
	is_str(find(&t, 0x412), "inner", "a nested function is found");
	is_str(find(&t, 0x440), "outer", "after a nested function the outer one is found");
	is_str(find(&t, UINT64_MAX), "last", "a function at the end of the address space is found");
	symtab_done(&t);
}

static FILE *text_file(const char *text)
{
	return fmemopen((void *)(uintptr_t)text, strlen(text), "r");
}

static void test_kallsyms(void)
{
	FILE *f = text_file("ffffffff81000000 T _text\nffffffff81000000 T startup_64\n"
			    "ffffffff81000100 t copy_user_generic\nffffffff81000200 D some_data\n"
			    "nonsense\n\nffffffffc0000000 t ext4_read\t[ext4]\n");
	struct symtab t = {0};

	is_int(kallsyms_read(f, &t), KALLSYMS_OK, "kallsyms with addresses is read");
	is_str(find(&t, 0xffffffff81000010), "startup_64", "the name without underscores is used");
	is_str(find(&t, 0xffffffff81000150), "copy_user_generic", "a local function is found");
	is_str(find(&t, 0xffffffff81000210), "", "data has no name");
	is_str(find(&t, 0xffffffffc0000010), "ext4_read", "a module's function is found");
	fclose(f);
	symtab_done(&t);

	f = text_file("0000000000000000 T _text\n0000000000000000 t copy_user_generic\n");
	is_int(kallsyms_read(f, &t), KALLSYMS_HIDDEN,
		"kallsyms with hidden addresses is recognized");
	fclose(f);
	symtab_done(&t);
	f = text_file("not what was expected\n");
	is_int(kallsyms_read(f, &t), KALLSYMS_NONE, "another text is not taken for kallsyms");
	fclose(f);
	symtab_done(&t);
}

static void test_perfmap(void)
{
	FILE *f = text_file(
		"7f0010 20 LazyCompile:~foo bar.js:1\n7f0040 10 stub\r\nbroken\n7f0050 zz x\n"
		"7f0060 0 empty\n7f0070 8\n");
	struct symtab t = {0};

	perfmap_read(f, &t);
	is_int(t.count, 2, "malformed lines of a perf map are skipped");
	is_str(find(&t, 0x7f0020), "LazyCompile:~foo bar.js:1", "names with blanks are read");
	is_str(find(&t, 0x7f0041), "stub", "CRLF line ends are removed");
	is_str(find(&t, 0x7f0055), NULL, "an address outside all lines is not found");
	fclose(f);
	symtab_done(&t);
}

static void refuse_perfmap(const char *what)
{
	struct symbols *s = symbols_new(getpid(), getpid());
	struct symbol sym;

	symbols_raw(s, 0x7f0010, &sym);
	is_str(sym.name, "", what);
	ok(strstr(symbols_note(s), "perf map") != NULL, "the refused perf map is in the note");
	symbols_free(s);
}

static void test_perfmap_file(void)
{
	struct symbols *s = symbols_new(getpid(), getpid());
	struct symbol sym;
	char path[64], other[80];
	FILE *f;

	symbols_raw(s, 0x7f0010, &sym);
	is_str(sym.name, "", "anonymous code without a perf map has no name");
	is_str(sym.module, "[anon]", "anonymous code has the module [anon]");
	symbols_free(s);
	s = symbols_new(getpid(), getpid());
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "we");
	fputs("7f0000 100 js:hello world\n", f);
	fclose(f);
	symbols_raw(s, 0x7f0010, &sym);
	is_str(sym.name, "js:hello world", "a name is read from the process's perf map");
	is_int(sym.start, 0x7f0000, "the name has its start address");
	is_str(symbols_note(s), "", "a good perf map leaves no note");
	symbols_free(s);
	chmod(path, 0666);
	refuse_perfmap("a perf map that everybody may write is not read");
	chmod(path, 0644);
	if (!geteuid() && !chown(path, 54321, 54321))
		refuse_perfmap("a perf map of another user is not read");
	else
		tap_skip("a perf map of another user is not read", "needs root");
	snprintf(other, sizeof(other), "%s.other", path);
	if (!rename(path, other) && !chown(other, geteuid(), getegid()) && !symlink(other, path))
		refuse_perfmap("a perf map that is a symbolic link is not read");
	unlink(other);
	unlink(path);
}

static void test_vdso(void)
{
	struct symbols *s = symbols_new(getpid(), getpid());
	int m = symbols_module_add(s, &(struct proc_map){.path = "[vdso]"});
	uint64_t base = getauxval(AT_SYSINFO_EHDR);
	struct symbol sym;
	bool found = false;

	if (!base) {
		tap_skip("clock_gettime in the vDSO has its name", "this kernel maps no vDSO");
		symbols_free(s);
		return;
	}
	for (uint64_t offset = 0; offset < 8192 && !found; offset += 8) {
		symbols_native(s, m, offset, &sym);
		found = strstr(sym.name, "clock_gettime") != NULL;
	}
	ok(found, "clock_gettime in the vDSO has its name");
	is_str(sym.module, "[vdso]", "the module of clock_gettime in the vDSO is [vdso]");
	symbols_free(s);
}

struct answers {
	unsigned named, wrong;
};

/*
 * Looks up offsets all over a file. In a damaged file any name will do, but each answer has the
 * file's module and a name that ends.
 */
static void ask_all(const char *path, struct answers *sum)
{
	struct symbols *s = symbols_new(0, 0);
	int m = symbols_module_add(s, &(struct proc_map){.path = path});
	struct symbol sym;

	/* a sanitized program has its code at 0x45000 */
	for (uint64_t offset = 0; offset < 1 << 19; offset += 16) {
		symbols_native(s, m, offset, &sym);
		sum->named += sym.name && *sym.name;
		sum->wrong += !sym.name || strlen(sym.name) > (8 << 10) || !sym.module ||
			      strcmp(sym.module, strrchr(path, '/') + 1) != 0;
	}
	symbols_free(s);
}

static void test_hostile(void)
{
	static unsigned char good[16 << 20], bad[16 << 20];
	FILE *self = fopen("/proc/self/exe", "re");
	size_t bytes = fread(good, 1, sizeof(good), self);
	char path[64];
	unsigned seed = 20240601;
	int fd = memfd_create("hostile", 0);
	struct answers whole = {0, 0}, all = {0, 0};

	fclose(self);
	ask_all("/proc/self/exe", &whole);
	ok(whole.named && !whole.wrong, "this program has names: %u", whole.named);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (int round = 0; round < 150; round++) {
		size_t size = round % 5 ? bytes : (size_t)rand_r(&seed) % bytes;

		memcpy(bad, good, bytes);
		for (int i = 0; i <= round % 40; i++) {
			/* the header, the section headers at the end, or anywhere */
			size_t at = (size_t)rand_r(&seed) % (i % 4 == 0 ? 1024 : bytes);

			if (i % 4 == 1 && bytes > 4096)
				at = bytes - 1 - at % 4096;
			bad[at] = (unsigned char)(rand_r(&seed) % 3 ? rand_r(&seed) : 0xff);
		}
		if (ftruncate(fd, 0) || pwrite(fd, bad, size, 0) != (ssize_t)size)
			diag("the damaged copy could not be written");
		ask_all(path, &all);
	}
	is_int(all.wrong, 0,
		"150 damaged ELF files: every answer has the module and a bounded name");
	ok(all.named > 0, "undamaged parts still have their names: %u of %u", all.named,
		150 * whole.named);
	close(fd);
}

static void test_missing(void)
{
	struct symbols *s = symbols_new(0, 0);
	int m = symbols_module_add(s, &(struct proc_map){.path = "/nonexistent/libnone.so"});
	struct symbol sym;

	symbols_native(s, m, 0x1234, &sym);
	is_str(sym.module, "libnone.so", "a missing file has its module's name");
	is_str(sym.name, "", "a missing file has no function names");
	ok(strstr(symbols_note(s), "libnone.so cannot be read") != NULL,
		"the note says that the file cannot be read");
	symbols_native(s, 77, 0x1234, &sym);
	is_str(sym.module, "[anon]", "an unknown module is [anon]");
	symbols_free(s);
}

/* A process that has ended takes the way to its files along; that is no fault of the file. */
static void test_ended(void)
{
	struct symbols *s;
	struct symbol sym;
	pid_t pid = fork();
	int m;

	if (pid == 0)
		_exit(0);
	waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT); /* a zombie, so that its number stays */
	s = symbols_new(pid, pid);
	m = symbols_module_add(
		s, &(struct proc_map){.path = "/lib/libc.so.6", .start = 4096, .end = 8192});
	symbols_native(s, m, 0x1234, &sym);
	is_str(symbols_note(s), "the JVM ended before libc.so.6 could be read",
		"an ended process is reported as the reason");
	symbols_free(s);
	waitpid(pid, NULL, 0);
}

/* As much as a loader's thread may need, which is more than musl gives by itself. */
static void deep(struct load *l, struct elf_child *child, const atomic_bool *stop)
{
	volatile char used[512 << 10];

	(void)l;
	(void)child;
	(void)stop;
	for (size_t i = 0; i < sizeof(used); i += 1024)
		used[i] = 1;
}

static void test_loader_stack(void)
{
	struct loader *w = loader_new();
	struct load l = {.run = deep};

	loader_start(w, 0);
	for (int i = 0; i < 1000 && !loader_request(w, &l); i++)
		loader_wait(w, 10);
	ok(loader_request(w, &l), "a load may use half a megabyte of stack");
	ok(loader_free(w), "the loader ends");
}

int main(int argc, char **argv)
{
	if (elf_child_main(argc, argv, NULL))
		return 0;
	test_loader_stack();
	test_demangle();
	test_rust();
	test_symtab();
	test_kallsyms();
	test_perfmap();
	test_perfmap_file();
	test_vdso();
	test_missing();
	test_ended();
	test_hostile();
	return tap_done();
}
