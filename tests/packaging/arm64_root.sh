# SPDX-License-Identifier: Apache-2.0
# Debian's packages of arm64, unpacked in a folder, for compiling, linking and running in emulation. Sourced by bash, after
# tests/jvm/lib.sh and own_apt.sh.
#
#   arm64_root DIR PACKAGE...   unpacks them unless an earlier call did, from this machine's release or from ARM64_SUITE;
#                               on failure the reason is in $T/log
#   arm64_flags DIR             sets the array ARM64_FLAGS: flags for configure
ARM64_CPU=aarch64-linux-gnu
# The libraries of jhot, also as archives; tests compare with libunwind.
ARM64_LIBRARIES="libelf1 libelf-dev libdw1 libdw-dev zlib1g zlib1g-dev liblzma5 liblzma-dev libbz2-1.0 libbz2-dev libzstd1
	libzstd-dev liblz4-1 liblz4-dev libtinfo6 libncurses-dev libutf8proc2 libutf8proc-dev libunwind8 libunwind-dev"

arm64_root() {
	local root=$1 suite=${ARM64_SUITE:-} made deb link to
	local options=(-o APT::Architecture=arm64 -o APT::Architectures::=arm64)
	shift
	made=${suite:+$suite }$*
	[ "$(cat "$root/made" 2>/dev/null)" != "$made" ] || return 0
	command -v dpkg-deb >/dev/null || { echo "no dpkg-deb" >"$T/log"; return 1; }
	rm -rf "$root"
	mkdir -p "$root/usr/lib"
	if [ "$suite" ]; then own_apt_suite "$suite" "${options[@]}"; else own_apt "${options[@]}"; fi &&
		(cd "$T/apt/files" && apt-get "${OWN_APT[@]}" download "$@") >"$T/log" 2>&1 || return
	ln -sfn usr/lib "$root/lib"
	for deb in "$T"/apt/files/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$root" || return
	done 2>"$T/log"
	# Symbolic links, which the linker and JDKs follow, are absolute in packages; make them point into the root.
	find "$root/usr/lib" -type l -lname '/*' | while IFS= read -r link; do
		to=$root$(readlink "$link")
		[ ! -e "$to" ] || ln -sfn "$to" "$link"
	done
	rm -rf "$T/apt"
	echo "$made" >"$root/made"
}

# No path into this folder may be built into programs: a static program with such a path does not start.
arm64_flags() {
	ARM64_FLAGS=("--host=$ARM64_CPU" "CPPFLAGS=-isystem $1/usr/include -isystem $1/usr/include/$ARM64_CPU"
		"LDFLAGS=-L$1/usr/lib/$ARM64_CPU -Wl,-rpath-link,$1/usr/lib/$ARM64_CPU")
}
