#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench-restarts: a service that is restarted again and again while `jhot record NAME --rotate` records it, and a recorder that
# is killed again and again while it records. Do the files hold all of the program's own CPU time, but for what is known to be lost?
#
#   RESTARTS=50   of the JVM      KILLS=50   of the recorder (SIGKILL)
#
# One line per turn: the program's CPU time while it was being recorded, and that in the files; for kills, which files there are
# afterwards: none may be incomplete, whatever was being written.
. "$(dirname "$0")/../jvm/lib.sh"

RESTARTS=${RESTARTS:-50}
KILLS=${KILLS:-50}
D=$T/files

# note TEXT: a line of the table
note() {
	echo "$*" | tee -a "$T/table"
}

recorder() {
	"$JHOT" record -e cpu -i 2ms --rotate 2s -o "$D/%p-%t.jhot" Totals >>"$T/said" 2>&1 </dev/null &
	RECORDER=$!
}

recorder_end() {
	kill -TERM $RECORDER
	wait $RECORDER
}

# in_files: ns of the bodies of Totals in all files of $JVM
in_files() {
	local f
	for f in "$D/$JVM"-*.jhot; do
		[ ! -e "$f" ] || "$JHOT" convert -e cpu --total -o - "$f" 2>/dev/null
	done >"$T/all"
	weight "$T/all" 'Totals[./]body'
}

said_done() {
	grep -q '^done' "$JVM_OUT"
}

truth() {
	awk '$1 == "cpu" { print $2 }' "$JVM_OUT"
}

# restart N: a JVM that is recorded from before its work until after its end
restart() {
	jvm_start $CALM_JVM Totals || return
	wait_for 60 has_samples "$JVM" 1
	echo "work 1500" >&"$JVM_IN"
	wait_for 60 said_done
	jvm_end
	wait_for 20 grep -q "$JVM Totals ended" "$T/said"
	sleep 0.3
	note "restart $1: $(truth) ns of CPU time, $(in_files) in $(find "$D" -name "$JVM-*" | wc -l) files"
	find "$D" -mindepth 1 -delete
}

# killed N: the recorder is killed in the middle of the work; the next one records the rest
killed() {
	local pid
	recorder
	wait_for 60 has_samples "$JVM" 1
	sleep "$((1 + RANDOM % 6)).$((RANDOM % 10))"
	pid=$(pgrep -P $RECORDER -x jhot)
	# shellcheck disable=SC2086
	kill -KILL $RECORDER $pid
	wait $RECORDER 2>/dev/null
	wait_for 20 quiet "$JVM" || note "kill $1: the JVM is still being sampled"
	alive "$JVM" || note "kill $1: THE JVM HAS ENDED"
	note "kill $1: $(find "$D" -name "$JVM-*.jhot" | wc -l) whole files, $(find "$D" -mindepth 1 -not -name '*.jhot' | wc -l) others"
}

mkdir -p "$D"
recorder
for ((turn = 1; turn <= RESTARTS; turn++)); do
	restart $turn
done
recorder_end
awk '/CPU time/ { n++; truth += $3; files += $8; r = $8 / $3; if (!least || r < least) least = r; if (r > most) most = r }
	END { if (n) printf "%d restarts: %.3f of the CPU time is in the files (%.3f to %.3f)\n", n, files / truth, least, most }' \
	"$T/table"
[ "$KILLS" -gt 0 ] || exit 0
jvm_start $CALM_JVM Totals || exit
echo "work 3600000" >&"$JVM_IN"
for ((turn = 1; turn <= KILLS; turn++)); do
	killed $turn
done
awk '/whole files/ { n++; whole = $3; others = $6 } /THE JVM/ { dead++ } /still/ { sampled++ }
	END { printf "%d kills: %d whole files, %d others, %d JVMs ended, %d still sampled after 20 s\n", n, whole, others, dead, sampled }' "$T/table"
