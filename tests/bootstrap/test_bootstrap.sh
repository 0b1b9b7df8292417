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
# installed: the packages that dpkg-query knows; asked: what apt-get was called with
fake dpkg-query "grep -qx \"\$4\" $T/log/installed && echo 'ii '"
fake apt-cache "[ \"\$2\" = openjdk-17-jdk-headless ] && echo '  Candidate: (none)' || echo '  Candidate: 1'"
fake apt-get "echo \"\$@\" >>$T/log/asked; for p in \"\$@\"; do case \$p in -*) ;; *) echo \$p >>$T/log/installed ;; esac; done"
fake autoreconf "echo >configure; echo 'exit 3' >>configure; chmod +x configure; touch Makefile.in"
chmod -R a+rwX "$T"

# boot AS ARG...: runs it in the clean environment
boot() {
	local as=$1
	shift
	$as env -i PATH="$T/bin" HOME="$T" "$T/tree/bootstrap" "$@" >"$T/out" 2>&1 </dev/null
}

boot "" && status=0 || status=$?
is "without a word it tells what it can do" "$status $(head -n 1 "$T/out" | cut -d ' ' -f 1-3)" "0 usage: ./bootstrap demo"
boot "" nonsense && status=0 || status=$?
is "an unknown word is an error" $status 2

: >"$T/log/installed"
: >"$T/log/asked"
if [ "$(id -u)" = 0 ]; then
	boot "$AS_OTHER" build && status=0 || status=$?
	is "neither root nor sudo: it stops" $status 1
	ok "and says so" grep -q 'neither root nor able to use sudo: gcc g++ make' "$T/out"
	is "without asking apt-get" "$(cat "$T/log/asked")" ""

	rm -rf "$T/tree/build"
	boot "" check && status=0 || status=$?
	ok "as root it updates once" [ "$(grep -c ' update' "$T/log/asked")" = 1 ]
	ok "and installs" grep -q ' install .*gcc .*zlib1g-dev' "$T/log/asked"
	ok "takes the JDK that is to be had" grep -qE ' openjdk-17-jdk( |$)' "$T/log/asked"
	ok "and what the tests want" grep -q ' install .*libvterm-dev' "$T/log/asked"
	ok "configure's failure is told" grep -q 'configure failed' "$T/out"
	is "a failed check ends in the counting line" "$status $(tail -n 1 "$T/out")" "1 0 passed, 1 failed"

	: >"$T/log/asked"
	boot "" check && status=0 || status=$?
	is "what is there is not installed again" "$(cat "$T/log/asked")" ""

	chown -R nobody "$T/tree"
	boot "" check
	is "what root made belongs to the tree's owner" "$(find "$T/tree" -user root)" ""
else
	skip "installing as root" "not root"
fi

# --- a check that ends ---

# tree_with CHECK-LINE...: a tree that builds at once, whose tests are these lines of a shell
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
	'mkdir -p tests/jvm; printf "# JDK 17: /a/java\n# JDK 98: /b/java\n" >tests/jvm/test_lib.log' \
	"sleep 1000 >/dev/null 2>&1 & echo \$! >$T/sleeper"
boot "" check
is "tests that pass: exit 0" $? 0
is "the counting line is the last" "$(tail -n 1 "$T/out")" "2 passed, 0 failed"
is "before it skips by their reasons" \
	"$(sed -n '/skipped,/,$p' "$T/out" | tr -s ' ' | head -n 3 | tr '\n' '/')" \
	"3 skipped, by reason:/ 2 no thing/ 1 no other/"
is "and the JDKs that the tests ran on" "$(grep '^tested on' "$T/out")" "tested on: JDK 17, JDK 98"
ok "a process that a test left behind is told" grep -q "left behind and ended: process $(cat "$T/sleeper"), sleep 1000" "$T/out"
ok "and ended" wait_for 20 gone "$(cat "$T/sleeper")"
tree_with 'echo ":test-result: FAIL" >a.trs; echo "not ok 1 - wrong" >a.log; false'
boot "" check
is "a test that fails: exit 1" $? 1
is "and a last line that says so" "$(tail -n 1 "$T/out")" "0 passed, 1 failed"

# Long tests and the sanitized ones have a command of their own.
fake cc 'exit 0'
: >"$T/log/order"
chmod a+rw "$T/log/order"
tree_with 'echo ":test-result: PASS" >a.trs'
boot "" check
is "check: exit 0" $? 0
is "it runs what measures at the end" "$(tr '\n' ' ' <"$T/log/order")" "check-alone "
: >"$T/log/order"
boot "" check-long || true
is "check-long runs the long tests and the sanitized ones" "$(tr '\n' ' ' <"$T/log/order")" "check-long check-programs "
rm "$T/bin/cc"

rm "$T/bin/apt-get"
boot "" build && status=0 || status=$?
ok "elsewhere it lists what is needed" grep -q 'zlib1g-dev' "$T/out" || diag_file "$T/out"
done_testing
