# SPDX-License-Identifier: Apache-2.0
# Sessions: the front end's side of the protocol with an agent.

noinst_LIBRARIES += libsession.a
libsession_a_SOURCES = \
	%D%/alloc_trap.c %D%/alloc_trap.h %D%/commands.c %D%/control.c %D%/late.c %D%/late.h \
	%D%/lend.c %D%/lend.h %D%/mapping.c %D%/mapping.h %D%/open.c %D%/session.c %D%/session.h \
	%D%/state.h %D%/status.c %D%/threads.c %D%/unwind_feed.c %D%/unwind_feed.h \
	%D%/context/context.h %D%/context/contexts.c %D%/context/places.c %D%/context/process.c \
	%D%/gauges/cpu.c %D%/gauges/gauges.c %D%/gauges/gauges.h %D%/gauges/heap.c \
	%D%/record/frames.c %D%/record/reader.c %D%/record/reader.h %D%/record/thread_ids.c \
	src/import/message.c
