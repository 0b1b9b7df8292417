#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A Debian package of a source tarball: deb.sh TARBALL VERSION DATE FOLDER; the packages are in the folder then.
#
# DEBFULLNAME and DEBEMAIL say who packages, as for dch; DATE is in seconds.
set -eu
tarball=$(realpath "$1") version=$2 date=$3 folder=$4
maintainer="${DEBFULLNAME:-$(id -un)} <${DEBEMAIL:-$(id -un)@$(hostname -f)}>"
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
tar xf "$tarball"
cd "jhot-$version"
cp -r packaging/debian debian
chmod -R u+w debian
sed -i "s/@MAINTAINER@/$maintainer/" debian/control
cat >debian/changelog <<END
jhot ($version) unstable; urgency=medium

  * See /usr/share/doc/jhot/NEWS.gz.

 -- $maintainer  $(LC_ALL=C date -u -R -d "@$date")
END
echo NEWS >debian/jhot.docs
SOURCE_DATE_EPOCH=$date dpkg-buildpackage -us -uc -b
cd ..
ls -l ./*.deb
