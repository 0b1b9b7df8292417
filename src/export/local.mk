# SPDX-License-Identifier: Apache-2.0
# Writing profiles to files.

noinst_LIBRARIES += libexport.a
libexport_a_SOURCES = \
	%D%/collapsed.c %D%/export.c %D%/export.h %D%/facts.c %D%/facts.h %D%/web/flame.c %D%/web/flame.h \
	%D%/web/flame_color.c %D%/web/html.c %D%/web/latency.c %D%/web/html.h \
	%D%/jfr/chunk.c %D%/jfr/constants.c %D%/jfr/jfr.h %D%/jfr/samples.c %D%/jfr/types.c %D%/jfr/vitals.c \
	%D%/ids.c %D%/ids.h %D%/links.c %D%/links.h %D%/otlp.c %D%/plain.c %D%/pprof.c %D%/proto.c %D%/proto.h %D%/seconds.c \
	%D%/seconds.h %D%/speedscope.c %D%/web/svg.c %D%/web/svg.h %D%/web/svg_data.c \
	%D%/web/svg_picture.c %D%/web/svg_slices.c %D%/text.c %D%/text.h

%D%/web/svg.$(OBJEXT): %D%/web/flame_js.inc

flame_scripts = %D%/web/data.js %D%/web/slices.js %D%/web/shape.js %D%/web/reverse.js \
	%D%/web/text.js %D%/web/colors.js %D%/web/diff.js %D%/web/page.js %D%/web/draw.js %D%/web/lines.js \
	%D%/web/heat.js %D%/web/pulse.js %D%/web/lists.js %D%/web/state.js %D%/web/input.js
EXTRA_DIST += $(flame_scripts)
BUILT_SOURCES += %D%/web/flame_js.inc
CLEANFILES += %D%/web/flame_js.inc %D%/web/flame.js
# The script of the flame graph: one function, no comment lines, as the bytes of a C array.
%D%/web/flame_js.inc: $(flame_scripts)
	$(AM_V_GEN)$(MKDIR_P) %D%/web && \
	{ echo '(function () {'; (cd $(srcdir) && cat $(flame_scripts)); echo '})();'; } | \
		sed 's/^[	]*//; /^\/\//d; /^$$/d' >%D%/web/flame.js && \
	if grep -n -e ']]>' -e '</script' -e '<!--' %D%/web/flame.js; then exit 1; fi && \
	od -An -v -tx1 %D%/web/flame.js | sed 's/ \(..\)/0x\1,/g' >$@.tmp && \
	sed '$$s/,$$//' $@.tmp >$@ && rm -f $@.tmp
