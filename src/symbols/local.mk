# SPDX-License-Identifier: Apache-2.0
# Names and unwind rows from ELF files.

noinst_LIBRARIES += libsymbols.a
libsymbols_a_SOURCES = \
	%D%/cfi.c %D%/cfi.h %D%/cfi_program.c %D%/cfi_program.h %D%/demangle.c %D%/demangle.h \
	%D%/dynsym.c %D%/dynsym.h %D%/elf.h %D%/elf_file.c %D%/elf_symbols.c %D%/facts.h \
	%D%/kallsyms.c %D%/loader.c %D%/loader.h %D%/mapped.c %D%/mapped.h %D%/names.c %D%/names.h \
	%D%/rule.h %D%/rust_v0.c %D%/symbols.c %D%/symbols.h %D%/symtab.c %D%/symtab.h \
	%D%/child/child.c %D%/child/child.h %D%/child/confine.c %D%/child/protocol.h \
	%D%/child/reply.c %D%/child/serve.c %D%/child/serve.h \
	%D%/code/code.c %D%/code/code.h %D%/code/frame.c %D%/code/frame.h %D%/code/insn.h \
	%D%/code/insn_aarch64.c %D%/code/insn_x86_64.c
SYMBOLS_LIBS = libsymbols.a libbase.a $(DW_LIBS) $(ELF_LIBS) $(Z_LIBS) $(CXX_LIBS) -lpthread
