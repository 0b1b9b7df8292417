# SPDX-License-Identifier: Apache-2.0
# Native code of other libraries in the process of a JVM that is sampled.

check_SCRIPTS += %D%/test_neighbours.sh
check_DATA += %D%/neighbours.stamp
CLEANFILES += %D%/neighbours.stamp %D%/neighbours %D%/libneighbours.so
neighbours_sources = %D%/neighbours.c %D%/roles_files.c %D%/roles_limits.c %D%/roles_signals.c %D%/roles_stacks.c \
	%D%/roles_threads.c
EXTRA_DIST += $(neighbours_sources) %D%/neighbours.h %D%/Neighbours.java

# One object with two entries: a library for the java command, a program that embeds a JVM. Nothing is bound lazily:
# that would use more of a small stack than the role itself.
%D%/neighbours.stamp: $(neighbours_sources) %D%/neighbours.h %D%/Neighbours.java
	$(AM_V_GEN)$(MKDIR_P) %D%/classes && \
	for output in "-fPIC -shared -o %D%/libneighbours.so" "-fPIE -pie -rdynamic -o %D%/neighbours"; do \
		$(CC) $(CFLAGS) -std=c11 $(WARN_CFLAGS) -D_GNU_SOURCE $(JVMTI_CFLAGS) $$output \
			$(neighbours_sources:%=$(srcdir)/%) -Wl,-z,now -ldl -lpthread || exit; \
	done && \
	"$(JDK)/bin/javac" -nowarn -Xlint:-options --release 8 -d %D%/classes $(srcdir)/%D%/Neighbours.java && \
	touch $@

# Every role on every JDK: a row each. SESSIONS=200 takes some seven minutes for each of them.
.PHONY: neighbours
neighbours: all $(check_DATA)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" FORM=long \
		SESSIONS="$${SESSIONS:-12}" MAJORS="$${MAJORS:-8 11 17 21 25 28}" MAJORS_ONLY=1 \
		bash $(srcdir)/%D%/test_neighbours.sh
