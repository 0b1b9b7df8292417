# SPDX-License-Identifier: Apache-2.0
# jhot, the program.

bin_PROGRAMS += jhot
jhot_SOURCES = %D%/main.c %D%/agent.c
# Files for JVMs are embedded in the program (%D%/agent.c), so that all have the same version.
AGENT_FILES = %D%/libjhot.so %D%/libjhotrequest.so %D%/Request.java
%D%/agent.$(OBJEXT): $(AGENT_FILES)
CLEANFILES += $(AGENT_FILES)
%D%/libjhot.so %D%/libjhotrequest.so: %D%/%: %
	$(AM_V_GEN)$(MKDIR_P) %D% && $(STRIP) --strip-unneeded -o $@ $*
%D%/Request.java: src/request/Request.java
	$(AM_V_GEN)$(MKDIR_P) %D% && cp $(srcdir)/src/request/Request.java $@
# All but main() and the embedded files, which tests do not link.
noinst_LIBRARIES += libcli.a
libcli_a_SOURCES = \
	%D%/agent.h %D%/background.c %D%/background.h %D%/batch.c %D%/batch.h %D%/comparison.c \
	%D%/comparison.h %D%/findings.c %D%/findings.h %D%/latency.c %D%/latency.h %D%/launch.c \
	%D%/launch.h %D%/pushing.c %D%/pushing.h %D%/reading.c %D%/reading.h %D%/report.c \
	%D%/report.h %D%/sampling.c %D%/sampling.h %D%/screen.c %D%/screen.h \
	%D%/line/args.c %D%/line/args.h %D%/line/events.c %D%/line/events.h %D%/line/events_perf.c \
	%D%/line/help.c %D%/line/help.h %D%/line/nearest.c %D%/line/nearest.h %D%/line/options.c \
	%D%/line/selection.c %D%/line/selection.h %D%/line/units.c %D%/line/units.h \
	%D%/line/verb.h \
	%D%/live/events.c %D%/live/fleet.c %D%/live/fleet.h %D%/live/jvms.c %D%/live/live.c \
	%D%/live/live.h %D%/live/own.h %D%/live/remote.c %D%/live/remote.h %D%/live/replay.c \
	%D%/live/replay.h \
	%D%/recorder/instances.c %D%/recorder/join.c %D%/recorder/join.h %D%/recorder/keep.c \
	%D%/recorder/keep.h %D%/recorder/options.c %D%/recorder/pusher.c %D%/recorder/pusher.h \
	%D%/recorder/recorder.c %D%/recorder/recorder.h %D%/recorder/triggers.c %D%/recorder/triggers.h \
	%D%/recorder/unpushed.c %D%/recorder/unpushed.h \
	%D%/outputs/hot.c %D%/outputs/labels.c %D%/outputs/names.c %D%/outputs/outputs.c \
	%D%/outputs/outputs.h %D%/outputs/parse.c \
	%D%/verb/agent.c %D%/verb/convert.c %D%/verb/diff.c %D%/verb/dump.c %D%/verb/events.c \
	%D%/verb/list.c %D%/verb/push.c %D%/verb/record.c %D%/verb/relay.c %D%/verb/save.c \
	%D%/verb/slow.c %D%/verb/status.c %D%/verb/top.c %D%/verb/verbs.c %D%/verb/view.c \
	%D%/verb/why.c
jhot_archives = libtui.a libfindings.a libimport.a libshare.a librecording.a libexport.a libdump.a libwalk.a libsession.a libattach.a libsymbols.a \
	libprofile.a libwire.a libbase.a
jhot_LDADD = libcli.a libpush.a $(jhot_archives) $(DL_LIBS) -lpthread -lm \
	$(TERMINFO_LIBS) $(UTF8PROC_LIBS) $(DW_LIBS) $(ELF_LIBS) $(Z_LIBS) $(CXX_LIBS)
