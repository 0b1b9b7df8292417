# SPDX-License-Identifier: Apache-2.0
# The call chains of tests/jvm/programs/Walks.java that are possible in collapsed stacks. Sourced by bash.

# chains FILE: a line "COUNT CHAIN" per chain of Walks' own frames in collapsed stacks, a recursion as *N
chains() {
	awk -F';' '
		function end_run() { if (last != "") chain = chain (chain == "" ? "" : ";") last (n > 1 ? "*" n : "") }
		/;\[compiling\];/ { next } # the method is being compiled, not executed
		{
			chain = last = ""
			n = 0
			samples = $NF
			sub(/.* /, "", samples)
			sub(/ [0-9]+$/, "", $NF)
			for (i = 1; i <= NF; i++) {
				if ($i !~ /^Walks(\$[A-Z][a-z]*)?\.[a-z]*(Top|Middle|Leaf)_/)
					continue
				name = $i
				sub(/_\[.\]$/, "", name)
				sub(/^Walks(\$[A-Z][a-z]*)?\./, "", name)
				if (name == last) {
					n++
				} else {
					end_run()
					last = name
					n = 1
				}
			}
			end_run()
			if (chain != "")
				count[chain] += samples
		}
		END { for (chain in count) print count[chain], chain }' "$1" | sort -rn
}

# The possible chains of each mode. Recursion: any depth on the way, the full depth under the leaf.
# While an exception unwinds, any depth without the leaf is possible; the innermost frame that throws has no leaf.
GOOD='^(deepTop(;deepMiddle(\*[0-9]+)?)?|deepTop;deepMiddle\*400;deepLeaf
inlineTop(;inlineMiddle(;inlineLeaf)?)?
copyTop(;copyMiddle(;copyLeaf)?)?
callTop(;callMiddle(;callLeaf)?)?
throwTop(;throwMiddle(\*[0-9]+)?)?|throwTop;throwMiddle\*20;throwLeaf
zipTop(;zipMiddle(;zipLeaf)?)?
textTop(;textMiddle(;textLeaf)?)?
mathTop(;mathMiddle(;mathLeaf)?)?
digestTop(;digestMiddle(;digestLeaf)?)?
reflectTop(;reflectMiddle(;reflectLeaf)?)?
allocTop(;allocMiddle(;allocLeaf)?)?
lockTop(;lockMiddle(;lockLeaf)?)?
virtualTop(;virtualMiddle(\*[0-9]+)?)?|virtualTop;virtualMiddle\*60;virtualLeaf
abyssTop(;abyssMiddle(\*[0-9]+)?)?|abyssMiddle\*20[0-9][0-9](;abyssLeaf)?
unloadTop(;unloadMiddle(;unloadLeaf)?)?
birthsTop(;birthsMiddle(;birthsLeaf)?)?)$'
GOOD=${GOOD//$'\n'/|}

# wrong FILE: the number of samples with any other chain
wrong() {
	chains "$1" | awk -v good="$GOOD" '$2 !~ good { n += $1 } END { print n + 0 }'
}

# few DESCRIPTION COUNT WHOLE PERCENT: COUNT is at most PERCENT of WHOLE, plus 2 for chance in short runs
few() {
	diag "$2 of $3"
	ok "$1" awk -v n="$2" -v whole="$3" -v percent="$4" 'BEGIN { exit n > whole * percent / 100 + 2 }'
}
