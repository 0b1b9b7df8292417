#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make bench-incidents: services with one incident each, at a random moment, recorded with --when. Is there a file, does it begin
# before the incident, and does its name say which? And is there none of services in which nothing happens?
#
#   MINUTES=60   how long each is recorded    EACH=5    services per kind of incident, of which there are four, and healthy ones
#   AT_ONCE=10   services that run at the same time
. "$(dirname "$0")/../jvm/lib.sh"

MINUTES=${MINUTES:-60}
EACH=${EACH:-5}
AT_ONCE=${AT_ONCE:-10}
SPAN=$((MINUTES * 60))
rules=(--when 'cpu>60% for 3s' --when 'gc>20%' --when 'pool:http-*=busy for 4s' --when why)
declare -A names=([cpu]='-cpu\.' [gc]='-gc\.|-why-(gc|heap|stops)\.' [pool]='-pool\.|-why-pool\.' [deadlock]='-why-deadlock\.')

# service KIND N: prints one row of the table
service() {
	local kind=$1 at=$((70 + RANDOM % (SPAN - 130))) recorder begun=- name file files=0 named=no before=-
	T=$T/$kind$2
	mkdir "$T"
	JVMS=()
	jvm_start -Xmx40m -XX:+UseSerialGC Incidents || return
	"$JHOT" record "${rules[@]}" --at-most 60 -o "$T/%n-%t.jhot" "$JVM" >"$T/said" 2>&1 </dev/null &
	recorder=$!
	sleep "$at"
	[ "$kind" = healthy ] || echo "$kind" >&"$JVM_IN"
	sleep $((SPAN - at))
	kill -TERM "$recorder"
	wait "$recorder"
	begun=$(awk '$1 == "began" { print $3 }' "$JVM_OUT")
	for file in "$T"/*.jhot; do
		[ -e "$file" ] || continue
		files=$((files + 1))
		name=${file##*/}
		[ "$kind" != healthy ] && [[ $name =~ ${names[$kind]} ]] && [ "$named" = no ] || continue
		named=yes
		name=${name#Incidents-}
		before=$((begun - $(date -u -d "${name:0:8} ${name:9:2}:${name:11:2}:${name:13:2}" +%s)))
	done
	printf '%-9s %6s s %6d %-6s %8s   %s\n' "$kind" "$at" "$files" "$named" "$before" "$(cd "$T" && echo *.jhot)"
	jvm_kill
}

printf '%-9s %8s %6s %-6s %8s\n' incident at files named 's before'
running=0
for ((n = 1; n <= EACH; n++)); do
	for kind in cpu gc pool deadlock healthy; do
		(service $kind $n) &
		running=$((running + 1))
		[ $running -lt "$AT_ONCE" ] || { wait -n; running=$((running - 1)); }
	done
done
wait
