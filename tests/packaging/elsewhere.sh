# SPDX-License-Identifier: Apache-2.0
# jhot and its C tests, compiled for another libc or CPU in a folder of their own. Sourced by bash, after tests/jvm/lib.sh.
#
#   elsewhere_configured ARG...   runs configure with these arguments     elsewhere_made TARGET...   runs make
#   elsewhere_tests TEST...       checks that they compile and that each passes
#   elsewhere_result TEST         checks that it passes, run by $ELSEWHERE_RUN if set, or is skipped by its own plan
#   elsewhere_passes TEST         runs it; its output is in $T/log

mkdir "$T/build"
ELSEWHERE_RUN=()

# For use without the front end's libraries: makes configure believe that they exist; programs that need them are not built.
elsewhere_untrue="ac_cv_header_term_h=yes ac_cv_header_libelf_h=yes ac_cv_header_elfutils_libdw_h=yes
	ac_cv_header_zlib_h=yes ac_cv_header_lzma_h=yes ac_cv_header_zstd_h=yes ac_cv_header_lz4frame_h=yes
	ac_cv_header_utf8proc_h=yes ac_cv_search_tparm=-lnone ac_cv_search_utf8proc_charwidth=-lnone
	ac_cv_search_elf_begin=-lnone ac_cv_search_dwarf_cfi_addrframe=-lnone ac_cv_search_crc32=-lnone
	ac_cv_search_lzma_stream_buffer_decode=-lnone ac_cv_search_ZSTD_decompressStream=-lnone
	ac_cv_search_LZ4F_decompress=-lnone ac_cv_search___cxa_demangle=-lnone"

elsewhere_configured() {
	(cd "$T/build" && "$srcdir/configure" CFLAGS='-O1 -g0' --with-jdk="$(sed -n 's/^JDK = //p' "$builddir/Makefile")" \
		"$@" >"$T/log" 2>&1)
}

elsewhere_made() {
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -C "$T/build" "$@" >"$T/log" 2>&1
}

elsewhere_passes() {
	(cd "$T/build" && builddir=$T/build "${ELSEWHERE_RUN[@]}" "./$1") >"$T/log" 2>&1
}

# elsewhere_result TEST: a test that skips all of its checks is reported as skipped, not as passed
elsewhere_result() {
	local why
	elsewhere_passes "$1"
	set -- "$1" $?
	why=$(sed -n 's/^1\.\.0 # SKIP //p' "$T/log")
	if [ "$2" = 0 ] && [ -n "$why" ]; then
		skip "$1" "$why"
		return
	fi
	ok "$1 passes" [ "$2" = 0 ] || diag_file "$T/log"
	sed -n 's/^ok [0-9]* - \(.*\) # SKIP \(.*\)/# skipped: \1 (\2)/p' "$T/log"
}

elsewhere_tests() {
	local test
	ok "$# C tests compile" elsewhere_made -k "$@" || diag_file "$T/log"
	for test; do elsewhere_result "$test"; done
	ok "there are more than 5 C tests" [ $# -gt 5 ]
}
