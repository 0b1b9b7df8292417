# SPDX-License-Identifier: Apache-2.0
# One table of parsers of foreign bytes: replayed from seeds by every check, fuzzed by libFuzzer on demand.

check_PROGRAMS += %D%/test_corpus
EXTRA_DIST += %D%/corpus %D%/fuzz_parsers.c %D%/run.sh

fuzz_libs = libimport.a librecording.a libtui.a libfindings.a $(SESSION_TEST_LIBS) $(TERMINFO_LIBS) $(UTF8PROC_LIBS)
fuzz_sources = %D%/targets.c %D%/targets.h %D%/targets_attach.c %D%/targets_elf.c \
	%D%/targets_import.c %D%/targets_session.c

%C%_test_corpus_SOURCES = %D%/test_corpus.c $(fuzz_sources)
%C%_test_corpus_LDADD = $(fuzz_libs)
if FUZZING
EXTRA_PROGRAMS += %D%/fuzz_parsers
%C%_fuzz_parsers_SOURCES = %D%/fuzz_parsers.c $(fuzz_sources)
%C%_fuzz_parsers_LDFLAGS = -fsanitize=fuzzer
%C%_fuzz_parsers_LDADD = $(fuzz_libs)
endif

.PHONY: fuzz-parsers
TARGETS =
fuzz-parsers:
	bash $(srcdir)/%D%/run.sh '$(abs_top_srcdir)' '$(SECONDS_OF_FUZZ)' '$(TARGETS)'
