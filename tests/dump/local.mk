# SPDX-License-Identifier: Apache-2.0
# Tests of dump.

check_PROGRAMS += %D%/test_modules %D%/test_remote
check_SCRIPTS += %D%/test_dump.sh %D%/test_parked_dump.sh
check_DATA += %D%/untraceable.so
CLEANFILES += %D%/untraceable.so
EXTRA_DIST += %D%/untraceable.c

DUMP_TEST_LIBS = libdump.a libwalk.a libsession.a libattach.a libsymbols.a libprofile.a libwire.a libbase.a \
	-lpthread -lm $(DW_LIBS) $(ELF_LIBS) $(Z_LIBS) $(CXX_LIBS)

%C%_test_modules_LDADD = $(DUMP_TEST_LIBS)
%C%_test_remote_LDADD = $(DUMP_TEST_LIBS)
%D%/untraceable.so: %D%/untraceable.c
	$(AM_V_GEN)$(MKDIR_P) %D% && \
	$(CC) $(CFLAGS) -D_GNU_SOURCE -fPIC -shared -o $@ $(srcdir)/%D%/untraceable.c
