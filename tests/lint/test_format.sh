#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every C file is formatted by clang-format 14. Other versions format some of it differently.
. "$(dirname "$0")/../jvm/lib.sh"

tool=
for name in clang-format-14 clang-format; do
	command -v $name >/dev/null || continue
	case $($name --version) in *"version 14."*) tool=$name; break ;; esac
done
[ -n "$tool" ] || skip_all "no clang-format 14"

cd "$srcdir" || exit 1
for folder in src/* tests/*; do
	files=$(find "$folder" -name '*.[ch]')
	[ -n "$files" ] || continue
	# shellcheck disable=SC2086
	ok "$folder is formatted by clang-format 14" $tool --style=file --dry-run -Werror $files 2>"$T/out" || {
		grep -E 'error:' "$T/out" | sed 's/ error:.*//' | head -n 10 | sed 's/^/# /'
		diag "clang-format-14 -i fixes it"
	}
done
done_testing
