#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The man page from its template: man.sh JHOT <doc/jhot.1.in >doc/jhot.1
#
# The line @VERBS@ becomes a subsection per verb, made from the program's own help texts, and @COMMANDS@ what the
# settings file may name, made from the file that the program prints; so the page cannot differ from the program.
set -eu
jhot=$1

# section VERB: its help text as roff
section() {
	"$jhot" "$1" --help | awk '
	function plain(s) {
		gsub(/\\/, "\\e", s)
		gsub(/-/, "\\-", s)
		sub(/^[.'\'']/, "\\\\\\&&", s)
		return s
	}
	function literal(on) {
		if (on != filling_off)
			print on ? ".nf" : ".fi"
		filling_off = on
	}
	NR == 1 { sub(/^Usage: /, ""); print ".SS " plain($0); next }
	/^Options:$/ { literal(0); inside = 1; next }
	!inside && /^$/ { literal(0); if (NR > 2) print ".PP"; next }
	!inside { literal(/^ /); print plain($0); next }
	# an option starts with a dash in column 3 or 7, its help in column 29 or on the next line
	/^  (-|    --)/ {
		name = $0
		sub(/^ */, "", name)
		text = ""
		if (match(name, /   */)) {
			text = substr(name, RSTART + RLENGTH)
			name = substr(name, 1, RSTART - 1)
		}
		print ".TP\n.B " plain(name)
		if (text != "")
			print plain(text)
		next
	}
	{ sub(/^ */, ""); print plain($0) }
	END { literal(0) }'
}

# commands: those of the live view with their keys; "#	NAME = ...    # KEYS: HELP"
commands() {
	"$jhot" top --print-config | awk '
	/^#\t[a-z-]* = \.\.\.    # / {
		line = substr($0, 3)
		name = line
		sub(/ = .*/, "", name)
		sub(/^[^#]*# /, "", line)
		gsub(/\\/, "\\e", line)
		gsub(/-/, "\\-", name)
		gsub(/-/, "\\-", line)
		print ".TP 18\n.B " name "\n\\&" line
	}'
}

while IFS= read -r line; do
	case $line in
	@COMMANDS@) commands ;;
	@VERBS@)
		"$jhot" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p' | while read -r verb; do
			section "$verb"
		done ;;
	*) printf '%s\n' "$line" ;;
	esac
done
