#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The walker detects a JVM whose layout differs from what it expects; fields that it does not read may be missing.
. "$(dirname "$0")/../jvm/lib.sh"

SELFTEST=$builddir/tests/walk/selftest

[ -x "$SELFTEST" ] || skip_all "selftest is not built"
[ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" -lt 2 ] || [ "$(id -u)" = 0 ] ||
	skip_all "tracing is not permitted here"

# starts FIRST WORDS: WORDS starts with FIRST
starts() {
	case $2 in "$1"*) ;; *) diag "got: $2"; return 1 ;; esac
}

tested() {
	local major=$1 name member
	jvm_start -XX:+UseSerialGC -Xmx64m -Xbatch Coarse
	for name in none _comp_level _entry_bci _osr_entry_point _vframe_array_head _task _constMethod_size \
		_cont_returnBarrier _frame_data_offset jfa _compile_id; do
		is "JDK $major: the walker is good without $name" "$("$SELFTEST" -x "$name" "$JVM")" good
	done
	if [ "$major" -ge 21 ]; then
		ok "JDK $major: without a field of InstanceKlass only virtual threads are truncated" starts \
			"virtual threads end below their carrier: InstanceKlass::_fieldinfo_stream" \
			"$("$SELFTEST" -x _fieldinfo_stream "$JVM")"
	else
		skip "virtual threads" "JDK $major has none"
	fi
	ok "JDK $major: the walker is not available without a field that it reads" starts \
		"walker not available: nmethod::_scopes_pcs_offset" "$("$SELFTEST" -x _scopes_pcs_offset "$JVM")"
	for member in interp_method const_constants pool_holder; do
		ok "JDK $major: the self-test detects a wrong offset of $member" starts "walker not available: stacks of waiting threads" \
			"$("$SELFTEST" -m $member "$JVM")"
	done
	member=nmethod_method
	[ "$major" -lt 25 ] || member=mutable_data # the next word is no pointer
	ok "JDK $major: the self-test detects a wrong offset of $member" starts "walker not available: compiled methods" \
		"$("$SELFTEST" -m $member "$JVM")"
	jvm_end
}

while read -r major java; do
	JAVA=$java
	tested "$major"
done < <(jdks ${MAJORS:-8 25})
done_testing
