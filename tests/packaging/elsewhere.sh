# SPDX-License-Identifier: Apache-2.0
# The agent and its C tests, compiled for another libc or CPU in a folder of their own. Sourced by bash, after tests/jvm/lib.sh.
#
#   elsewhere_configured ARG...   configure, with these besides      elsewhere_made TARGET...
#   elsewhere_passes TEST         runs it, by $ELSEWHERE_RUN if that is set; what it says is in $T/log

mkdir "$T/build"
ELSEWHERE_RUN=()

# None of the front end's libraries is there: configure is told that they are, and what needs them is not built.
elsewhere_untrue="ac_cv_header_term_h=yes ac_cv_header_libelf_h=yes ac_cv_header_elfutils_libdw_h=yes
	ac_cv_header_zlib_h=yes ac_cv_header_lzma_h=yes ac_cv_search_tparm=-lnone ac_cv_search_elf_begin=-lnone
	ac_cv_search_dwarf_cfi_addrframe=-lnone ac_cv_search_crc32=-lnone
	ac_cv_search_lzma_stream_buffer_decode=-lnone ac_cv_search___cxa_demangle=-lnone"

elsewhere_configured() {
	# shellcheck disable=SC2086
	(cd "$T/build" && "$srcdir/configure" CFLAGS='-O1 -g0' --with-jdk="$(sed -n 's/^JDK = //p' "$builddir/Makefile")" \
		$elsewhere_untrue "$@" >"$T/log" 2>&1)
}

elsewhere_made() {
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -C "$T/build" "$@" >"$T/log" 2>&1
}

elsewhere_passes() {
	(cd "$T/build" && builddir=$T/build "${ELSEWHERE_RUN[@]}" "./$1") >"$T/log" 2>&1
}

# elsewhere_tests TEST...: each compiles and passes
elsewhere_tests() {
	local test
	for test; do
		ok "$test: compiles" elsewhere_made "$test" || diag_file "$T/log"
		ok "$test: passes" elsewhere_passes "$test" || diag_file "$T/log"
	done
	ok "there were such tests" [ $# -gt 5 ]
}
