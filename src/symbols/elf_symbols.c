/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbol tables. libelf validates offsets and strings; this file validates the meaning of values. Since each source of names
 * may be incomplete, all of them are merged.
 */
#include "symbols/elf.h"

#include "symbols/child/child.h"
#include "symbols/code/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

Elf_Scn *elf_section(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, header))
			continue;
		const char *text = elf_strptr(elf, names, header->sh_name);
		if (text && !strcmp(text, name))
			return scn;
	}
	return NULL;
}

static Elf_Scn *elf_section_of_type(Elf *elf, uint32_t type, GElf_Shdr *header)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, header) && header->sh_type == type)
			return scn;
	return NULL;
}

/* Assembler functions often have no type. Local labels and aarch64's mapping symbols are not functions. */
static bool elf_symbol_is_function(Elf *elf, const GElf_Sym *sym, const char *name)
{
	int type = GELF_ST_TYPE(sym->st_info);
	GElf_Shdr header;

	if (sym->st_shndx == SHN_UNDEF || !sym->st_value || !*name)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	if (type != STT_NOTYPE || *name == '$' || *name == '.' || sym->st_shndx >= SHN_LORESERVE)
		return false;
	Elf_Scn *scn = elf_getscn(elf, sym->st_shndx);
	return scn && gelf_getshdr(scn, &header) && (header.sh_flags & SHF_EXECINSTR);
}

/* Adds the functions of the first section of this type (SHT_SYMTAB, SHT_DYNSYM). Returns their number. */
static uint32_t elf_symbols_table(Elf *elf, uint32_t section_type, struct symtab *out)
{
	GElf_Shdr header;
	Elf_Scn *scn = elf_section_of_type(elf, section_type, &header);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	size_t count = data && header.sh_entsize ? data->d_size / header.sh_entsize : 0;
	uint32_t before = out->count;

	for (size_t i = 1; i < count && i < INT32_MAX && !symtab_is_full(out); i++) {
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym))
			break;
		int binding = GELF_ST_BIND(sym.st_info);
		const char *name = elf_strptr(elf, header.sh_link, sym.st_name);
		if (name && elf_symbol_is_function(elf, &sym, name))
			symtab_add(out, sym.st_value, sym.st_size, name,
				binding == STB_LOCAL  ? SYMTAB_LOCAL
				: binding == STB_WEAK ? SYMTAB_WEAK
						      : SYMTAB_GLOBAL);
	}
	return out->count - before;
}

/* --- call stubs -------------------------------------------------------------------------------------- */

struct elf_plt {
	uint64_t address; /* of the stub of the first relocation */
	uint64_t end;
	uint64_t stub_bytes;
};

/* With branch protection the called stubs are in .plt.sec; otherwise in .plt, after its header. */
static bool elf_plt_find(Elf *elf, struct elf_plt *out)
{
	GElf_Ehdr ehdr;
	GElf_Shdr sec;
	bool arm = gelf_getehdr(elf, &ehdr) && ehdr.e_machine == EM_AARCH64;

	out->stub_bytes = 16;
	if (elf_section(elf, ".plt.sec", &sec)) {
		out->address = sec.sh_addr;
		out->end = sec.sh_addr + sec.sh_size;
		return true;
	}
	if (!elf_section(elf, ".plt", &sec))
		return false;
	out->address = sec.sh_addr + (arm ? 32 : 16);
	out->end = sec.sh_addr + sec.sh_size;
	return true;
}

/* Adds PLT stubs as "name@plt". */
static void elf_symbols_plt(Elf *elf, struct symtab *out)
{
	GElf_Shdr rela, symbols;
	Elf_Scn *rela_scn = elf_section(elf, ".rela.plt", &rela);
	struct elf_plt plt;
	Elf_Scn *symbols_scn = rela_scn ? elf_getscn(elf, rela.sh_link) : NULL;

	if (!symbols_scn || !gelf_getshdr(symbols_scn, &symbols) || symbols.sh_type != SHT_DYNSYM ||
		!elf_plt_find(elf, &plt))
		return;
	Elf_Data *rela_data = elf_getdata(rela_scn, NULL);
	Elf_Data *symbols_data = elf_getdata(symbols_scn, NULL);
	for (int i = 0; rela_data && symbols_data && !symtab_is_full(out); i++) {
		uint64_t at = plt.address + (uint64_t)i * plt.stub_bytes;
		GElf_Rela r;
		GElf_Sym sym;
		char text[512];

		if (at >= plt.end || !gelf_getrela(rela_data, i, &r))
			return;
		if (!gelf_getsym(symbols_data, (int)GELF_R_SYM(r.r_info), &sym))
			continue;
		const char *name = elf_strptr(elf, symbols.sh_link, sym.st_name);
		if (name && *name && strnlen(name, sizeof(text)) < sizeof(text) - 8) {
			snprintf(text, sizeof(text), "%s@plt", name);
			symtab_add(out, at, plt.stub_bytes, text, SYMTAB_LOCAL);
		}
	}
}

static bool elf_is_no_return(const char *stub)
{
	static const char *const names[] = {"abort", "exit", "_exit", "_Exit", "__assert_fail",
		"__stack_chk_fail", "__cxa_throw", "__cxa_rethrow", "__cxa_bad_cast",
		"_Unwind_Resume", "_ZSt9terminatev", "longjmp", "siglongjmp", "pthread_exit"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t length = strlen(names[i]);

		if (!strncmp(stub, names[i], length) && !strcmp(stub + length, "@plt"))
			return true;
	}
	return false;
}

struct code *elf_symbols_code(Elf *elf, const atomic_bool *stop)
{
	struct symtab stubs = {.stop = stop};
	struct buf no_return = {0};

	elf_symbols_plt(elf, &stubs);
	for (uint32_t i = 0; i < stubs.count; i++)
		if (elf_is_no_return(stubs.texts.data + stubs.entries[i].text))
			buf_add(&no_return, &stubs.entries[i].start,
				sizeof(stubs.entries[i].start));
	struct code *code = code_open(elf, (const uint64_t *)(const void *)no_return.data,
		no_return.len / sizeof(uint64_t), stop);
	buf_done(&no_return);
	symtab_done(&stubs);
	return code;
}

/* --- where functions begin --------------------------------------------------------------------------- */

/*
 * .eh_frame_hdr (LSB): u8 version 1, eh_frame_ptr encoding, count encoding, table encoding; then, in the encodings that all
 * linkers write (0x1b, 0x03, 0x3b): s32 eh_frame_ptr, u32 count, {s32 start, s32 fde}[count], relative to the section.
 */
#define EH_FRAME_HDR_ENCODINGS 0x3b031b01u
#define EH_FRAME_HDR_BYTES     12

/* Adds the starts of functions in .eh_frame_hdr. Returns their number. */
static uint32_t boundaries_of_frames(Elf *elf, struct symtab *out)
{
	GElf_Shdr header;
	Elf_Scn *scn = elf_section(elf, ".eh_frame_hdr", &header);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	uint32_t words[3], count = 0;

	if (!data || !data->d_buf || data->d_size < EH_FRAME_HDR_BYTES)
		return 0;
	memcpy(words, data->d_buf, sizeof(words));
	if (words[0] != EH_FRAME_HDR_ENCODINGS)
		return 0;
	for (size_t i = 0; i < words[2] && EH_FRAME_HDR_BYTES + (i + 1) * 8 <= data->d_size &&
			   !symtab_is_full(out);
		i++) {
		int32_t start;

		memcpy(&start, (const char *)data->d_buf + EH_FRAME_HDR_BYTES + i * 8,
			sizeof(start));
		symtab_add(out, header.sh_addr + (uint64_t)(int64_t)start, 0, "", SYMTAB_BOUNDARY);
		count++;
	}
	return count;
}

/* Adds boundaries (SYMTAB_BOUNDARY): starts of functions from .eh_frame_hdr, ends of code. Returns the number of functions. */
static uint32_t elf_symbols_boundaries(Elf *elf, struct symtab *out)
{
	GElf_Phdr segment;
	size_t phdrs = 0;

	if (!elf_getphdrnum(elf, &phdrs))
		for (size_t i = 0; i < phdrs && gelf_getphdr(elf, (int)i, &segment); i++)
			if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X))
				symtab_add(out, segment.p_vaddr + segment.p_filesz, 0, "",
					SYMTAB_BOUNDARY);
	return boundaries_of_frames(elf, out);
}

uint32_t elf_symbols_segments(Elf *elf, struct elf_segment *out, uint32_t max)
{
	GElf_Phdr segment;
	size_t phdrs = 0;
	uint32_t count = 0;

	if (elf_getphdrnum(elf, &phdrs))
		return 0;
	for (size_t i = 0; i < phdrs && count < max && gelf_getphdr(elf, (int)i, &segment); i++)
		if (segment.p_type == PT_LOAD)
			out[count++] = (struct elf_segment){segment.p_offset, segment.p_filesz,
				segment.p_vaddr, segment.p_flags & PF_X};
	return count;
}

/* --- all names of a file ------------------------------------------------------------------------------- */

#define MINI_MAX     (4u << 20)  /* compressed bytes; libc's are 100 kB */
#define UNPACKED_MAX (64u << 20) /* uncompressed bytes; libc's are 400 kB */

/* .gnu_debugdata: an xz-compressed ELF file with a .symtab. Returns the number of functions that it names. */
static uint32_t read_mini(Elf *elf, struct symtab *out)
{
	GElf_Shdr header;
	Elf_Scn *scn = elf_section(elf, ".gnu_debugdata", &header);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	size_t size = 0;
	char *image = data && data->d_buf && data->d_size <= MINI_MAX
			      ? elf_file_unpack(data->d_buf, data->d_size, UNPACKED_MAX, &size)
			      : NULL;
	Elf *unpacked = image ? elf_memory(image, size) : NULL;
	uint32_t found = 0;

	if (unpacked && gelf_getclass(unpacked) == ELFCLASS64)
		found = elf_symbols_table(unpacked, SHT_SYMTAB, out);
	elf_end(unpacked);
	if (image)
		munmap(image, UNPACKED_MAX);
	return found;
}

static void add_boundary(void *ctx, uint64_t address)
{
	if (!symtab_is_full(ctx))
		symtab_add(ctx, address, 0, "", SYMTAB_BOUNDARY);
}

void elf_names_read(Elf *elf, Elf *debug, struct symtab *out)
{
	uint32_t whole = elf_symbols_table(elf, SHT_SYMTAB, out);
	uint32_t split = debug ? elf_symbols_table(debug, SHT_SYMTAB, out) : 0;

	if (!split)
		split = read_mini(elf, out);
	uint32_t exported = elf_symbols_table(elf, SHT_DYNSYM, out);
	uint32_t names = whole > split ? whole : split;
	names = names > exported ? names : exported;
	elf_symbols_plt(elf, out);
	/* If the file describes less than half of the functions that have names, their starts are found in the code itself. */
	if (elf_symbols_boundaries(elf, out) < names / 2) {
		struct code *code = elf_symbols_code(elf, out->stop);

		if (code) {
			code_begins(code, add_boundary, out);
			code_close(code);
		}
	}
	symtab_finish(out);
}

/* --- dynamic symbols, with the slots of imported ones -------------------------------------------------- */

#define EXPORTS_MAX      (1u << 20)
#define EXPORT_TEXTS_MAX (60u << 20)
#define VERSION_HIDDEN   0x8000

/* Finds the first GOT slot of each symbol, by symbol index. */
static void read_slots(Elf *elf, uint64_t *slots, size_t count)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	GElf_Rela rela;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data = gelf_getshdr(scn, &header) && header.sh_type == SHT_RELA
					 ? elf_getdata(scn, NULL)
					 : NULL;

		for (int i = 0; data && gelf_getrela(data, i, &rela); i++) {
			size_t symbol = GELF_R_SYM(rela.r_info);
			uint64_t type = GELF_R_TYPE(rela.r_info);

			if (symbol < count && !slots[symbol] &&
				(type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
					type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT))
				slots[symbol] = rela.r_offset;
		}
	}
}

void elf_exports_read(Elf *elf, struct buf *exports, struct buf *texts)
{
	GElf_Shdr header;
	Elf_Scn *scn = elf_section_of_type(elf, SHT_GNU_versym, &header);
	Elf_Data *versions = scn ? elf_getdata(scn, NULL) : NULL;
	uint64_t *slots;

	scn = elf_section_of_type(elf, SHT_DYNSYM, &header);
	Elf_Data *symbols = scn && header.sh_entsize ? elf_getdata(scn, NULL) : NULL;
	size_t count = symbols ? symbols->d_size / header.sh_entsize : 0;
	if (count > EXPORTS_MAX)
		count = EXPORTS_MAX;
	slots = xcalloc(count, sizeof(*slots));
	read_slots(elf, slots, count);
	for (size_t i = 1; i < count && texts->len < EXPORT_TEXTS_MAX; i++) {
		GElf_Versym version;
		GElf_Sym sym;

		if (!gelf_getsym(symbols, (int)i, &sym))
			break;
		const char *name = elf_strptr(elf, header.sh_link, sym.st_name);
		if (!name || !*name)
			continue;
		struct elf_export e = {.value = sym.st_value, .text = (uint32_t)texts->len};
		if (sym.st_shndx == SHN_UNDEF) {
			e.value = slots[i];
			e.flags |= ELF_IMPORTED;
		}
		if (versions && gelf_getversym(versions, (int)i, &version) &&
			version & VERSION_HIDDEN)
			e.flags |= ELF_OLD;
		if (GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC)
			e.flags |= ELF_INDIRECT;
		buf_add(texts, name, strnlen(name, SYMTAB_NAME_MAX));
		buf_addc(texts, '\0');
		buf_add(exports, &e, sizeof(e));
	}
	free(slots);
}
