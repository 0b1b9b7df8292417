#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make rpm-check: dnf installs the rpm into an empty root, jhot is used there, and removed. Without a distribution with rpm at hand,
# the dependencies are in a second rpm, made of this machine's own libraries; rpmbuild derives names and symbol versions from the
# files, as everywhere.
#
#   usage: make rpm-check      as root; needs Debian's rpm, dnf and createrepo-c
. "$(dirname "$0")/../jvm/lib.sh"
. "$(dirname "$0")/rows.sh"

needs rpm-check rpm dnf createrepo-c -- root dnf createrepo_c rpmbuild
rpm=$(ls "$builddir"/rpm/RPMS/*/jhot-[0-9]*.rpm) || exit 1
root=$T/root repo=$T/repo
mkdir -p "$root" "$repo" "$T/files/usr/lib64"
cp "$rpm" "$repo"

# --- the libraries -----------------------------------------------------------------------------------

ldd "$builddir/jhot" | grep -oE '/[^ ]+' | sort -u | xargs -I{} cp -L {} "$T/files/usr/lib64/" || exit 1
cat >"$T/libraries.spec" <<'END'
Name: libraries
Version: 1
Release: 1
Summary: what jhot is linked with
License: none
Provides: rtld(GNU_HASH)
%description
.
%install
mkdir -p %{buildroot}/usr/lib64
cp %{libraries}/* %{buildroot}/usr/lib64
ln -s usr/lib64 %{buildroot}/lib64
%files
/usr/lib64/*
/lib64
END
built() {
	rpmbuild -bb --define "_topdir $T/rpmbuild" --define "libraries $T/files/usr/lib64" --define "_rpmdir $repo" \
		--define "_build_id_links none" --define "__os_install_post %{nil}" "$T/libraries.spec"
}

# --- checks ------------------------------------------------------------------------------------------

# The loader is Debian's, which does not search /usr/lib64.
in_root() { LD_LIBRARY_PATH=/usr/lib64 chroot "$root" /usr/bin/jhot "$@"; }
dnf_root() {
	dnf -y --installroot="$root" --releasever=1 --disablerepo='*' --repofrompath="here,$repo" --enablerepo=here --nogpgcheck \
		--setopt=keepcache=0 --setopt=install_weak_deps=0 --setopt=cachedir="$T/cache" "$@"
}
says_its_version() { [ "$(in_root --version)" = "$("$JHOT" --version)" ]; }
all_there() {
	! rpm -qpl "$rpm" | while read -r file; do [ -e "$root$file" ] || [ -L "$root$file" ] || echo "$file"; done | grep .
}
completes() { bash -n "$root/usr/share/bash-completion/completions/jhot" && grep -q 'record' "$root/usr/share/man/man1/jhot.1" && test -s "$root/usr/share/man/man7/jhot.7"; }
records() {
	jvm_start Known shares && mount --rbind /proc "$root/proc" && in_root record -d 1 -o /x.collapsed "$JVM" &&
		grep -q knownSixty "$root/x.collapsed"
	set -- $?
	umount -l "$root/proc"
	return "$1"
}
all_gone() {
	! rpm -qpl "$rpm" | while read -r file; do [ ! -f "$root$file" ] && [ ! -L "$root$file" ] || echo "$file"; done | grep .
}

row "rpmbuild makes a package of the libraries" built && row "createrepo makes a repository of both packages" createrepo_c "$repo" || rows_end
row "dnf install jhot finds all dependencies" dnf_root install jhot || rows_end
row "all files of the package are installed" all_there
row "jhot --version works" says_its_version
row "completions and man pages are installed" completes
mkdir -p "$root/proc" "$root/tmp"
row "jhot records a JVM of the host" records
row "dnf remove jhot succeeds" dnf_root remove jhot
row "no file of the package is left" all_gone
rows_end
