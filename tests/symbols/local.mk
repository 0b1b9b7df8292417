# SPDX-License-Identifier: Apache-2.0
# Tests of symbols: units, and small ELF files, stripped in several ways by the script, against nm.

check_PROGRAMS += %D%/test_cfi %D%/test_child %D%/test_code %D%/test_demangling %D%/test_sizes %D%/test_symbols
noinst_PROGRAMS += %D%/symbols_tool
check_SCRIPTS += %D%/test_elf.sh
check_DATA += %D%/split.so
CLEANFILES += %D%/split.debug %D%/split.so
EXTRA_DIST += %D%/debug_frame.h %D%/fixture.cc %D%/split.c

# Of x86-64's linker, which would describe its own stubs.
split_ldflags = $(if $(filter x86_64,$(jhot_arch)),-Wl$(comma)--no-ld-generated-unwind-info)
comma = ,
%D%/split.so: %D%/split.c
	$(AM_V_CC)$(MKDIR_P) %D% && cd %D% && $(CC) -O2 -g -fPIC -fomit-frame-pointer \
		-fno-asynchronous-unwind-tables -fno-unwind-tables -nostdlib -shared \
		$(split_ldflags) -o split.tmp $(abs_srcdir)/%D%/split.c && \
	$(OBJCOPY) --only-keep-debug split.tmp split.debug && \
	$(OBJCOPY) --strip-debug --add-gnu-debuglink=split.debug split.tmp split.so && rm split.tmp

%C%_test_cfi_SOURCES = %D%/test_cfi.c %D%/debug_frame.c $(unwind_test_sources)
%C%_test_cfi_LDADD = $(unwind_test_libs)
%C%_test_code_LDADD = $(SYMBOLS_LIBS) -lm
%C%_test_demangling_LDADD = $(SYMBOLS_LIBS) -lm
%C%_test_child_LDADD = $(SYMBOLS_LIBS) -lm
%C%_test_symbols_LDADD = $(SYMBOLS_LIBS) -lm
%C%_test_sizes_LDADD = $(SYMBOLS_LIBS) -lm
%C%_symbols_tool_LDADD = $(SYMBOLS_LIBS) -lm
