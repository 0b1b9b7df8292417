#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# jhot convert and jhot view on files: output, several files merged, times, keys, errors.
. "$(dirname "$0")/../jvm/lib.sh"

# screen KEYS FILE...: prints one screen of the view after these keys
screen() {
	run view --ascii --dump-screen 100x30 --keys "$@"
}

cat >"$T/a.collapsed" <<'END'
[main tid=7];a/B.main_[j];a/B.work_[j] 30
[main tid=7];a/B.main_[j];malloc 12
[pool-1-thread-1 tid=8];a/B.run_[0];a/B.work_[i] 5
END
sed 's/a.B.work/a\/B.other/' "$T/a.collapsed" >"$T/b.folded"

# --- convert ---
run convert "$T/a.collapsed"
is "convert of collapsed stacks exits with 0" $status 0
ok "convert prints the hottest method with its share" grep -Eq ' 74\.5 .* 35 +[Jji] +a\.B\.work$' "$T/out"
run convert -t -a -o - "$T/a.collapsed"
sort "$T/a.collapsed" >"$T/want"
sort "$T/out" >"$T/got"
same "collapsed stacks survive conversion" "$T/got" "$T/want"
for packer in gzip zstd xz lz4; do
	if ! command -v $packer >/dev/null; then
		skip "collapsed stacks compressed with $packer" "$packer is not installed"
		continue
	fi
	case $packer in gzip) suffix=gz ;; zstd) suffix=zst ;; *) suffix=$packer ;; esac
	$packer -q -k -c "$T/a.collapsed" >"$T/a.collapsed.$suffix"
	run convert -t -a -o - "$T/a.collapsed.$suffix"
	sort "$T/out" >"$T/got"
	same "collapsed stacks compressed with $packer are read" "$T/got" "$T/want"
	gunzip -c "$srcdir/tests/import/async_profiler.jfr.gz" | $packer -q -c >"$T/packed"
	run convert -e cpu -o "$T/plain.collapsed" "$srcdir/tests/import/async_profiler.jfr.gz"
	"$JHOT" convert -e cpu -o "$T/packed.collapsed" - <"$T/packed" 2>"$T/err"
	same "a JFR recording compressed with $packer is read from stdin" "$T/packed.collapsed" "$T/plain.collapsed"
done
"$JHOT" convert -t -a -o - - <"$T/a.collapsed" 2>/dev/null | sort >"$T/got"
same "collapsed stacks are read from stdin" "$T/got" "$T/want"
run convert -t -a -o - "$T/a.collapsed" "$T/b.folded" "$T/a.collapsed"
sort "$T/out" >"$T/got"
same "three files are merged" "$T/got" <(sort <<'END'
[main tid=7];a/B.main_[j];a/B.other_[j] 30
[main tid=7];a/B.main_[j];a/B.work_[j] 60
[main tid=7];a/B.main_[j];malloc 36
[pool-1-thread-1 tid=8];a/B.run_[0];a/B.other_[i] 5
[pool-1-thread-1 tid=8];a/B.run_[0];a/B.work_[i] 10
END
)
run convert -I main -X malloc -o - "$T/a.collapsed"
is "-I and -X filter stacks" "$(cat "$T/out")" 'a/B.main;a/B.work 30'
run convert -o "$T/x.svg" -o "$T/x.pb.gz" -o "$T/x.jfr" -o "$T/x.speedscope.json" -o "$T/x.txt" "$T/a.collapsed"
is "convert to five formats exits with 0" $status 0
ok "convert to five formats writes five files" [ -s "$T/x.svg" -a -s "$T/x.pb.gz" -a -s "$T/x.jfr" -a -s "$T/x.speedscope.json" -a -s "$T/x.txt" ]

# --- async-profiler's own recording ---
# It has cpu, alloc, lock and wall on JDK 17. The file beside it is the output of its own converter, with threads and dotted names, cpu and
# wall in samples. The converter gives native frames the class name of their library.
theirs=$srcdir/tests/import/async_profiler
for event in cpu wall alloc lock; do
	total=
	[ $event = cpu ] || [ $event = wall ] || total=--total
	sed -n "s/^$event //p" "$theirs.collapsed" | sed 's,[+/]0x,.0x,g' | sort >"$T/want"
	run convert -t --dot $total -e $event -o - "$theirs.jfr.gz"
	sed 's,[+/]0x,.0x,g' "$T/out" | sort >"$T/got"
	same "async-profiler's $event has the stacks of its own converter ($(wc -l <"$T/want"))" "$T/got" "$T/want"
done
run convert "$theirs.jfr.gz"
ok "async-profiler's intervals are shown" [ "$(grep -Eo '^(cpu|wall) every [0-9]+ ms' "$T/out" | tr '\n' ';')" = \
	"cpu every 10 ms;wall every 100 ms;" ]
ok "native frames of async-profiler have their library" grep -Eq ' n +\[lib(c.so.6|jvm.so)\] ' "$T/out"

# A JVM that was killed leaves complete chunks and a torn one.
gunzip -c "$theirs.jfr.gz" >"$T/whole.jfr"
{ cat "$T/whole.jfr"; head -c 9000 "$T/whole.jfr"; } >"$T/torn.jfr"
run convert -t --dot -e cpu -o - "$T/whole.jfr"
mv "$T/out" "$T/want"
run convert -t --dot -e cpu -o - "$T/torn.jfr"
same "complete chunks of a torn recording are read" "$T/out" "$T/want"
ok "the error says from which byte on a torn recording is damaged" grep -q "torn.jfr: The file is damaged or incomplete from byte $(stat -c %s "$T/whole.jfr") on" "$T/err"
head -c 9000 "$T/whole.jfr" >"$T/torn.jfr"
run convert -e cpu "$T/torn.jfr"
is "a recording without a complete chunk exits with 7" $status 7

# --- a part of the time ---
run convert --from 5 --to 10 -o "$T/part.collapsed" "$srcdir/tests/tui/h2.jhot"
is "--from and --to: the printed number of samples is that in the file" \
	"$(sed -n 's/^cpu.*, 5\.0 s: \([0-9]*\) samples.*/\1/p' "$T/err")" "$(awk '{ n += $NF } END { print n }' "$T/part.collapsed")"

# --- input and usage errors ---
echo 'not a profile' >"$T/text"
: >"$T/empty"
printf 'a;b 1\na;c\n' >"$T/bad.collapsed"
for row in "7 $T/none" "7 $T" "7 $T/text" "7 $T/empty" "7 $T/bad.collapsed" "7 $T/x.svg" \
	"2 --from 5 $T/a.collapsed" "2 --memory much $T/a.collapsed" "2 -e nonsense $T/a.collapsed"; do
	read -r want args <<<"$row"
	run convert $args
	is "convert $args exits with $want" $status "$want"
	ok "the error of convert $args has the block What happened" grep -q 'What happened' "$T/err"
done
run convert "$T/bad.collapsed"
ok "the error of a malformed file has the line" grep -q 'line 2' "$T/err"
run convert --memory 16k "$T/a.collapsed"
is "a profile larger than --memory exits with 7" $status 7
ok "the error suggests --memory" grep -q -e '--memory' "$T/err"

# --- view ---
run view "$T/a.collapsed"
is "view without a terminal exits with 2" $status 2
ok "the error suggests jhot convert" grep -q 'jhot convert' "$T/err"
screen '' "$T/a.collapsed"
is "view --dump-screen exits with 0" $status 0
ok "the view shows the file's name" grep -q 'jhot a.collapsed .*FILE' "$T/out"
ok "the view shows all samples" grep -q 'window all .*47 samples' "$T/out"
ok "the view shows the methods" grep -Eq '74\.5 .* a\.B\.work' "$T/out"
screen t "$T/a.collapsed"
ok "key t shows the threads" grep -q 'pool-1-thread-1' "$T/out"
screen T "$T/a.collapsed"
ok "key T shows the call tree" grep -Eq '89.4 .* a.B.main' "$T/out"
screen f "$T/a.collapsed"
ok "key f shows the flame graph" grep -q "B.main" "$T/out"
screen $'/malloc\n' "$T/a.collapsed"
ok "key / finds a method" grep -q 'malloc' "$T/out"
screen I "$T/a.collapsed"
ok "key I shows the file's path" grep -q "file .*$T/a.collapsed" "$T/out"
for key in ' ' r d c; do
	screen "$key" "$T/a.collapsed"
	ok "key \"$key\" reports that it does not apply to a recording" grep -Eq 'A recording (is|does) not|This is a recording' "$T/out"
done
screen , "$T/a.collapsed"
ok "key , reports that the file has no timestamps" grep -q 'have no timestamps' "$T/out"
run view --json "$T/a.collapsed"
is "view --json exits with 2" $status 2

done_testing
