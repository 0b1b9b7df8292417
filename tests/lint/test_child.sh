#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Only the child of src/symbols/child parses ELF files: no other code of the front end calls libelf, libdw, liblzma or
# functions built on them. (src/import decompresses files that the user has named by liblzma.)
. "$(dirname "$0")/../jvm/lib.sh"

# The parsers, and code that is reached from serve.c only.
parsers='^(elf_[a-z]*|cfi|cfi_program|code|frame|insn_.*)\.o$'
cd "$builddir" || exit 1
nm -A -u lib*.a 2>/dev/null | grep -v '^libwalk' | sed 's/^lib[a-z]*\.a:\([^:]*\): *U /\1 /' |
	grep -E '^[^ ]* (elf32|elf64|elf|gelf|dwarf|dwelf|dwfl|lzma|elf_[a-z]+|cfi|code)_[a-z0-9_]+$' | grep -vE ' elf_child_|^unpack\.o lzma_' >"$T/calls"

ok "calls of libelf are found in the libraries" grep -q '^elf_names\.o elf_strptr$\|^elf_symbols\.o gelf_getsym$' "$T/calls"
ok "the ELF child calls the parsers" grep -q '^serve\.o elf_names_read$' "$T/calls"
is "only the ELF child calls the parsers" "$(grep -vE "$parsers" <(cut -d' ' -f1 "$T/calls" | sort -u) | tr '\n' ' ')" "serve.o "
done_testing
