#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Shell completions: bash completes with its file; zsh and fish, where installed, load theirs.
. "$(dirname "$0")/../jvm/lib.sh"

folder=$builddir/doc/completions
[ -e "$folder/jhot" ] || folder=$srcdir/doc/completions

# complete_words WORD...: the completions that bash offers for the last word, one per line, in bash's order
complete_words() {
	PATH=$T/bin:$PATH bash --norc -c '
		. "$1"
		shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_jhot
		printf "%s\n" "${COMPREPLY[@]}"' bash "$folder/jhot" jhot "$@" 2>&1
}

# offers WANTED WORD...: bash offers exactly WANTED
offers() {
	local want=$1
	shift
	is "bash completes jhot $*" "$(complete_words "$@" | sort | tr '\n' ' ')" "$want"
}

mkdir "$T/bin"
cat >"$T/bin/jhot" <<'END'
#!/bin/sh
# stands in for jhot, which completions call
[ "$1" = list ] || exit 1
echo '    PID USER     JDK       CPU%   RSS  THR     UP NAME                    ATTACH'
echo '  41234 web      21.0.4     231  5.1G  142  3d04h shop-api.jar            ok'
echo '1041235 eve      21.0.4       0  5.1G  142  3d04h $(touch${IFS}pwned)     no'
echo '        The JVM is stopped by a debugger or tracer, which is process'
echo '        41236 of somebody `touch pwned`'
END
chmod +x "$T/bin/jhot"
touch "$T/a.jhot" "$T/x y.jhot" "$T/a.txt" "$T/stacks.pb.gz"
cd "$T"

verbs=$("$JHOT" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')
ok "jhot --help lists verbs" [ -n "$verbs" ]
for verb in $verbs; do
	wanted=$("$JHOT" "$verb" --help | sed -n '/^Options:/,$s/^ *\(-[A-Za-z], \)\{0,1\}\(--[a-z-]*\).*/\2/p' | sort | tr '\n' ' ')
	is "bash completes all options of jhot $verb" "$(complete_words "$verb" -- | sort | tr '\n' ' ')" "$wanted"
done
offers "$(printf '%s\n' $verbs 41234 1041235 | sort | tr '\n' ' ')" ''
offers 'record ' rec
offers '41234 ' 4
offers '41234 ' record -d 5 4
offers '1041235 41234 ' status ''
ok "completion executes nothing from other users' process names" [ ! -e "$T/pwned" ]
offers '--json ' list --j
offers 'alloc ' record -e al
offers 'cpu,lock ' record -e cpu,l
offers '256 ' top --color = 2
offers 'never ' top --color n
offers ' ' record -d ''
offers 'a.jhot a.txt ' view a
offers 'x y.jhot ' view x
offers 'a.jhot agent ' a
offers 'stacks.pb.gz start status stop ' st

ok "bash has a completion for jhot once the file is sourced" bash --norc -c '. "$1" && complete -p jhot' bash "$folder/jhot"
for try in zsh:_jhot fish:jhot.fish; do
	name=${try%%:*}
	if command -v "$name" >/dev/null; then
		ok "$name parses its completion file" "$name" -n "$folder/${try#*:}"
	else
		skip "$name parses its completion file" "$name is not installed"
	fi
	for option in $("$JHOT" record --help | sed -n '/^Options:/,$s/^ *\(-[A-Za-z], \)\{0,1\}--\([a-z-]*\).*/\2/p'); do
		ok "the completion file of $name has record --$option" grep -q -e "--$option\b" -e "-l $option\b" "$folder/${try#*:}"
	done
done
if command -v fish >/dev/null; then
	is "fish completes the verb convert" "$(PATH=$T/bin:$PATH fish --no-config -c ". '$folder/jhot.fish'; complete -C 'jhot conv'" 2>/dev/null | cut -f 1)" convert
else
	skip "fish completes the verb convert" "fish is not installed"
fi
done_testing
