# SPDX-License-Identifier: Apache-2.0
# jhot, the program.

bin_PROGRAMS += jhot
jhot_SOURCES = %D%/main.c $(cli_sources)
# The agent is inside the program (%D%/agent.c): what belongs together cannot be parted.
AGENT_FILE = %D%/libjhot.so
%D%/agent.$(OBJEXT): $(AGENT_FILE)
CLEANFILES += $(AGENT_FILE)
$(AGENT_FILE): libjhot.so
	$(AM_V_GEN)$(MKDIR_P) %D% && $(STRIP) --strip-unneeded -o $@ libjhot.so
cli_sources = \
	%D%/diff.c %D%/diff.h %D%/diff_json.c %D%/diff_view.c \
	%D%/agent.c %D%/agent.h %D%/batch.c %D%/batch.h %D%/findings.c %D%/findings.h %D%/hot.c %D%/hot.h %D%/live.c %D%/live.h %D%/live_file.c %D%/meta.c %D%/meta.h %D%/outputs.c %D%/outputs_jhot.c %D%/outputs_path.c %D%/outputs.h \
	%D%/reading.c %D%/reading.h %D%/replay.c %D%/replay.h %D%/report.c %D%/report.h %D%/screen.c %D%/screen.h %D%/sampling.c %D%/sampling.h %D%/settings.c \
	%D%/line/args.c %D%/line/args.h %D%/line/events.c %D%/line/events.h %D%/line/events_perf.c \
	%D%/line/functions.c %D%/line/help.c %D%/line/help.h %D%/line/nearest.c %D%/line/nearest.h %D%/line/options.c \
	%D%/line/units.c %D%/line/units.h \
	%D%/verb/convert.c %D%/verb/diff.c %D%/verb/dump.c %D%/verb/events.c %D%/verb/list.c %D%/verb/record.c \
	%D%/verb/status.c %D%/verb/top.c %D%/verb/view.c %D%/verb/verb.h %D%/verb/verbs.c %D%/verb/why.c
jhot_archives = libtui.a libfindings.a libimport.a librecording.a libexport.a libdump.a libwalk.a libsession.a libattach.a libsymbols.a \
	libprofile.a libwire.a libbase.a
jhot_LDADD = $(jhot_archives) -lpthread -lm \
	$(TERMINFO_LIBS) $(DW_LIBS) $(ELF_LIBS) $(Z_LIBS) $(CXX_LIBS)
