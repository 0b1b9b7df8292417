# SPDX-License-Identifier: Apache-2.0
# Tests of the ring.

check_PROGRAMS += %D%/test_ring

%C%_test_ring_LDADD = $(TEST_LIBS)

if SANITIZERS
check_PROGRAMS += %D%/test_ring_tsan
endif
%C%_test_ring_tsan_SOURCES = %D%/test_ring.c src/wire/ring.c
%C%_test_ring_tsan_CFLAGS = $(PLAIN_CFLAGS) $(PIE_CFLAGS) -fsanitize=thread
%C%_test_ring_tsan_LDADD = -lpthread
