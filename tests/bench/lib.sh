# SPDX-License-Identifier: Apache-2.0
# For the rows of `make bench`: real JVMs, programs under load, and the output of figures. Sourced by bash.
#
#   figure WHAT WHO UNIT LIMIT VALUE...   one value per turn; WHO: nothing, jhot or async-profiler; LIMIT: "-" if there is none
#
# tests/bench/bench.py computes medians and ratios of these lines; a row's other output is for running it alone.
. "$(dirname "${BASH_SOURCE[0]}")/../jvm/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/workload.sh"

ASPROF=${ASPROF:-}

figure() {
	[ $# -gt 4 ] || return 0
	printf '= %s | %s | %s | %s |' "$1" "$2" "$3" "$4"
	shift 4
	printf ' %s' "$@"
	echo
}

# profilers: nothing, and the available profilers
profilers() {
	echo nothing jhot
	[ -z "$ASPROF" ] || echo async-profiler
}

now_ms() {
	echo $((${EPOCHREALTIME/[.,]/} / 1000))
}
