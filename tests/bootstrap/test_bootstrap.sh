#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What ./bootstrap prints and does when packages are missing. The package managers are stubs.
. "$(dirname "$0")/../jvm/lib.sh"

# A tree with nothing to build, and a PATH with only the basics, our package tools and no sudo.
mkdir -p "$T/tree/demo" "$T/bin" "$T/log"
cp "$srcdir/bootstrap" "$T/tree/"
for tool in sh awk cat cksum cp date dirname env find grep head id ln ls make mkdir nice nproc printf rm sed seq \
	sleep sort stat tail tee touch tr uname uniq wc; do
	ln -s "$(command -v $tool)" "$T/bin/$tool"
done
fake() {
	printf '#!/bin/sh\n%s\n' "$2" >"$T/bin/$1"
	chmod +x "$T/bin/$1"
}
# installed: the packages that dpkg-query reports; asked: the arguments of apt-get
fake dpkg-query "grep -qx \"\$4\" $T/log/installed && echo 'ii '"
fake apt-cache "[ \"\$2\" = openjdk-17-jdk-headless ] && echo '  Candidate: (none)' || echo '  Candidate: 1'"
fake apt-get "echo \"\$@\" >>$T/log/asked; for p in \"\$@\"; do case \$p in -*) ;; *) echo \$p >>$T/log/installed ;; esac; done"
fake autoreconf "echo >configure; echo 'exit 3' >>configure; chmod +x configure; touch Makefile.in"
chmod -R a+rwX "$T"

# boot AS ARG...: runs ./bootstrap in the clean environment
boot() {
	local as=$1
	shift
	$as env -i PATH="$T/bin" HOME="$T" "$T/tree/bootstrap" "$@" >"$T/out" 2>&1 </dev/null
}

boot "" && status=0 || status=$?
is "./bootstrap without arguments prints its usage" "$status $(head -n 1 "$T/out" | cut -d ' ' -f 1-3)" "0 usage: ./bootstrap demo"
boot "" nonsense && status=0 || status=$?
is "./bootstrap with an unknown command exits with 2" $status 2

: >"$T/log/installed"
: >"$T/log/asked"
if [ "$(id -u)" = 0 ]; then
	boot "$AS_OTHER" build && status=0 || status=$?
	is "build without root and sudo exits with 1 if packages are missing" $status 1
	ok "the error lists the missing packages" grep -q 'neither root nor able to use sudo: gcc g++ make' "$T/out"
	is "build without root and sudo does not call apt-get" "$(cat "$T/log/asked")" ""

	rm -rf "$T/tree/build"
	boot "" check && status=0 || status=$?
	ok "as root ./bootstrap check runs apt-get update once" [ "$(grep -c ' update' "$T/log/asked")" = 1 ]
	ok "as root ./bootstrap check installs build packages" grep -q ' install .*gcc .*zlib1g-dev' "$T/log/asked"
	ok "./bootstrap check installs the JDK that is available" grep -qE ' openjdk-17-jdk( |$)' "$T/log/asked"
	ok "./bootstrap check installs test packages" grep -q ' install .*libvterm-dev' "$T/log/asked"
	ok "a failure of configure is reported" grep -q 'configure failed' "$T/out"
	is "a failed configure counts as one failed check" "$status $(tail -n 1 "$T/out")" "1 0 passed, 1 failed"

	: >"$T/log/asked"
	boot "" check && status=0 || status=$?
	is "installed packages are not installed again" "$(cat "$T/log/asked")" ""

	chown -R nobody "$T/tree"
	boot "" check
	is "files that root creates belong to the tree's owner" "$(find "$T/tree" -user root)" ""
else
	skip "installing as root" "not root"
fi

# --- checks that run to their end ---

# tree_with CHECK-LINE...: a tree that builds immediately, whose tests are these shell commands
tree_with() {
	rm -rf "$T/tree/build"
	mkdir -p "$T/made"
	printf '%s\n' "$@" >"$T/made/tests"
	cat >"$T/made/configure" <<END
#!/bin/sh
printf 'all:\ncheck-alone check-long check-programs:\n\t@echo \$@ >>$T/log/order\ncheck-together:\n\t@sh $T/made/tests\n' >Makefile
touch config.status
END
	chmod -R a+rwX "$T/tree" "$T/made"
	chmod +x "$T/made/configure"
}
fake dpkg-query "echo 'ii '"
fake autoreconf "cp $T/made/configure configure; touch Makefile.in"
rm -f "$T/tree/configure"

tree_with 'result() { printf ":test-result: %s\n" "$1" >>$2.trs; printf "%s\n" "$3" >>$2.log; }' \
	'result PASS a "PASS: a 1 - fine"' \
	'result SKIP a "SKIP: a 2 - a thing # SKIP no thing"' \
	'result SKIP a "SKIP: a 3 - another thing # SKIP no thing"' \
	'result SKIP b "SKIP: b.sh - no other"' \
	'result PASS c "PASS: c 1 - has # SKIP in its log only"' \
	'echo "# timed out waiting for: gone 1" >>b.log' \
	'mkdir -p tests/jvm; printf "# JDK 17: /a/java\n# JDK 98: /b/java\n" >tests/jvm/test_lib.log' \
	"sleep 1000 >/dev/null 2>&1 & echo \$! >$T/sleeper"
boot "" check
is "check exits with 0 when tests pass" $? 0
is "check ends with the line of totals" "$(tail -n 1 "$T/out")" "2 passed, 0 failed"
is "check lists skipped tests by reason" \
	"$(sed -n '/skipped,/,$p' "$T/out" | tr -s ' ' | head -n 3 | tr '\n' '/')" \
	"3 skipped, by reason:/ 2 no thing/ 1 no other/"
is "check lists the JDKs that the tests ran on" "$(grep '^tested on' "$T/out")" "tested on: JDK 17, JDK 98"
ok "check lists the longest tests" grep -Eq 'the longest tests: ([abc] [0-9]+ s|$)' "$T/out" # empty where files have no time of birth
ok "check lists tests whose waits have timed out" grep -q 'waits timed out in: b$' "$T/out"
ok "check reports a process that a test left behind" grep -q "left behind and ended: process $(cat "$T/sleeper"), sleep 1000" "$T/out"
ok "check ends a process that a test left behind" wait_for 20 gone "$(cat "$T/sleeper")"
tree_with 'echo ":test-result: FAIL" >a.trs; echo "not ok 1 - wrong" >a.log; false'
boot "" check
is "check exits with 1 when a test fails" $? 1
is "check ends with the line of totals when a test fails" "$(tail -n 1 "$T/out")" "0 passed, 1 failed"

# check-long is the command for the long and the sanitized tests.
fake cc 'exit 0'
: >"$T/log/order"
chmod a+rw "$T/log/order"
tree_with 'echo ":test-result: PASS" >a.trs'
boot "" check
is "check with a C compiler exits with 0" $? 0
is "check runs check-alone at the end" "$(tr '\n' ' ' <"$T/log/order")" "check-alone "
: >"$T/log/order"
boot "" check-long || true
is "check-long runs the long and the sanitized tests" "$(tr '\n' ' ' <"$T/log/order")" "check-long check-programs "
rm "$T/bin/cc"

rm "$T/bin/apt-get"
boot "" build && status=0 || status=$?
ok "without a known package manager build lists what is needed" grep -q 'zlib1g-dev' "$T/out" || diag_file "$T/out"
done_testing
