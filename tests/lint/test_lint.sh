#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The lint tests themselves: each reports the fault that it checks for.
. "$(dirname "$0")/../jvm/lib.sh"

command -v python3 >/dev/null || skip_all "no python3"

# fresh: makes a small tree that passes
fresh() {
	rm -rf "$T/tree"
	mkdir -p "$T/tree/src" "$T/tree/tests"
	cp -r "$srcdir/src/base" "$srcdir/src/wire" "$T/tree/src/"
	cp -r "$srcdir/tests/lint" "$srcdir/tests/base" "$T/tree/tests/"
	cp "$srcdir/ARCHITECTURE.md" "$srcdir/HACKING.md" "$srcdir/bootstrap" "$T/tree/"
	cp -r "$srcdir/.ci" "$T/tree/"
	chmod -R u+w "$T/tree"
	printf '# none\n' >"$T/tree/tests/lint/long"
}

# finds TEST WHAT PATTERN: TEST reports a fault that matches PATTERN in the modified tree
finds() {
	srcdir=$T/tree "$srcdir/tests/lint/$1" >"$T/out" 2>&1
	ok "$1 finds $2" grep -q "^# .*$3" "$T/out" || diag_file "$T/out"
}

fresh
for test in test_layers.py test_files.py; do
	srcdir=$T/tree "$srcdir/tests/lint/$test" >"$T/out" 2>&1
	is "$test passes on a correct tree" $? 0 || diag_file "$T/out"
done

fresh
echo '#include "wire/ring.h"' >>"$T/tree/src/base/buf.c"
finds test_layers.py "a forbidden include" "base may not include wire/ring.h"
fresh
echo '#include <term.h>' >>"$T/tree/src/base/buf.c"
finds test_layers.py "terminfo included by another file" "term.h belongs to another module"
fresh
mkdir "$T/tree/src/stray" && cp "$T/tree/src/base/buf.h" "$T/tree/src/stray/"
finds test_layers.py "a module without a row in ARCHITECTURE.md" "src/stray is not in ARCHITECTURE.md"
fresh
mkdir "$T/tree/src/base/cellar" && mv "$T/tree/src/base/hash.c" "$T/tree/src/base/cellar/"
finds test_layers.py "a subfolder without a row in HACKING.md" "src/base/cellar is not in HACKING.md"
fresh
for i in $(seq 30); do cp "$T/tree/src/base/buf.c" "$T/tree/src/base/buf$i.c"; done
finds test_layers.py "a subfolder with too many files" "a subfolder has 30 at most"
fresh
for i in 1 2 3 4; do printf '#include "base/y%d.h"\n' $((i % 4 + 1)) >"$T/tree/src/base/y$i.h"; done
finds test_layers.py "a cycle of four includes" "y4 include each other: 3 at most"
fresh
mkdir "$T/tree/src/base/cellar"
echo '#include "base/buf.h"' >"$T/tree/src/base/cellar/wine.h"
echo '#include "base/cellar/wine.h"' >>"$T/tree/src/base/buf.h"
finds test_layers.py "a cycle of includes across folders" "wine include each other across folders"
fresh
echo '#include "buf.h"' >>"$T/tree/src/base/buf.c"
finds test_layers.py "an include without its folder" "write the module too"

fresh
sed -i 1d "$T/tree/src/base/buf.c"
finds test_files.py "a missing licence line" "src/base/buf.c: the first line is not"
fresh
printf '/* SPDX-License-Identifier: Apache-2.0 */\nint x;\n' >"$T/tree/src/base/x.c"
finds test_files.py "a missing sentence of purpose" "src/base/x.c: no sentence of purpose"
fresh
sed -i 's/JHOT_BASE_BUF_H/BUF_H/' "$T/tree/src/base/buf.h"
finds test_files.py "a wrong include guard" "buf.h: no include guard"
fresh
echo '	int trailing; ' >>"$T/tree/src/base/buf.c"
finds test_files.py "trailing white space" "buf.c:.* white space"
fresh
printf '/* see /ro''ot/x */\n' >>"$T/tree/src/base/buf.c"
finds test_files.py "a developer's path" "names one machine"
fresh
{ echo 'static int endless(void)'; echo '{'; yes '	x++;' | head -n 61; echo '}'; } >>"$T/tree/src/base/buf.c"
finds test_files.py "a function that is too long" "endless has 61 lines"
fresh
yes '/* long */' | head -n 600 >>"$T/tree/src/base/buf.c"
finds test_files.py "a file that is too long" "the file has"
fresh
echo 'src/base/buf.c buf_add no reason' >>"$T/tree/tests/lint/long"
finds test_files.py "an unnecessary exception" "is listed and not long"
done_testing
