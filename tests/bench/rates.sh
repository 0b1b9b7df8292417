#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench ROWS=rates: cost for programs that start threads, mount virtual threads, or wait for a lock at the highest rate:
# operations per second and CPU time per operation, agent included, relative to the same JVM before the first session. An event
# may affect a JVM until it ends (since JDK 21, alloc makes each mount longer), so each turn has JVMs of its own, and alloc comes
# last. ASPROF=PATH: async-profiler is interleaved, with the same event.
#
#   TURNS=5    SECONDS_EACH=3 of each    MAJORS="17 25"    ONLY=waits
. "$(dirname "$0")/lib.sh"

TURNS=${TURNS:-5}
LONG=${SECONDS_EACH:-3}
MAJORS=${MAJORS:-17 21 25}

# measured NAME: records "NAME RATE NS" from the lines that the program prints meanwhile, except for the first and the last, and
# the same of the JVM's first measurement, in one line
measured() {
	local before figures
	before=$(wc -l <"$JVM_OUT")
	sleep "$LONG"
	figures=$(tail -n +$((before + 2)) "$JVM_OUT" |
		awk '/^rate/ { n += $2; cpu += $3; lines++ } END { if (n) printf "%.0f %.0f\n", 2 * n / lines, cpu / n }')
	first=${first:-$figures}
	echo "$1 $figures $first" >>"$T/turns"
}

# sampled NAME COMMAND...: measures while COMMAND samples
sampled() {
	local name=$1
	shift
	"$@" >/dev/null 2>&1 </dev/null &
	sleep 1
	measured "$name"
	kill -TERM $! 2>/dev/null
	wait $!
	sleep 0.5
}

# mode of Rates | the oldest JDK that supports it | the event
kinds() {
	cat <<'END'
starts  8  cpu
mounts  21 cpu
waits   8  lock
holders 21 lock
END
}

# fresh MODE: a JVM that had no session
fresh() {
	first=
	jvm_start -Xmx256m Rates "$1" || exit 1
	sleep 3
	measured nothing
}

# turn WHAT EVENT
turn() {
	fresh "$1"
	sampled jhot "$JHOT" record -e "$2" -d 600 -o "$T/x.collapsed" "$JVM"
	measured nothing
	sampled jhot-all "$JHOT" record -e cpu,alloc,lock,wall -d 600 -o "$T/x.collapsed" "$JVM"
	jvm_end
	[ -n "$ASPROF" ] || return 0
	fresh "$1"
	sampled async-profiler "$ASPROF" -e "$2" -d $((LONG + 1)) -o collapsed -f "$T/y.collapsed" "$JVM"
	jvm_end
}

# print_rows MAJOR MODE: prints medians, and their ratios to the same JVM's first measurement
print_rows() {
	python3 - "$T/turns" "$1" "$2" <<'PYTHON'
import statistics, sys

rows = {}
for line in open(sys.argv[1]):
    name, *figures = line.split()
    rows.setdefault(name, []).append([float(f) for f in figures])
rows["nothing"] = [v for v in rows["nothing"] if v[:2] != v[2:]]  # not the first itself
for name, values in rows.items():
    rate, ns = (statistics.median(v[i] for v in values) for i in (0, 1))
    loss = statistics.median(100 * (1 - v[0] / v[2]) for v in values)
    more = statistics.median(100 * (v[1] / v[3] - 1) for v in values)
    print("JDK %s %-7s %-15s %9.0f a second (%+5.1f %%)  %7.2f us of CPU each (%+5.1f %%)" %
          (sys.argv[2], sys.argv[3], name, rate, -loss, ns / 1000, more))
kinds = {"starts": "threads that start", "mounts": "virtual threads that are mounted", "waits": "waits for a monitor",
         "holders": "waits of virtual threads for a lock"}
for name, values in rows.items():
    who, kind = ("jhot", ", all events") if name == "jhot-all" else (name, "")
    print("= %s, JDK %s%s: CPU of each | %s | of nothing's | - | %s" %
          (kinds[sys.argv[3]], sys.argv[2], kind, who, " ".join("%.4f" % (v[1] / v[3]) for v in values)))
PYTHON
}

while read -r major java <&4; do
	JAVA=$java
	while read -r what oldest event <&3; do
		[[ $major -ge $oldest && $what =~ ${ONLY:-.} ]] || continue
		: >"$T/turns"
		for ((i = 0; i < TURNS; i++)); do
			turn "$what" "$event"
		done
		print_rows "$major" "$what"
	done 3< <(kinds)
done 4< <(jdks $MAJORS)
