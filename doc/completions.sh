#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Completions for a shell, made from the program's own help texts: completions.sh JHOT bash|zsh|fish
#
# So a verb or an option that the program has is completed, and none that it has not. What an option's value
# may be is told by its placeholder: FILE, EVENT, or the words themselves (never|16|256).
set -eu
jhot=$1
shell=$2
# `jhot FILE` opens these, so they are offered where a JVM is (src/import/import.c has them)
suffixes='jhot jfr pprof pb pb.gz collapsed folded'

verbs() {
	"$jhot" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\)  *\(.*\)/\1	\2/p'
}

# options VERB: letter, name, placeholder, help, tabs between them; "-" for none
options() {
	"$jhot" "$1" --help | awk '
	/^Options:$/ { inside = 1; next }
	!inside { next }
	/^  (-|    --)/ {
		if (name != "")
			print letter "\t" name "\t" arg "\t" text
		line = $0
		sub(/^ */, "", line)
		letter = arg = "-"
		text = ""
		if (match(line, /   */)) {
			text = substr(line, RSTART + RLENGTH)
			line = substr(line, 1, RSTART - 1)
		}
		if (line ~ /^-[A-Za-z], /) {
			letter = substr(line, 2, 1)
			line = substr(line, 5)
		}
		sub(/^--/, "", line)
		if (match(line, /[ =]/)) {
			arg = substr(line, RSTART + 1)
			line = substr(line, 1, RSTART - 1)
		}
		name = line
		next
	}
	{ sub(/^ */, ""); text = text (text == "" ? "" : " ") $0 }
	END { if (name != "") print letter "\t" name "\t" arg "\t" text }'
}

# operand VERB: jvm, file or none
operand() {
	case $("$jhot" "$1" --help | sed -n '1s/^Usage: jhot [a-z]* *//p') in
	*PID*) echo jvm ;;
	*FILE | *FILE... | *AFTER...) echo file ;;
	*) echo none ;;
	esac
}

# values PLACEHOLDER: the words that replace it, @file, or nothing
values() {
	case $1 in
	FILE) echo @file ;;
	EVENT*) echo 'cpu alloc lock wall' ;;
	*[A-Z]*) ;;
	-) ;;
	*) echo "$1" | tr '|' ' ' ;;
	esac
}

# quoted TEXT: within '...' of any of the shells
quoted() {
	printf '%s' "$1" | sed "s/'/\`/g"
}

# --- bash ---------------------------------------------------------------------------------------------

bash_verb() {
	words= files= cases=
	while IFS='	' read -r letter name arg _; do
		words="$words --$name"
		[ "$letter" = - ] || words="$words -$letter"
		[ "$arg" = - ] && continue
		pattern="--$name"
		[ "$letter" = - ] || pattern="$pattern | -$letter"
		of=$(values "$arg")
		if [ "$of" = @file ]; then
			files="$files${files:+ | }$pattern"
		else
			cases="$cases
		$pattern) words='$of'; found=1 ;;"
		fi
	done <<-END
		$(options "$1")
	END
	printf '\t%s)\n\t\toptions=\047%s\047\n\t\toperand=%s\n\t\tcase $before in' "$1" "${words# }" "$(operand "$1")"
	[ -z "$files" ] || printf '\n\t\t%s) operand=file; words=; found=2 ;;' "$files"
	printf '%s\n\t\tesac ;;\n' "$cases"
}

bash_file() {
	cat <<'END'
# bash completion for jhot; made by doc/completions.sh from the program's help texts
# Numbers only: names are whatever other users call their programs, and a word here is expanded. Reasons are indented more.
_jhot_jvms() {
	jhot list 2>/dev/null | awk '/^ ? ? ? ? ? ?[0-9]+ / { print $1 }'
}

_jhot_profiles() {
	local suffix IFS=$'\n'
	compopt -o filenames 2>/dev/null
END
	printf '\tfor suffix in %s; do\n' "$suffixes"
	cat <<'END'
		COMPREPLY+=($(compgen -f -X "!*.$suffix" -- "$cur"))
	done
}

_jhot() {
	local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
	local verb=top words= options= operand=none found=0
	COMPREPLY=()
	# readline splits --name=value in three
	if [ "$before" = = ]; then
		before=${COMP_WORDS[COMP_CWORD-2]}
	elif [ "$cur" = = ]; then
		cur=
	fi
END
	printf '\tlocal verbs=\047%s\047\n' "$(verbs | cut -f 1 | tr '\n' ' ' | sed 's/ $//')"
	cat <<'END'
	case " $verbs " in
	*" ${COMP_WORDS[1]} "*) [ "$COMP_CWORD" -gt 1 ] && verb=${COMP_WORDS[1]} ;;
	esac
	case $verb in
END
	verbs | while IFS='	' read -r verb _; do
		bash_verb "$verb"
	done
	cat <<'END'
	esac
	if [ $found = 1 ]; then
		# a list goes on behind a comma
		local head=
		case $cur in
		*,*) head=${cur%,*},; cur=${cur##*,} ;;
		esac
		COMPREPLY=($(compgen -P "$head" -W "$words" -- "$cur"))
		return
	fi
	if [ $found = 0 ] && [ "${cur#-}" != "$cur" ]; then
		COMPREPLY=($(compgen -W "$options" -- "$cur"))
		return
	fi
	if [ $found = 0 ] && [ "$COMP_CWORD" = 1 ]; then
		COMPREPLY=($(compgen -W "$verbs" -- "$cur"))
		# from the first letter on, or all the others would be lost among them
		[ -z "$cur" ] || _jhot_profiles
	fi
	case $operand in
	jvm) COMPREPLY+=($(compgen -W "$(_jhot_jvms)" -- "$cur")) ;;
	file)
		compopt -o filenames 2>/dev/null
		local IFS=$'\n'
		COMPREPLY+=($(compgen -f -- "$cur")) ;;
	esac
}
complete -F _jhot jhot
END
}

# --- zsh ----------------------------------------------------------------------------------------------

# bracketed TEXT: within [...] of _arguments
bracketed() {
	quoted "$1" | sed 's/[]\\:[]/\\&/g'
}

zsh_verb() {
	printf '\t%s)\n\t\t_arguments -s' "$1"
	options "$1" | while IFS='	' read -r letter name arg help; do
		text=$(bracketed "$help")
		of=$(values "$arg")
		case $of in
		@file) action=':file:_files' ;;
		'') action=":$(bracketed "$arg"):" ;;
		*) action=":$(bracketed "$arg"):_values -s , value $of" ;;
		esac
		[ "$arg" = - ] && action=
		if [ "$letter" = - ]; then
			printf " \\\\\n\t\t\t'--%s[%s]%s'" "$name${action:+=}" "$text" "$action"
		else
			printf " \\\\\n\t\t\t'(-%s --%s)'{-%s${action:++},--%s${action:+=}}'[%s]%s'" \
				"$letter" "$name" "$letter" "$name" "$text" "$action"
		fi
	done
	case $(operand "$1") in
	jvm) printf " \\\\\n\t\t\t'1:JVM:_jhot_jvms'" ;;
	file) printf " \\\\\n\t\t\t'*:file:_files'" ;;
	esac
	printf ' ;;\n'
}

zsh_file() {
	cat <<'END'
#compdef jhot
# zsh completion for jhot; made by doc/completions.sh from the program's help texts
_jhot_jvms() {
	local -a jvms
	jvms=(${(f)"$(jhot list 2>/dev/null | awk '/^ ? ? ? ? ? ?[0-9]+ / { print $1 }')"})
	_describe -t jvms JVM jvms
}

_jhot() {
	local -a verbs
	verbs=(
END
	verbs | while IFS='	' read -r verb help; do
		printf "\t\t'%s:%s'\n" "$verb" "$(quoted "$help")"
	done
	cat <<'END'
	)
	if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
		_describe -t verbs verb verbs
		_jhot_jvms
END
	printf '\t\t_files -g \047*.(%s)\047\n' "$(echo "$suffixes" | tr ' ' '|')"
	cat <<'END'
		return
	fi
	local verb=top
	if (( ${verbs[(I)$words[2]:*]} )); then
		verb=$words[2]
		shift words
		(( CURRENT-- ))
	fi
	case $verb in
END
	verbs | while IFS='	' read -r verb _; do
		zsh_verb "$verb"
	done
	cat <<'END'
	esac
}
_jhot "$@"
END
}

# --- fish ---------------------------------------------------------------------------------------------

fish_option() {
	verb=$1 letter=$2 name=$3 arg=$4 help=$5
	printf "complete -c jhot -n '__jhot_verb %s' -l %s" "$verb" "$name"
	[ "$letter" = - ] || printf ' -s %s' "$letter"
	case $(values "$arg") in
	@file) printf ' -r -F' ;;
	'') [ "$arg" = - ] || printf ' -x' ;;
	*) printf " -x -a '%s'" "$(values "$arg")" ;;
	esac
	printf " -d '%s'\n" "$(quoted "$help")"
}

fish_file() {
	printf '# fish completion for jhot; made by doc/completions.sh from the help texts of the program\n'
	printf 'set -g __jhot_verbs %s\n' "$(verbs | cut -f 1 | tr '\n' ' ' | sed 's/ $//')"
	cat <<'END'
function __jhot_verb
	set -l words (commandline -opc)
	set -l verb top
	if set -q words[2]; and contains -- $words[2] $__jhot_verbs
		set verb $words[2]
	end
	contains -- $verb $argv
end
function __jhot_jvms
	jhot list 2>/dev/null | awk '/^ ? ? ? ? ? ?[0-9]+ / { print $1 }'
end
complete -c jhot -f
END
	for suffix in $suffixes; do
		printf "complete -c jhot -n '__fish_is_nth_token 1' -a '(__fish_complete_suffix .%s)'\n" "$suffix"
	done
	verbs | while IFS='	' read -r verb help; do
		printf "complete -c jhot -n '__fish_is_nth_token 1' -a %s -d '%s'\n" "$verb" "$(quoted "$help")"
		case $(operand "$verb") in
		jvm) printf "complete -c jhot -n '__jhot_verb %s' -a '(__jhot_jvms)'\n" "$verb" ;;
		file) printf "complete -c jhot -n '__jhot_verb %s' -F\n" "$verb" ;;
		esac
		options "$verb" | while IFS='	' read -r letter name arg text; do
			fish_option "$verb" "$letter" "$name" "$arg" "$text"
		done
	done
}

"${shell}_file"
