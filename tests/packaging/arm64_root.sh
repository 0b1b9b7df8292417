# SPDX-License-Identifier: Apache-2.0
# Debian's packages of arm64, unpacked in a folder, to compile and link with and to run what comes of it by emulation. Sourced by
# bash, after tests/jvm/lib.sh.
#
#   arm64_root DIR PACKAGE...   0: they are there, by an earlier call or anew; else why not is in $T/log
#   arm64_flags DIR             then: what configure is told, in the array ARM64_FLAGS
#
# Lists of their own, so that this machine's packages stay of its own CPU; nothing is installed and root is not needed.
ARM64_CPU=aarch64-linux-gnu
# What jhot is linked to, as archives too; libunwind is what its tests compare with.
ARM64_LIBRARIES="libelf1 libelf-dev libdw1 libdw-dev zlib1g zlib1g-dev liblzma5 liblzma-dev libbz2-1.0 libbz2-dev libzstd1
	libzstd-dev libtinfo6 libncurses-dev libunwind8 libunwind-dev"

arm64_root() {
	local root=$1 apt=$T/apt options deb link to
	shift
	[ "$(cat "$root/made" 2>/dev/null)" != "$*" ] || return 0
	for tool in apt-get dpkg-deb; do
		command -v $tool >/dev/null || { echo "no $tool" >"$T/log"; return 1; }
	done
	rm -rf "$root"
	mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/debs" "$root/usr/lib"
	touch "$apt/state/status"
	options=(-o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o "Dir::State=$apt/state"
		-o "Dir::State::status=$apt/state/status" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=
		-o Acquire::Languages=none -o Acquire::http::Timeout=20 -o Acquire::Retries=1)
	apt-get "${options[@]}" update >"$T/log" 2>&1 &&
		(cd "$apt/debs" && apt-get "${options[@]}" download "$@") >"$T/log" 2>&1 || return
	ln -sfn usr/lib "$root/lib"
	for deb in "$apt"/debs/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$root" || return
	done 2>"$T/log"
	# What the linker is led by has the names of an installed package.
	find "$root/usr/lib/$ARM64_CPU" -xtype l -lname '/*' | while IFS= read -r link; do
		to=$root$(readlink "$link")
		[ ! -e "$to" ] || ln -sfn "$to" "$link"
	done
	rm -rf "$apt"
	echo "$*" >"$root/made"
}

# No path into that folder goes into programs: a static one that has such a path does not start.
arm64_flags() {
	ARM64_FLAGS=("--host=$ARM64_CPU" "CPPFLAGS=-isystem $1/usr/include -isystem $1/usr/include/$ARM64_CPU"
		"LDFLAGS=-L$1/usr/lib/$ARM64_CPU -Wl,-rpath-link,$1/usr/lib/$ARM64_CPU")
}
