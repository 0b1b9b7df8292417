# SPDX-License-Identifier: Apache-2.0
# Tests of what is handed on.

check_SCRIPTS += %D%/test_aarch64.sh %D%/test_musl.sh %D%/test_one_file.sh
EXTRA_DIST += %D%/elsewhere.sh %D%/first_screen.py

# The C tests of the agent, but those that need a library of the front end's.
agent_tests = $(filter tests/walk/% tests/wire/% tests/sampler/%,$(filter-out %_tsan $(cross_library_tests),$(check_PROGRAMS)))
AM_TESTS_ENVIRONMENT += AGENT_TESTS='$(agent_tests)'; CHECK_PROGRAMS='$(filter-out %_tsan,$(check_PROGRAMS))'; \
	export AGENT_TESTS CHECK_PROGRAMS;

# On another CPU those of the model beside them; what needs libraries of that CPU; and what takes long by emulation.
cross_library_tests = $(filter tests/walk/test_unwind tests/walk/test_leaf tests/sampler/test_unwind_recv \
	tests/symbols/%,$(check_PROGRAMS))
cross_long_tests = tests/profile/test_diff tests/profile/test_error
cross_tests = $(agent_tests) $(filter tests/profile/%,$(filter-out $(cross_long_tests),$(check_PROGRAMS)))
AM_TESTS_ENVIRONMENT += CROSS_TESTS='$(cross_tests)'; CROSS_LIBRARY_TESTS='$(cross_library_tests)'; \
	export CROSS_TESTS CROSS_LIBRARY_TESTS;
EXTRA_DIST += %D%/arm64_root.sh
clean-local: clean-arm64
.PHONY: clean-arm64
clean-arm64:
	rm -rf %D%/arm64

# Not part of check: makes the roots once.
EXTRA_DIST += %D%/roots_check.sh
.PHONY: roots-check
roots-check: all $(check_DATA)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/roots_check.sh

# The same for the packages of another CPU.
EXTRA_DIST += %D%/aarch64_check.sh
.PHONY: aarch64-check
aarch64-check: all $(check_DATA)
	@CROSS_LONG_TESTS='$(cross_long_tests)' srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/aarch64_check.sh

# All of jhot with musl: makes the libraries once.
EXTRA_DIST += %D%/musl_check.sh %D%/musl_root.sh %D%/own_apt.sh %D%/rows.sh
.PHONY: musl-check
musl-check: all $(check_DATA)
	@CHECK_PROGRAMS='$(filter-out %_tsan,$(check_PROGRAMS))' srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' \
		JAVA="$${JAVA:-$(JDK)/bin/java}" bash $(srcdir)/%D%/musl_check.sh

# A JVM on musl: makes it once.
EXTRA_DIST += %D%/musl_jvm_check.sh %D%/musl_jvm.sh %D%/musl_cxx.c
.PHONY: musl-jvm-check
musl-jvm-check: all $(check_DATA) packaging/jhot
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/musl_jvm_check.sh

# The one file built twice, which is minutes.
EXTRA_DIST += %D%/reproducible_check.sh
.PHONY: reproducible-check
reproducible-check:
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JDK='$(JDK)' \
		bash $(srcdir)/%D%/reproducible_check.sh

# The packages of Debian's, by what is said of them and by what they do when installed.
EXTRA_DIST += %D%/deb_check.sh
.PHONY: deb-check
deb-check: deb
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' bash $(srcdir)/%D%/deb_check.sh

# Containers of Docker's: makes a root once.
EXTRA_DIST += %D%/docker_check.sh %D%/debian_root.sh
.PHONY: docker-check
docker-check: image $(check_DATA)
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/docker_check.sh

# The rpm, by dnf.
EXTRA_DIST += %D%/rpm_check.sh
.PHONY: rpm-check
rpm-check: all $(check_DATA)
	@$(MAKE) rpm RPMBUILD_FLAGS=--nodeps >/dev/null
	@srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' JAVA="$${JAVA:-$(JDK)/bin/java}" \
		bash $(srcdir)/%D%/rpm_check.sh
