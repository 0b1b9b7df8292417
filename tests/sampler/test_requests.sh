#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Which request samples belong to: by the attributes that a library publishes in each of the three TLS access models, beside the
# program's own clocks; too many requests; broken records; native threads; and a library that is unloaded.
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/lib.sh"

CLASSES=$builddir/tests/sampler/classes
[ -e "$CLASSES/Requests.class" ] || skip_all "no Requests.class (make check builds it)"
JAVA_FOR_ALL=$JAVA

# serve MODEL ARG...: starts the program with the library of this model
serve() {
	local model=$1
	shift
	jvm_start -XX:CompileCommand=quiet '-XX:CompileCommand=dontinline,Requests.work*' Requests \
		"$builddir/tests/sampler/librequests-$model.so" "$@"
}

# record OPTIONS...: into $T/x...
record() {
	rm -f "$T"/x*
	"$JHOT" record "$@" -o "$T/x.collapsed" -o "$T/x.jhot" "$JVM" >"$T/record" 2>&1 || diag_file "$T/record"
}

# samples CONDITION: of the stacks for which the awk condition holds
samples() {
	awk "$1 { sum += \$NF } END { print sum + 0 }" "$T/x.collapsed"
}

# part OF ALL: per mille
part() {
	echo $(($1 * 1000 / ($2 ? $2 : 1)))
}

# spans NAME: trace and span ids in the recording, merged with itself, begin with a number of their route, and nearly all samples have them
spans() {
	command -v python3 >/dev/null || { skip "$1: spans" "no python3" && return; }
	"$JHOT" merge "$T/x.jhot" "$T/x.jhot" -o "$T/y.jhot" >/dev/null 2>&1
	"$JHOT" convert "$T/y.jhot" -o "$T/y.pb.gz" >/dev/null 2>&1
	is "$1: the spans of two merged recordings are those of its routes" \
		"$(PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$srcdir/tests/export python3 - "$T/y.pb.gz" <<-'END'
			import sys, formats
			begin = {"/cart": "10", "/search": "11", "/pay": "12"}
			right = wrong = none = 0
			for _, labels, count, _ in formats.Pprof(sys.argv[1]).samples:
			    if "http.route" not in labels:
			        continue
			    ids = [labels.get("trace_id", "")[:2], labels.get("span_id", "")[:2]]
			    right += count if ids == [begin[labels["http.route"]]] * 2 else 0
			    none += count if ids == ["", ""] else 0
			    wrong += count if ids[0] and ids != [begin[labels["http.route"]]] * 2 else 0
			print(wrong, none * 100 > right, right > 200)
		END
		)" "0 False True"
}

# routes MODEL: every sample of a route's method has that route
routes() {
	local route method all cart=0 pay=0 used_cart used_pay want got
	serve "$1" routes || return
	record -e cpu=1ms -d 6
	while read -r route method; do
		all=$(samples "/Requests.$method/ && !/^.compiling/")
		ok "$at, $1: $method was sampled" [ "$all" -gt 50 ] || diag_file "$T/record"
		is "$at, $1: all samples of $method have its route" \
			"$(samples "/Requests.$method/ && !/^.compiling/ && index(\$0, \"[http.route] $route;[http.method] GET;\") != 1")" 0
		[ $method != workCart ] || cart=$all
		[ $method != workPay ] || pay=$all
	done <<-END
		/cart workCart
		/search workSearch
		/pay workPay
	END
	spans "$at, $1"
	is "$at, $1: ids of spans are not attributes" "$(grep -c local_root_span_id "$T/x.collapsed")" 0
	jvm_end
	used_cart=$(($(sed -n 's/^route 0 //p' "$JVM_OUT") / 1000000))
	used_pay=$(($(sed -n 's/^route 2 //p' "$JVM_OUT") / 1000000))
	want=$(part "$used_pay" $((used_cart + used_pay)))
	got=$(part "$pay" $((cart + pay)))
	ok "$at, $1: the routes' shares are those of the program's own clocks" [ $((got - want)) -lt 40 -a $((want - got)) -lt 40 ] ||
		diag "sampled $pay of $((cart + pay)), used $used_pay of $((used_cart + used_pay)) ms"
}

while read -r major JAVA; do
	at="JDK $major"
	for model in desc gd ie; do
		routes $model
	done
done < <(jdks_checked)
JAVA=$JAVA_FOR_ALL

serve desc routes
record -e alloc=100k -d 4
ok "allocations have routes" [ "$(samples '/^\[http.route\] /')" -gt 20 ]
is "no allocation has another route" "$(samples '/workPay/ && !/^\[http.route\] \/pay;/')" 0
"$JHOT" convert "$T/x.jhot" -I /pay -o "$T/x.collapsed" >/dev/null 2>&1
ok "a filter selects a route" [ "$(samples '/workPay/')" -gt 10 ]
is "a filter selects nothing else" "$(samples '!/^\[http.route\] \/pay;/')" 0
jvm_end

serve desc many
record -e cpu=250us -d 8
others=$(samples '/^\[other requests\]/')
if [ "$others" -gt 0 ]; then
	ok "too many requests: their samples are reported" grep -q 'contexts_lost [1-9]' "$T/record" || diag_file "$T/record"
else
	skip "too many requests: their samples are reported" "there were not more than 512 on this busy machine"
fi
ok "too many requests: some have their route" [ "$(samples '/^\[http.route\] \/item/')" -gt 20 ]
ok "too many requests: there are at most 512 routes" [ "$(grep -o '^\[http.route\] [^;]*' "$T/x.collapsed" | sort -u | wc -l)" -le 512 ]
jvm_end

serve gd broken
record -e cpu=1ms,wall=5ms,alloc -d 8
ok "broken records: the program runs" alive "$JVM"
ok "broken records: it is sampled" grep -q Requests.serveBroken "$T/x-cpu.collapsed"
jvm_end

for model in desc gd ie; do
	serve $model natives
	record -e cpu=1ms -d 4
	ok "$model: native threads are sampled" [ "$(samples /native_known/)" -gt 20 -a "$(samples /native_foreign/)" -gt 20 ] || diag_file "$T/x.collapsed"
	is "$model: all samples of a native thread have its route" "$(samples '/native_known/ && !/^\[http.route\] \/pay;/')" 0
	is "$model: a thread pointer that is not libc's leads to no route" "$(samples '/native_foreign/ && /^\[http.route\]/')" 0
	jvm_end
done

cp "$builddir/tests/sampler/librequests-gd.so" "$T/copy-gd.so"
cp "$builddir/tests/sampler/librequests-desc.so" "$T/copy-desc.so"
for copy in gd desc; do
	serve ie reload "$T/copy-$copy.so"
	record -e cpu=1ms -d 8
	ok "a library is unloaded: the program runs" alive "$JVM"
	is "a library is unloaded: the requests of others are still known" "$(samples '/Requests.workCart/ && !/^.compiling/ && !/^\[http.route\] \/cart;/')" 0
	jvm_end
done
done_testing
