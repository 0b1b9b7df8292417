/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a thread-local variable in a mapped ELF file, as the loader sees it: in memory, by the dynamic section.
 *
 * The loader stores, for each relocation of a thread-local variable, where it is:
 *
 *   TPOFF64   a word: its offset from the thread pointer (initial exec)
 *   DTPMOD64  two words: the index of its module, and the offset within it (general dynamic); or one word for all variables
 *             of the module, whose offsets are their symbols' values (local dynamic)
 *   TLSDESC   two words: a function, and its argument. The argument is the offset from the thread pointer, or the address of the
 *             module's index and the offset within the module
 *   none      in an executable, the offset is known to the linker (local exec)
 *
 * See "ELF Handling For Thread-Local Storage". The layout of the vector of blocks is that of glibc (sysdeps/generic/dl-dtv.h) or
 * musl (src/env/__init_tls.c).
 */
#include "session/context/context.h"

#include <elf.h>
#include <string.h>

#define SYMBOL      "otel_thread_ctx_v1"
#define HEADERS_MAX 64u
#define DYNAMIC_MAX 256u
#define CHAIN_MAX   1024u
#define RELOCS_MAX  (1u << 20)
#define RELOCS_READ 170u
#define MODULES_MAX 4096u
#define OFFSET_MAX  (1 << 30)
#define LOW_ADDRESS 65536 /* the kernel maps nothing below */

#if defined(__x86_64__)
enum { RELOC_TLSDESC = R_X86_64_TLSDESC, RELOC_MODULE = R_X86_64_DTPMOD64 };
enum { RELOC_OFFSET = R_X86_64_TPOFF64, MACHINE = EM_X86_64, BELOW = 1 };
enum { VECTOR_GLIBC = 8, VECTOR_MUSL = 8 };
#else
enum { RELOC_TLSDESC = R_AARCH64_TLSDESC, RELOC_MODULE = R_AARCH64_TLS_DTPMOD };
enum { RELOC_OFFSET = R_AARCH64_TLS_TPREL, MACHINE = EM_AARCH64, BELOW = 0 };
enum { VECTOR_GLIBC = 0, VECTOR_MUSL = -8 };
#endif
#define TCB_BYTES 16 /* aarch64: from the thread pointer to the executable's block */

struct elf {
	const struct context_mem *mem;
	uint64_t bias;
	Elf64_Phdr dynamic, tls;
	/* Addresses from the dynamic section; 0: none. */
	uint64_t symbols, strings, strings_bytes, gnu_hash, hash;
	uint64_t relocs[2], relocs_bytes[2];
	bool program; /* an executable, not a library */
};

static bool elf_read(const struct elf *e, uint64_t addr, void *out, size_t bytes)
{
	return e->mem->read(e->mem->ctx, addr, out, bytes);
}

/* glibc stores addresses in the dynamic section, musl leaves the file's. */
static uint64_t elf_address(const struct elf *e, uint64_t value)
{
	return value < e->bias ? value + e->bias : value;
}

/* Reads the headers of the file, and its bias. False: it is not such a file, or has no thread-local variables. */
static bool elf_headers(struct elf *e, uint64_t base)
{
	Elf64_Phdr headers[HEADERS_MAX];
	Elf64_Ehdr h;
	bool first = false;

	if (!elf_read(e, base, &h, sizeof(h)) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
		h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_machine != MACHINE ||
		h.e_phentsize != sizeof(*headers) || h.e_phnum > HEADERS_MAX ||
		!elf_read(e, base + h.e_phoff, headers, h.e_phnum * sizeof(*headers)))
		return false;
	e->program = h.e_type == ET_EXEC;
	for (unsigned i = 0; i < h.e_phnum; i++) {
		if (headers[i].p_type == PT_LOAD && !headers[i].p_offset) {
			e->bias = base - headers[i].p_vaddr;
			first = true;
		}
		if (headers[i].p_type == PT_DYNAMIC)
			e->dynamic = headers[i];
		if (headers[i].p_type == PT_TLS)
			e->tls = headers[i];
	}
	return first && e->dynamic.p_memsz && e->tls.p_memsz;
}

/* Reads the addresses of symbols and relocations. */
static bool elf_dynamic(struct elf *e)
{
	Elf64_Dyn d[DYNAMIC_MAX];
	uint64_t count = e->dynamic.p_memsz / sizeof(*d);
	struct {
		Elf64_Sxword tag;
		uint64_t *to;
		bool is_address;
	} rows[] = {{DT_SYMTAB, &e->symbols, true}, {DT_STRTAB, &e->strings, true},
		{DT_STRSZ, &e->strings_bytes, false}, {DT_GNU_HASH, &e->gnu_hash, true},
		{DT_HASH, &e->hash, true}, {DT_RELA, &e->relocs[0], true},
		{DT_RELASZ, &e->relocs_bytes[0], false}, {DT_JMPREL, &e->relocs[1], true},
		{DT_PLTRELSZ, &e->relocs_bytes[1], false}};

	count = count < DYNAMIC_MAX ? count : DYNAMIC_MAX;
	if (!elf_read(e, e->bias + e->dynamic.p_vaddr, d, count * sizeof(*d)))
		return false;
	for (uint64_t i = 0; i < count && d[i].d_tag != DT_NULL; i++) {
		e->program |= d[i].d_tag == DT_FLAGS_1 && d[i].d_un.d_val & DF_1_PIE;
		for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++)
			if (rows[r].tag == d[i].d_tag)
				*rows[r].to = rows[r].is_address ? elf_address(e, d[i].d_un.d_ptr)
								 : d[i].d_un.d_val;
	}
	return e->symbols && e->strings;
}

/* --- the symbol --------------------------------------------------------------------------------------- */

/* True if this entry of the symbol table defines the variable. */
static bool symbol_is(const struct elf *e, uint32_t index, Elf64_Sym *out)
{
	char name[sizeof(SYMBOL)];

	return elf_read(e, e->symbols + index * sizeof(*out), out, sizeof(*out)) &&
	       ELF64_ST_TYPE(out->st_info) == STT_TLS && out->st_shndx != SHN_UNDEF &&
	       out->st_name < e->strings_bytes &&
	       elf_read(e, e->strings + out->st_name, name, sizeof(name)) &&
	       !memcmp(name, SYMBOL, sizeof(name));
}

/* The index of the variable's symbol by DT_GNU_HASH; 0: none. */
static uint32_t symbol_find_gnu(const struct elf *e, Elf64_Sym *out)
{
	uint32_t head[4], index, chain, hash = 5381;
	uint64_t buckets, chains;

	for (const char *c = SYMBOL; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	/* buckets, first symbol, words of the bloom filter, shift */
	if (!elf_read(e, e->gnu_hash, head, sizeof(head)) || !head[0])
		return 0;
	buckets = e->gnu_hash + sizeof(head) + head[2] * 8ull;
	chains = buckets + head[0] * 4ull;
	if (!elf_read(e, buckets + hash % head[0] * 4ull, &index, 4) || index < head[1])
		return 0;
	for (uint32_t i = 0; i < CHAIN_MAX; i++, index++) {
		if (!elf_read(e, chains + (index - head[1]) * 4ull, &chain, 4))
			return 0;
		if ((chain | 1) == (hash | 1) && symbol_is(e, index, out))
			return index;
		if (chain & 1)
			return 0;
	}
	return 0;
}

/* The same by DT_HASH. */
static uint32_t symbol_find_sysv(const struct elf *e, Elf64_Sym *out)
{
	uint32_t head[2], index, hash = 0;

	for (const char *c = SYMBOL; *c; c++) {
		hash = (hash << 4) + (unsigned char)*c;
		hash ^= hash >> 24 & 0xf0;
		hash &= 0x0fffffff;
	}
	if (!elf_read(e, e->hash, head, sizeof(head)) || !head[0] ||
		!elf_read(e, e->hash + 8 + hash % head[0] * 4ull, &index, 4))
		return 0;
	for (uint32_t i = 0; i < CHAIN_MAX && index; i++) {
		if (symbol_is(e, index, out))
			return index;
		if (!elf_read(e, e->hash + 8 + (head[0] + index) * 4ull, &index, 4))
			return 0;
	}
	return 0;
}

/* --- its place ---------------------------------------------------------------------------------------- */

struct found {
	bool any;
	Elf64_Rela reloc;
};

/* Prefers a relocation of the symbol to one of its module (symbol 0), and the first one of each. */
static void reloc_consider(struct found *found, const Elf64_Rela *r, uint32_t symbol)
{
	uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info), of = (uint32_t)ELF64_R_SYM(r->r_info);
	bool module = type == RELOC_TLSDESC || type == RELOC_MODULE;

	if ((of == symbol && (module || type == RELOC_OFFSET) &&
		    !(found->any && ELF64_R_SYM(found->reloc.r_info))) ||
		(!of && module && !found->any))
		*found = (struct found){true, *r};
}

static void relocs_search(const struct elf *e, uint32_t symbol, struct found *found)
{
	Elf64_Rela relocs[RELOCS_READ];

	for (int table = 0; table < 2; table++) {
		uint64_t left = e->relocs_bytes[table] / sizeof(*relocs), at = e->relocs[table], n;

		left = at && left < RELOCS_MAX ? left : 0;
		for (; left; left -= n, at += n * sizeof(*relocs)) {
			n = left < RELOCS_READ ? left : RELOCS_READ;
			if (!elf_read(e, at, relocs, n * sizeof(*relocs)))
				break;
			for (uint64_t i = 0; i < n; i++)
				reloc_consider(found, &relocs[i], symbol);
		}
	}
}

/* The argument of a TLS descriptor, of a variable `delta` bytes after the one that the relocation refers to. */
static enum context_found place_of_descriptor(
	const struct elf *e, uint64_t argument, int64_t delta, struct wire_context_place *out)
{
	int64_t offset = (int64_t)argument;
	uint64_t index[2];

	if (BELOW ? offset < 0 && offset > -OFFSET_MAX : offset > 0 && offset < LOW_ADDRESS) {
		out->offset = offset + delta;
		return CONTEXT_FOUND;
	}
	/* Before the loader has resolved it, the argument is something else. */
	if (!elf_read(e, argument, index, sizeof(index)) || !index[0] || index[0] > MODULES_MAX ||
		index[1] >= OFFSET_MAX)
		return CONTEXT_LATER;
	out->module = index[0];
	out->offset = (int64_t)index[1] + delta;
	return CONTEXT_FOUND;
}

/* Reads what the loader has stored for a relocation. value: of the symbol. */
static enum context_found place_of_reloc(
	const struct elf *e, const Elf64_Rela *r, uint64_t value, struct wire_context_place *out)
{
	int64_t delta = -r->r_addend + (ELF64_R_SYM(r->r_info) ? 0 : (int64_t)value);
	uint64_t words[2];

	if (!elf_read(e, e->bias + r->r_offset, words, sizeof(words)))
		return CONTEXT_NONE;
	switch (ELF64_R_TYPE(r->r_info)) {
	case RELOC_TLSDESC: return place_of_descriptor(e, words[1], delta, out);
	case RELOC_OFFSET:
		out->offset = (int64_t)words[0];
		return words[0] ? CONTEXT_FOUND : CONTEXT_LATER;
	default:
		out->module = words[0];
		out->offset = (int64_t)(ELF64_R_SYM(r->r_info) ? words[1] : value);
		return words[0] && words[0] <= MODULES_MAX ? CONTEXT_FOUND : CONTEXT_LATER;
	}
}

/* In the executable's own block, which is next to the thread pointer. */
static int64_t place_in_program(const struct elf *e, uint64_t value)
{
	uint64_t align = e->tls.p_align ? e->tls.p_align : 1;

	if (BELOW)
		return (int64_t)value - (int64_t)((e->tls.p_memsz + align - 1) / align * align);
	return (int64_t)value + (int64_t)((TCB_BYTES + align - 1) / align * align);
}

enum context_found context_place_find(
	const struct context_mem *mem, uint64_t base, bool musl, struct wire_context_place *out)
{
	struct elf e = {.mem = mem};
	struct found found = {0};
	Elf64_Sym symbol;
	uint32_t index;

	*out = (struct wire_context_place){.vector_at = musl ? VECTOR_MUSL : VECTOR_GLIBC,
		.count_at = musl ? 0 : -16,
		.entry_bytes = musl ? 8 : 16,
		.used = 1};
	if (!elf_headers(&e, base) || !elf_dynamic(&e))
		return CONTEXT_NONE;
	index = e.gnu_hash ? symbol_find_gnu(&e, &symbol) : symbol_find_sysv(&e, &symbol);
	if (!index)
		return CONTEXT_NONE;
	relocs_search(&e, index, &found);
	if (found.any)
		return place_of_reloc(&e, &found.reloc, symbol.st_value, out);
	if (!e.program)
		return CONTEXT_NONE;
	out->offset = place_in_program(&e, symbol.st_value);
	return CONTEXT_FOUND;
}
