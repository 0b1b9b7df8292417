# SPDX-License-Identifier: Apache-2.0
# The agent, libjhot.so.

# Position-independent and without side effects on the target: exports only Agent_On*, no constructors
# (-nostartfiles), no lazy binding (it would lock the loader in a handler), no TLS, never unloaded. Up to glibc
# 2.33 libpthread and libdl contain symbols that are in libc today; see sampler/compat.h.
noinst_PROGRAMS += libjhot.so
libjhot_so_CPPFLAGS = $(AM_CPPFLAGS) $(JVMTI_CFLAGS)
libjhot_so_CFLAGS = $(PLAIN_CFLAGS) -O2 -fPIC -fvisibility=hidden -fno-stack-protector -fno-plt \
	-fno-math-errno -U_FORTIFY_SOURCE
libjhot_so_LDFLAGS = -shared -nostartfiles -Wl,-z,defs -Wl,-z,nodelete -Wl,-z,now -Wl,-z,relro \
	-Wl,-z,noexecstack -Wl,-soname,libjhot.so -Wl,--no-as-needed \
	-Wl,--version-script=$(srcdir)/%D%/libjhot.map
EXTRA_DIST += %D%/libjhot.map
EXTRA_libjhot_so_DEPENDENCIES = %D%/libjhot.map
libjhot_so_LDADD = $(AGENT_LIBS)
# Appended after a distribution's CFLAGS and CPPFLAGS, some of which would make the agent import more of libc.
$(libjhot_so_OBJECTS): CFLAGS += -fno-stack-protector -U_FORTIFY_SOURCE -Wp,-U_FORTIFY_SOURCE
# Code that runs neither in handlers nor once per sample is optimized for size, to save memory of the target.
$(filter src/sampler/session/% src/sampler/jvm/% src/sampler/publish/% $(addprefix src/sampler/libjhot_so-, \
	agent.o calls.o contexts.o descriptor.o load.o spawn.o text.o),$(libjhot_so_OBJECTS)): CFLAGS += -Os
$(filter-out src/sampler/engine/alloc/% src/sampler/engine/lock/% src/sampler/engine/wall%, \
	$(filter src/sampler/engine/%,$(libjhot_so_OBJECTS))): CFLAGS += -Os
# Threads attaching to the JVM run this code. The agent has no unwind rows, so walks pass it by the frame pointer only.
$(filter %gate.o,$(libjhot_so_OBJECTS)): CFLAGS += -fno-omit-frame-pointer
libjhot_so_SOURCES = $(sampler_sources) $(sampler_parts) $(walk_sources) $(wire_sources)
sampler_sources = \
	%D%/agent.c %D%/calls.c %D%/calls.h %D%/compat.h %D%/contexts.c %D%/contexts.h \
	%D%/counters.h %D%/load.c %D%/load.h %D%/sampler.h %D%/spawn.c %D%/spawn.h %D%/virtuals.c \
	%D%/virtuals.h \
	%D%/engine/arms.c %D%/engine/arms.h %D%/engine/ask.c %D%/engine/ask.h \
	%D%/engine/borrowed.c %D%/engine/borrowed.h %D%/engine/collect.c %D%/engine/collect.h \
	%D%/engine/ctimer.c %D%/engine/ctimer.h %D%/engine/engine.h %D%/engine/entries.c \
	%D%/engine/entries.h %D%/engine/events.c %D%/engine/events.h %D%/engine/latency.c \
	%D%/engine/latency.h %D%/engine/latency_select.c %D%/engine/latency_virtual.c \
	%D%/engine/perf.c %D%/engine/perf_fd.c \
	%D%/engine/perf_fd.h %D%/engine/process_clock.c %D%/engine/trap.c %D%/engine/waiting.c \
	%D%/engine/waiting.h %D%/engine/wall.c %D%/engine/wall.h %D%/engine/wall_io.c \
	%D%/engine/wall_waiting.c \
	%D%/engine/alloc/alloc.c %D%/engine/alloc/alloc.h %D%/engine/alloc/live.c \
	%D%/engine/lock/counted.c %D%/engine/lock/cycle.c %D%/engine/lock/holder.c \
	%D%/engine/lock/lock.c %D%/engine/lock/lock.h %D%/engine/lock/own.h \
	%D%/engine/lock/report.c %D%/engine/lock/timed.c %D%/engine/lock/wait.c \
	%D%/engine/lock/wait.h %D%/engine/lock/waiting.c \
	%D%/jvm/agct.c %D%/jvm/created.c %D%/jvm/events.c %D%/jvm/gate.c %D%/jvm/jvm.c \
	%D%/jvm/jvm.h %D%/jvm/own.h %D%/jvm/sets.c %D%/jvm/vm_calls.c %D%/jvm/waits.c \
	%D%/jvm/walker_agct.h \
	%D%/publish/native.c %D%/publish/publish.c %D%/publish/publish.h %D%/publish/state.h \
	%D%/publish/threads.c \
	%D%/session/budget.c %D%/session/commands.c %D%/session/epochs.c %D%/session/epochs.h \
	%D%/session/files.c %D%/session/files.h %D%/session/headroom.c %D%/session/headroom.h \
	%D%/session/kept.c %D%/session/kept.h %D%/session/lease.c %D%/session/lease.h \
	%D%/session/memory.c %D%/session/memory.h %D%/session/names.c %D%/session/publisher.c \
	%D%/session/publisher.h %D%/session/setup.c %D%/session/starts.c %D%/session/threads.h \
	%D%/signal/agct.c %D%/signal/contexts.c %D%/signal/handler.c %D%/signal/identity.c \
	%D%/signal/install.c %D%/signal/latency.c %D%/signal/signal.h %D%/signal/stack.c \
	%D%/signal/trap.c %D%/signal/trap.h %D%/signal/wall.c

# Parts that need no JVM, and the library that their tests link.
sampler_parts = \
	%D%/cost.c %D%/cost.h %D%/descriptor.c %D%/descriptor.h %D%/procfile.c %D%/procfile.h \
	%D%/task.c %D%/task.h %D%/text.c %D%/text.h \
	%D%/engine/alloc/weight.c \
	%D%/publish/modules.c %D%/publish/modules.h %D%/publish/traces.c \
	%D%/session/scan.c %D%/session/scan.h %D%/session/unwind_recv.c %D%/session/unwind_recv.h \
	%D%/signal/entry.c %D%/signal/entry.h %D%/signal/epoch.c %D%/signal/glob.c \
	%D%/signal/mem.c %D%/signal/perf.c %D%/signal/raw.c %D%/signal/raw.h %D%/signal/threads.c
check_LIBRARIES += libsampler.a
libsampler_a_SOURCES = $(sampler_parts)
libsampler_a_CPPFLAGS = $(AM_CPPFLAGS) $(JVMTI_CFLAGS)
