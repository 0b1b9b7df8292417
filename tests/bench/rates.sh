#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench ROWS=rates: what jhot costs programs that start threads, or mount virtual ones, as often as they can: operations a second and CPU
# time of each, agent included, sampled and not by turns on the same JVM. ASPROF=PATH has async-profiler take turns, too.
#   TURNS=8    SECONDS_EACH=4 of each    MAJORS="17 25"
. "$(dirname "$0")/lib.sh"

TURNS=${TURNS:-8}
LONG=${SECONDS_EACH:-4}
MAJORS=${MAJORS:-17 21 25}

# measured NAME: the lines that the program prints meanwhile, but for those of the beginning and the end of the turn
measured() {
	local before
	before=$(wc -l <"$JVM_OUT")
	sleep "$LONG"
	tail -n +$((before + 2)) "$JVM_OUT" | awk -v name="$1" '/^rate/ { n += $2; cpu += $3; lines++ }
		END { if (n) printf "%s %.0f %.0f\n", name, 2 * n / lines, cpu / n }' >>"$T/turns"
}

# sampled NAME COMMAND...: while that samples
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

turn() {
	measured nothing
	sampled jhot "$JHOT" record -d 600 -o "$T/x.collapsed" "$JVM"
	sampled jhot-all "$JHOT" record -e cpu,alloc,lock,wall -d 600 -o "$T/x.collapsed" "$JVM"
	[ -z "$ASPROF" ] || sampled async-profiler "$ASPROF" -e cpu -d $((LONG + 1)) -o collapsed -f "$T/y.collapsed" "$JVM"
}

# told MAJOR WHAT: medians, and how they are to "nothing" of the same turn
told() {
	python3 - "$T/turns" "$1" "$2" <<'PYTHON'
import statistics, sys

rows = {}
for line in open(sys.argv[1]):
    name, rate, ns = line.split()
    rows.setdefault(name, []).append((float(rate), float(ns)))
for name, values in rows.items():
    pairs = list(zip(values, rows["nothing"]))
    rate, ns = (statistics.median(v[i] for v in values) for i in (0, 1))
    loss = statistics.median(100 * (1 - v[0] / n[0]) for v, n in pairs)
    more = statistics.median(100 * (v[1] / n[1] - 1) for v, n in pairs)
    print("JDK %s %-7s %-15s %9.0f a second (%+5.1f %%)  %7.2f us of CPU each (%+5.1f %%)" %
          (sys.argv[2], sys.argv[3], name, rate, -loss, ns / 1000, more))
kinds = {"starts": "threads that start", "mounts": "virtual threads that are mounted"}
for name, values in rows.items():
    who, kind = ("jhot", ", all events") if name == "jhot-all" else (name, "")
    print("= %s, JDK %s%s: CPU of each | %s | of nothing's | - | %s" %
          (kinds[sys.argv[3]], sys.argv[2], kind, who, " ".join("%.4f" % (v[1] / n[1]) for v, n in zip(values, rows["nothing"]))))
PYTHON
}

while read -r major java; do
	for what in starts mounts; do
		[ "$what" = starts ] || [ "$major" -ge 21 ] || continue
		JAVA=$java
		jvm_start -Xmx256m Rates "$what" || exit 1
		sleep 3
		: >"$T/turns"
		for ((i = 0; i < TURNS; i++)); do
			turn
		done
		told "$major" "$what"
		jvm_end
	done
done < <(jdks $MAJORS)
