# SPDX-License-Identifier: Apache-2.0
# jhot, the program.

bin_PROGRAMS += jhot
jhot_SOURCES = %D%/main.c $(cli_sources)
cli_sources = \
	%D%/args.c %D%/args.h %D%/batch.c %D%/batch.h %D%/dump_agent.c %D%/dump_agent.h %D%/events.c \
	%D%/events.h %D%/events_perf.c %D%/functions.c %D%/functions.h %D%/help.c %D%/help.h %D%/hot.c \
	%D%/hot.h %D%/live.c %D%/live.h %D%/nearest.c %D%/nearest.h %D%/options.c %D%/outputs.c \
	%D%/outputs.h %D%/progress.c %D%/progress.h %D%/report.c %D%/report.h %D%/settings.c %D%/settings.h \
	%D%/target.c %D%/target.h %D%/units.c %D%/units.h %D%/verb.h %D%/verb_dump.c %D%/verb_events.c \
	%D%/verb_list.c %D%/verb_record.c %D%/verb_report.c %D%/verb_status.c %D%/verb_top.c %D%/verbs.c
jhot_LDADD = libtui.a libexport.a libdump.a libwalk.a libsession.a libattach.a libsymbols.a libprofile.a libwire.a libbase.a -lpthread -lm \
	$(CURSES_LIBS) $(DW_LIBS) $(ELF_LIBS) $(Z_LIBS) $(CXX_LIBS)
