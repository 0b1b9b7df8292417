# SPDX-License-Identifier: Apache-2.0
# Tests of the rules: their thresholds over models made by hand, and programs that have a problem or nearly have it.

check_PROGRAMS += %D%/test_code %D%/test_executors %D%/test_limits %D%/test_requests %D%/test_rules %D%/test_thresholds
%C%_test_code_LDADD = libfindings.a libprofile.a libbase.a -lm
%C%_test_executors_LDADD = libfindings.a libprofile.a libbase.a -lm
%C%_test_limits_LDADD = libfindings.a libprofile.a libbase.a -lm
%C%_test_requests_LDADD = libfindings.a libprofile.a libbase.a -lm
%C%_test_rules_LDADD = libfindings.a libprofile.a libbase.a -lm
%C%_test_thresholds_LDADD = libfindings.a libprofile.a libbase.a -lm

EXTRA_DIST += %D%/judge.h %D%/soak.sh %D%/spend.h

.PHONY: soak-findings
soak-findings: all $(check_DATA) demo/classes.stamp
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/soak.sh

check_SCRIPTS += %D%/test_host.sh %D%/test_planted.sh %D%/test_served.sh %D%/test_waits.sh
