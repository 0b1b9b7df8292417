#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# record --rotate and --when: files that together hold everything, limits on them, incidents with their past, JVMs that come and
# go, signals, and what is refused.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/recorder.sh"

said() {
	grep -q -- "$1" "$T/recorder.err"
}

JVM_AS='env OTEL_SERVICE_NAME=till OTEL_RESOURCE_ATTRIBUTES=service.version=1.4%2C5,region=eu,till=7' jvm_start $CALM_JVM Totals

# --- what is refused, before anything is touched ---
while IFS='|' read -r code words; do
	eval "set -- $words"
	run record "$@" "$JVM"
	is "record $words exits with $code" "$status" "$code"
done <<-ROWS
	2|--rotate 1m
	2|--rotate 1m -o -
	2|--rotate 1m -o "$D/%n.jhot"
	2|--rotate 1m -o "$D/%t/a.jhot"
	2|--rotate 1m -o "$D/%{NOT_SET}-%t.jhot"
	2|--rotate 1m -o "$D/%{HOME-%t.jhot"
	2|--rotate 10ms -o "$D/%t.jhot"
	2|--rotate 1m --keep never -o "$D/%t.jhot"
	2|--rotate 1m --keep 24h,lots -o "$D/%t.jhot"
	2|--when nonsense -o "$D/%t.jhot"
	2|--when 'cpu>80 apples' -o "$D/%t.jhot"
	2|--when 'heap>90' -o "$D/%t.jhot"
	2|--when 'cpu>2G' -o "$D/%t.jhot"
	2|--when 'gc>10' -o "$D/%t.jhot"
	2|--when why:nonsense -o "$D/%t.jhot"
	2|--when 'pool:x=idle' -o "$D/%t.jhot"
	2|--when why --before 0 -o "$D/%t.jhot"
	2|--when why --at-most 0 -o "$D/%t.jhot"
	2|--keep 3 -o "$D/%t.jhot"
	2|--exec true -o "$D/%t.jhot"
	2|--rotate 1m --before 5s -o "$D/%t.jhot"
	2|--rotate 1m --why -o "$D/%t.jhot"
	2|--rotate 1m --fraction 0 -o "$D/%t.jhot"
	2|--rotate 1m --fraction some -o "$D/%t.jhot"
	6|--rotate 1m -o "$T/nowhere/%t.jhot"
ROWS
ok "what is refused does not touch the JVM" not grep -q libjhot "/proc/$JVM/maps"
run record --when why:lock -o "$D/%t.jhot" "$JVM"
ok "an unknown rule of why is answered with the known ones" grep -q 'why:.*,locks' "$T/err"

# --- the files of one JVM: together they hold everything ---
recorder -e cpu,wall -i 5ms --rotate 3s -o "$D/%n-%t.jhot" --exec 'basename "$1" >>"'"$T/ran"'"' "$JVM"
wait_for 60 has_samples "$JVM" 1
echo "work 9000" >&"$JVM_IN"
wait_for 60 grep -q '^done' "$JVM_OUT"
recorder_end
is "SIGTERM ends the recorder with 0" $? 0
ok "there is a file per interval" files 3 || diag_file "$T/recorder.err"
becomes_quiet "afterwards nothing is sampled" "$JVM"
for event in cpu wall; do
	for f in "$D"/*.jhot; do
		"$JHOT" convert -e $event --total -o - "$f" 2>>"$T/err"
	done >"$T/$event"
	truth=$(awk -v event=$event '$1 == event { print $2 }' "$JVM_OUT")
	sum=$(weight "$T/$event" 'Totals[./]body')
	diag "$event: files $sum, program $truth"
	ok "the files add up to the program's own $event time" \
		awk -v a="$sum" -v b="$truth" 'BEGIN { exit !(b > 0 && a > 0.9 * b && a < 1.1 * b) }'
done
starts=$(for f in "$D"/*.jhot; do
	f=${f##*-}
	f=${f%.jhot}
	echo $((10#${f:0:2} * 3600 + 10#${f:2:2} * 60 + 10#${f:4:2}))
done | sort -n)
is "each file but the first begins at a whole interval" "$(echo "$starts" | awk 'NR > 1 && $1 % 3' | wc -l)" 0
is "none is missing in between" "$(echo "$starts" | awk 'NR > 2 && $1 - last != 3 { n++ } { last = $1 } END { print n + 0 }')" 0
wait_for 10 eval '[ "$(wc -l <"$T/ran")" -ge "$(ls "$D" | wc -l)" ]'
is "--exec has run for each file" "$(sort "$T/ran")" "$(ls "$D")"
is "no temporary file is left" "$(ls -A "$D" | grep -cv '\.jhot$')" 0

# --- --keep removes its own files only, the oldest first ---
for name in Totals-20200101-000000.jhot Totals-20200101-000003-cpu.jhot; do
	touch -d 2020-01-01 "$D/$name"
done
for name in Totals-notes.jhot Totals-20200101-000000.jhot.bak Other-20200101-000000.jhot Totalsx-20200101-000000.jhot; do
	echo mine >"$D/$name"
	touch -d 2020-01-01 "$D/$name"
done
ln -s "$T/out" "$D/Totals-20200101-000009.jhot"
recorder -e cpu --rotate 1s --keep 3,1h -o "$D/%n-%t.jhot" "$JVM"
wait_for 60 eval '[ "$(grep -c wrote "$T/recorder.err")" -ge 5 ]'
recorder_end
is "--keep 3 leaves three files" "$(find "$D" -type f -name 'Totals-2*.jhot' | wc -l)" 3
is "it leaves files that are not its own" "$(ls "$D" | grep -cE 'notes|bak|Other|Totalsx|000009')" 5
is "the files that are left are the youngest" "$(find "$D" -type f -name 'Totals-2020*.jhot' | wc -l)" 0
find "$D" -mindepth 1 -delete

# --- SIGUSR1: a file at once ---
ZONE=eu/1 recorder -e cpu --rotate 1h -o "$D/%{ZONE}-%t.jhot" "$JVM"
wait_for 60 has_samples "$JVM" 1 || diag_file "$T/recorder.err"
kill -USR1 "$RECORDER"
ok "SIGUSR1 writes a file before the interval is over" wait_for 30 files 1
recorder_end
is "the rest is in another one" "$(ls "$D" | wc -l)" 2
is "a variable of the environment is in the names, without slashes" "$(ls "$D" | grep -c '^eu_1-2')" 2
find "$D" -mindepth 1 -delete

# --- timeout(1) sends its signal to the process and to its group ---
recorder -e cpu --rotate 1h -o "$D/%n-%t.jhot" "$JVM"
wait_for 60 has_samples "$JVM" 1 || diag_file "$T/recorder.err"
for i in 1 2 3; do
	kill -TERM "$RECORDER" 2>/dev/null
	sleep 0.01
done
wait "$RECORDER"
is "signals in quick succession count as one" $? 0
ok "so the file is written" files 1
find "$D" -mindepth 1 -delete

# --- an incident: its file begins before it ---
recorder -e cpu --label region=us --when 'cpu>25% for 2s' --before 60s --after 2s -o "$D/%n-%t.jhot" "$JVM"
wait_for 60 said "recording $JVM" || diag_file "$T/recorder.err"
sleep 4 # a past without the incident
ok "while nothing happens, no file is written" not files 1
begin=$(date -u +%s)
echo "work 9000" >&"$JVM_IN"
ok "an incident is written" wait_for 60 files 1 || diag_file "$T/recorder.err"
file=$(echo "$D"/*-cpu.jhot)
ok "its name has the rule" [ -s "$file" ]
f=${file%-cpu.jhot}
at=$(date -u -d "${f: -15:8} ${f: -6:2}:${f: -4:2}:${f: -2:2}" +%s)
diag "it begins $((begin - at)) s before the work"
ok "it begins before its cause" [ "$((begin - at))" -ge 3 ]
"$JHOT" convert -e cpu --total -o - "$file" >"$T/cpu" 2>/dev/null
ok "and contains it" awk -v ns="$(weight "$T/cpu" 'Totals[./]body')" 'BEGIN { exit !(ns > 1e9) }'
"$JHOT" convert -o "$T/incident.html" "$file" >/dev/null 2>&1
ok "the rule is a label" grep -q 'cpu&gt;25% for 2s\|cpu>25% for 2s' "$T/incident.html"
for label in service.name=till 'service.version=1.4,5' region=us till=7; do
	ok "the service is a label, and --label overrides it: $label" grep -q "$label" "$T/incident.html"
done
ok "a label is given once" not grep -q 'region=eu' "$T/incident.html"
wait_for 30 eval '[ "$(grep -c "^done" "$JVM_OUT")" = 2 ]'
sleep 3 # the rule is rearmed
echo "work 4000" >&"$JVM_IN"
ok "the next incident, with the same start, does not replace it" wait_for 60 files 2 || diag_file "$T/recorder.err"
recorder_end
find "$D" -mindepth 1 -delete

# --- --fraction: all hosts at 100 %, this one or not at less, but always the same ---
recorder -e cpu --rotate 1s --fraction 0.000001% -o "$D/%t.jhot" "$JVM"
ok "a host that is not selected waits" wait_for 30 said 'not among'
recorder_end
is "until a signal" $? 0
ok "and does not touch the JVM" quiet "$JVM"
recorder -e cpu --rotate 1s --fraction 100% -o "$D/%t.jhot" "$JVM"
ok "at 100 % each host is selected" wait_for 60 said "recording $JVM"
recorder_end
find "$D" -mindepth 1 -delete

# --- a full disk is survived: what could not be written is in a later file ---
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=64k none "$D" 2>/dev/null; then
	dd if=/dev/zero of="$D/full" bs=1k count=64 2>/dev/null
	recorder -e cpu --rotate 1s -o "$D/%t.jhot" "$JVM"
	ok "a full disk is reported" wait_for 60 said 'Cannot write'
	rm "$D/full"
	ok "and survived" wait_for 60 files 2
	recorder_end
	first=$(ls "$D" | head -n 1)
	second=$(ls "$D" | sed -n 2p)
	s() { echo $((10#${1:9:2} * 3600 + 10#${1:11:2} * 60 + 10#${1:13:2})); }
	ok "the first file has what could not be written before" [ $(($(s "$second") - $(s "$first"))) -ge 2 ]
	find "$D" -mindepth 1 -delete
	dd if=/dev/zero of="$D/full" bs=1k count=64 2>/dev/null
	recorder -e cpu --when 'cpu>10%' --after 1s -o "$D/%t.jhot" "$JVM"
	wait_for 60 said "recording $JVM"
	echo "work 3000" >&"$JVM_IN"
	wait_for 60 said 'Cannot write'
	rm "$D/full"
	ok "an incident is written when there is space again" wait_for 60 files 1
	recorder_end
	umount "$D"
else
	skip "a full disk is reported" "needs root and mount"
fi
jvm_end

# --- by name: JVMs that come and go ---
recorder -e cpu --rotate 1s -o "$D/%n-%p-%t.jhot" Totals
ok "without a JVM of the name, the recorder waits" wait_for 30 said 'waiting for a JVM named "Totals"'
jvm_start $CALM_JVM Totals
first=$JVM
ok "a JVM that starts later is recorded" wait_for 60 eval "ls $D | grep -q -- -$first-" || diag_file "$T/recorder.err"
jvm_start $CALM_JVM Totals
second=$JVM
ok "so is a second one of the same name" wait_for 60 eval "ls $D | grep -q -- -$second-"
jvm_end "$first"
ok "the end of a JVM is reported" wait_for 30 said "$first Totals ended"
jvm_start $CALM_JVM Totals
third=$JVM
ok "the JVM that replaces it is recorded" wait_for 60 eval "ls $D | grep -q -- -$third-"
jvm_start $CALM_JVM -XX:+DisableAttachMechanism Totals
refused=$JVM
ok "a JVM that cannot be attached is reported" wait_for 60 said "Process $refused .* cannot be attached" || diag_file "$T/recorder.err"
jvm_start $CALM_JVM Totals
fourth=$JVM
ok "and does not keep others from being recorded" wait_for 30 eval "ls $D | grep -q -- -$fourth-"
run stop "$fourth"
is "jhot stop of a JVM of a recorder exits with 0" "$status" 0
ok "the recorder says that it does not record that JVM any more" wait_for 30 said "$fourth Totals is not recorded any more" || diag_file "$T/recorder.err"
ok "its last file is written" wait_for 10 said "wrote .*-$fourth-"
sleep 5
ok "and it does not attach to it again" quiet "$fourth"
ok "the other JVMs are still recorded" sampling "$third"
kill -KILL "$RECORDER"
wait "$RECORDER" 2>/dev/null
becomes_quiet "a killed recorder leaves no session: second JVM" "$second"
becomes_quiet "a killed recorder leaves no session: third JVM" "$third"
jvm_end "$second"
is "a recorded JVM ends as usual" $? 0
jvm_end "$third"
jvm_end "$refused"
jvm_end "$fourth"

# --- the examples of the manual ---
# example WORD...: runs the words after "jhot", with our folder in place of theirs; it must start to wait for JVMs
example() {
	local words=()
	for word; do
		word=${word//\/var\/lib\/jhot/$D}
		words+=("${word//\/profiles/$D}")
	done
	[ "${words[0]}" = record ] || return 1
	recorder "${words[@]:1}"
	wait_for 30 said waiting
	recorder_end
}
unit=$(sed -n 's,^ExecStart=/usr/bin/jhot ,,p' "$srcdir/doc/examples/jhot-record@.service" | sed 's,%i,Till,; s,%%,%,g')
eval "ok 'the command of the systemd unit works' example $unit" || diag_file "$T/recorder.err"
args=$(sed -n 's/^ *args: \[\(.*\)\]$/\1/p' "$srcdir/doc/examples/sidecar.yaml" | sed 's/, / /g; s/"24h,2G"/24h,2G/; s/"//g')
eval "ok 'the command of the sidecar works' example ${args/Shop/Till}" || diag_file "$T/recorder.err"

done_testing
