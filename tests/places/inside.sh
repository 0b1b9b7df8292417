#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sets up namespaces as a container does before it starts its program. Folders of $KEEP stay available at their paths,
# even when something is mounted over them.
#
#   usage: KEEP="DIR..." inside.sh KIND NEWROOT COMMAND...
set -e
kind=$1 new=$2
shift 2
here=/
cd /

declare -A kept
for d in $KEEP; do
	exec {fd}<"$d"
	kept[$d]=$fd
done
keep() {
	local into=$1 d
	for d in $KEEP; do
		[ -e "$into$d" ] && continue
		mkdir -p "$into$d"
		mount -c --rbind "/proc/self/fd/${kept[$d]}" "$into$d"
	done
}

# small SIZE FOLDER: a folder with space for the JVM's counters and nothing else
small() {
	mount -t tmpfs -o "mode=1777,size=$1" tmpfs "$2"
}

root() {
	mount -t tmpfs tmpfs "$new"
	for d in /usr /lib /lib64 /bin /etc; do
		mkdir -p "$new$d"
		mount --rbind "$d" "$new$d"
	done
	mkdir -p "$new"/tmp "$new"/proc "$new"/dev/shm
	chmod 1777 "$new"/tmp "$new"/dev/shm
	[ "$kind" != readonly ] || mount -t tmpfs tmpfs "$new/tmp"
	keep "$new"
	mount -t proc proc "$new"/proc
	cd "$new"
}

pivot() {
	mkdir old
	pivot_root . old
	umount -l /old
}

case $kind in
tmp) mount -t tmpfs tmpfs /tmp ;;
noexec) mount -t tmpfs -o noexec tmpfs /tmp ;;
bait)
	mount -t tmpfs -o mode=755 tmpfs "$new"
	mkdir "$new/shm"
	cp -a /dev/null /dev/urandom "$new"
	;;
nowhere | nothing | denied | lured)
	# "lured": a folder of the host, NEWROOT, is mounted over the JVM's /dev
	[ "$kind" != lured ] || mount --bind "$new" /dev
	mount -t tmpfs -o noexec tmpfs /tmp
	mount -t tmpfs -o noexec tmpfs /dev/shm
	here=/tmp
	if [ "$kind" = nowhere ]; then
		here=/tmp/exec
		mkdir $here
		mount -t tmpfs tmpfs $here
	fi
	if [ "$kind" = denied ]; then
		mount --bind /dev /dev
		mount -o remount,bind,ro /dev
	fi
	;;
full)
	small 128k /tmp
	mount -t tmpfs tmpfs /dev/shm
	;;
crammed)
	small 128k /tmp
	small 4k /dev/shm
	here=/tmp
	;;
chroot)
	root
	exec chroot . "$@"
	;;
pivot)
	root
	pivot
	;;
readonly | frozen)
	root
	pivot
	mount -o remount,ro /
	;;
esac
keep ""
cd $here
exec "$@"
