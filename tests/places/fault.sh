# SPDX-License-Identifier: Apache-2.0
# Conditions on the JVM and on files that must hold after any fault. Sourced after tests/jvm/lib.sh.

# no_half: files under their final names are complete
no_half() {
	local file
	for file in "$T"/a*.collapsed; do
		[ ! -s "$file" ] || ! grep -qvE '^.+ [0-9]+$' "$file" || return 1
	done
	for file in "$T"/a*.svg; do
		[ ! -e "$file" ] || [ "$(tail -c 7 "$file")" = "</svg>" ] || return 1
	done
}

unharmed() {
	alive "$JVM" && [ "$(cat "$JVM_OUT")" = ready ] && [ -z "$(grep -v '^WARNING: ' "$JVM_ERR")" ]
}

# again: jhot attaches and records, whether there is an orphaned session or not, and leaves no files
again() {
	wait_for 20 attaches && [ -z "$(find /tmp /dev/shm "/proc/$JVM/cwd/." -maxdepth 1 \( -name ".attach_pid$JVM" -o -name "libjhot-*-$JVM.so" \))" ]
}

attaches() {
	"$JHOT" record -d 0.1 -o "$T/again.collapsed" "$JVM" >"$T/again" 2>&1 </dev/null
}
