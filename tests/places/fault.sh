# SPDX-License-Identifier: Apache-2.0
# What must hold of the JVM and of files after a fault, whatever it was. Sourced after tests/jvm/lib.sh.

# no_half: what is there under its final name is whole
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

# again: jhot attaches, a dead session or not, and is heard to the end
again() {
	wait_for 20 attaches && [ -z "$(find /tmp /dev/shm "/proc/$JVM/cwd/." -maxdepth 1 \( -name ".attach_pid$JVM" -o -name "libjhot-*-$JVM.so" \))" ]
}

attaches() {
	"$JHOT" record -d 0.1 -o "$T/again.collapsed" "$JVM" >"$T/again" 2>&1 </dev/null
}
