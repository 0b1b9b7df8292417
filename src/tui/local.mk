# SPDX-License-Identifier: Apache-2.0
# The live view.

noinst_LIBRARIES += libtui.a
libtui_a_SOURCES = \
	%D%/config/config.c %D%/config/config.h %D%/config/keys.c %D%/config/parse.h \
	%D%/frame/app.h %D%/frame/command.c %D%/frame/command.h %D%/frame/compare.c %D%/frame/compare.h \
	%D%/frame/config.h %D%/frame/drive.c %D%/frame/events.c %D%/frame/events.h %D%/frame/file.c \
	%D%/frame/file.h %D%/frame/findings.c %D%/frame/findings.h %D%/frame/footer.c %D%/frame/header.c \
	%D%/frame/latency.c %D%/frame/latency.h %D%/frame/loop.c %D%/frame/output.c %D%/frame/output.h \
	%D%/frame/search.c %D%/frame/search.h \
	%D%/frame/timeline.c %D%/frame/timeline.h %D%/frame/timestrip.c \
	%D%/frame/ui.c %D%/frame/ui.h %D%/frame/view.h \
	%D%/screen/canvas.c %D%/screen/canvas.h \
	%D%/screen/list.c %D%/screen/list.h %D%/screen/name.c %D%/screen/name.h \
	%D%/screen/text.c %D%/screen/text.h %D%/screen/theme.c %D%/screen/theme.h \
	%D%/term/key.h %D%/term/keys.c %D%/term/signals.c %D%/term/signals.h %D%/term/term.h \
	%D%/term/terminal.c \
	%D%/view/callers.c %D%/view/findings.c %D%/view/help.c %D%/view/info.c \
	%D%/view/pane.c %D%/view/pane.h %D%/view/picker.c \
	%D%/view/flame/layout.c %D%/view/flame/layout.h %D%/view/flame/view.c \
	%D%/view/latency/calls.c %D%/view/latency/figures.c %D%/view/latency/inside.h \
	%D%/view/latency/view.c \
	%D%/view/methods/columns.c %D%/view/methods/empty.c %D%/view/methods/inside.h \
	%D%/view/methods/view.c \
	%D%/view/threads/inside.h %D%/view/threads/pane.c %D%/view/threads/rows.c \
	%D%/view/threads/view.c \
	%D%/view/tree/commands.c %D%/view/tree/inside.h %D%/view/tree/rows.c \
	%D%/view/tree/view.c

# Terminals that are known on a host without descriptions of them. The form (-Q2) is one that ncurses reads since 6.1.
term_kinds = xterm xterm-256color screen screen-256color tmux tmux-256color linux vt100 rxvt-unicode-256color
%D%/term/terminal.$(OBJEXT): %D%/term/kinds.inc
BUILT_SOURCES += %D%/term/kinds.inc
CLEANFILES += %D%/term/kinds.inc
%D%/term/kinds.inc: Makefile
	$(AM_V_GEN)$(MKDIR_P) %D%/term && for name in $(term_kinds); do \
		text=`$(INFOCMP) -0 -q -Q2 $$name` || exit 1; \
		echo "{\"$$name\", \"$$text\"},"; \
	done >$@.part && mv $@.part $@
