#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The class that `jhot agent --requests` writes: a program without OpenTelemetry publishes known spans on known work.
. "$(dirname "$0")/../jvm/lib.sh"

CLASSES=$builddir/tests/sampler/classes
[ -e "$CLASSES/Spans.class" ] || skip_all "no Spans.class (make check builds it)"
command -v python3 >/dev/null || skip_all "no python3"

run agent --requests -o "$T"
is "agent --requests exits with 0" "$status" 0
ok "it prints how to use the library" grep -q -- "-Djhot.request=$(realpath "$T")/libjhotrequest.so" "$T/out"
ok "it writes the class that this test compiles" cmp "$T/Request.java" "$srcdir/src/request/Request.java"
ok "the library needs no other" eval '! readelf -d "$T/libjhotrequest.so" | grep -q NEEDED'
run agent --requests -o "$T/nowhere"
is "a folder that does not exist: exits with 6" "$status" 6

# judge FILE: samples per thousand of methods with a span that have the right route, user and span; then those that are wrong, those of
# other work with any of it, and whether all four were sampled
judge() {
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$srcdir/tests/export python3 - "$1" "$2" <<-'END'
		import collections, sys, formats
		want = {"workCart": ("/cart", "10"), "workPay": ("/pay", "11")}
		seen, right, wrong, stray = collections.Counter(), 0, 0, 0
		for stack, labels, count, _ in formats.Pprof(sys.argv[1]).samples:
		    method = next((m for m in ("workCart", "workPay", "workNone", "workVirtual") if "Spans." + m in stack), None)
		    if not method:
		        continue
		    seen[method] += count
		    have = [labels.get(k, "") for k in ("http.route", "http.method", "user", "trace_id", "span_id")]
		    route, begin = want.get(method, ("", ""))
		    if not route:
		        stray += count if any(have) else 0
		    elif not any(have):
		        pass
		    elif (have[0] == route and not have[1] and have[2].startswith("user-") and len(have[3]) == 32
		            and have[3][:16] == have[3][16:] == have[4] and have[4][:2] == begin and have[4][-2:] == "0" + have[2][-1]):
		        right += count
		    else:
		        wrong += count
		print(right * 1000 // max(seen["workCart"] + seen["workPay"], 1), wrong, stray,
		      all(seen[m] > 20 for m in ["workCart", "workPay", "workNone"] + ["workVirtual"][:int(sys.argv[2])]))
	END
}

while read -r major JAVA; do
	at="JDK $major"
	jvm_start -XX:CompileCommand=quiet '-XX:CompileCommand=dontinline,Spans.work*' "-Djhot.request=$T/libjhotrequest.so" Spans
	is "$at: the names are published once" "$(head -n 1 "$JVM_OUT")" "true false"
	"$JHOT" record -e cpu=1ms -d 5 -o "$T/x.pb.gz" "$JVM" >"$T/record" 2>&1 || diag_file "$T/record"
	read -r right wrong stray sampled < <(judge "$T/x.pb.gz" $((major >= 21)))
	is "$at: all kinds of work are sampled" "$sampled" True
	ok "$at: at least 99 % of the samples have their span" [ "$right" -ge 990 ] || diag "$right of 1000"
	is "$at: no sample has a wrong span" "$wrong" 0
	is "$at: no sample of other work, or of a virtual thread, has a span" "$stray" 0
	jvm_end

	jvm_start Spans
	is "$at: without the library, the program runs" "$(head -n 1 "$JVM_OUT")" "false false"
	jvm_end
done < <(jdks_checked)
done_testing
