# SPDX-License-Identifier: Apache-2.0
# Tests of stack walks.

check_PROGRAMS += %D%/test_arch %D%/test_cut %D%/test_self %D%/test_images %D%/test_frame_cache \
	%D%/test_names %D%/test_stubs %D%/test_newest %D%/test_trace_table %D%/test_tail %D%/test_walk
walk_jvm_tests = %D%/test_selftest.sh %D%/test_upcalls.sh %D%/test_walks.sh %D%/test_accuracy.sh %D%/test_threads.sh
check_SCRIPTS += $(walk_jvm_tests)
noinst_PROGRAMS += %D%/selftest %D%/walkstat
check_DATA += %D%/upcalls.so
CLEANFILES += %D%/upcalls.so
EXTRA_DIST += %D%/Upcalls.java %D%/chains.sh %D%/fake.h %D%/image.h %D%/images \
	%D%/target.h %D%/upcalls.c

# Without frame pointers, so that only unwind rows lead through it.
%D%/upcalls.so: %D%/upcalls.c
	$(AM_V_CC)$(MKDIR_P) %D% && \
		$(CC) $(WARN_CFLAGS) -Wno-missing-prototypes -O2 -fomit-frame-pointer -fPIC -shared -o $@ \
		$(srcdir)/%D%/upcalls.c -lpthread

# Unwind rows: made and packed by symbols, used by walk; their tests need both.
unwind_test_libs = libsession.a libsymbols.a libwalk.a $(TEST_LIBS) $(DW_LIBS) $(ELF_LIBS) $(Z_LIBS) $(CXX_LIBS)
unwind_test_sources = %D%/self_table.c %D%/self_table.h

# Native unwinding, against libunwind.
if HAVE_LIBUNWIND
check_PROGRAMS += %D%/test_unwind
%C%_test_unwind_SOURCES = %D%/test_unwind.c $(unwind_test_sources)
%C%_test_unwind_LDADD = $(unwind_test_libs) -lunwind -lunwind-$(jhot_arch)
check_PROGRAMS += %D%/test_leaf
%C%_test_leaf_SOURCES = %D%/test_leaf.c $(unwind_test_sources)
%C%_test_leaf_LDADD = $(unwind_test_libs) -lunwind -lunwind-$(jhot_arch)
endif

%C%_test_tail_SOURCES = %D%/test_tail.c %D%/image.c
%C%_test_tail_LDADD = libwalk.a $(Z_LIBS)
%C%_test_newest_LDADD = libwalk.a
%C%_test_frame_cache_LDADD = libwalk.a
%C%_test_trace_table_LDADD = libwalk.a -lpthread
%C%_test_arch_LDADD = libwalk.a
%C%_test_self_LDADD = libwalk.a -lpthread
%C%_test_names_LDADD = libwalk.a -lpthread
%C%_test_walk_LDADD = libwalk.a
%C%_test_cut_LDADD = libwalk.a
%C%_test_stubs_LDADD = libwalk.a
%C%_walkstat_SOURCES = %D%/walkstat.c %D%/target.c %D%/image.c \
	$(unwind_test_sources)
%C%_walkstat_LDADD = libdump.a $(unwind_test_libs)
%C%_selftest_SOURCES = %D%/selftest.c %D%/target.c
%C%_selftest_LDADD = libdump.a $(unwind_test_libs)
%C%_test_images_SOURCES = %D%/test_images.c %D%/image.c
%C%_test_images_LDADD = libwalk.a $(Z_LIBS)

if SANITIZERS
check_PROGRAMS += %D%/test_trace_table_tsan
endif
%C%_test_trace_table_tsan_SOURCES = %D%/test_trace_table.c src/walk/trace_table.c
%C%_test_trace_table_tsan_CFLAGS = $(PLAIN_CFLAGS) $(PIE_CFLAGS) -fsanitize=thread
%C%_test_trace_table_tsan_LDADD = -lpthread
