# SPDX-License-Identifier: Apache-2.0
# Ways to hand jhot on, beside `make install`: the one file, and what is made of it.

EXTRA_DIST += %D%/NOTICE %D%/README.md %D%/APKBUILD.in %D%/Containerfile %D%/jhot.spec.in %D%/deb.sh %D%/debian/control \
	%D%/debian/copyright %D%/debian/rules %D%/debian/source/format %D%/debian/tests/control %D%/debian/tests/record

# The same objects as jhot's, with all libraries linked in: it runs on any Linux of this CPU.
if STATIC
one_file_program = %D%/jhot$(EXEEXT)
noinst_PROGRAMS += %D%/jhot
%C%_jhot_SOURCES = $(jhot_SOURCES)
%C%_jhot_LDFLAGS = -static-pie $(HARDEN_LDFLAGS)
# It cannot load libcurl, so it cannot push.
%C%_jhot_LDADD = libcli.a libpush_none.a $(jhot_archives) $(STATIC_LIBS)
endif

# The same commit gives the same bytes, in whatever folder and when it is built.
ONE_FILE = $(PACKAGE)-$(VERSION)-linux-$(jhot_arch)
COMMIT_DATE = $${SOURCE_DATE_EPOCH:-`git -C $(srcdir) log -1 --format=%ct 2>/dev/null || stat -c %Y $(srcdir)/NEWS`}
.PHONY: tarball
tarball: all
if STATIC
if HELP_TEXTS
	rm -rf $(ONE_FILE) && $(MKDIR_P) $(ONE_FILE)
	$(STRIP) -o $(ONE_FILE)/jhot %D%/jhot
	cp -r doc/jhot.1 doc/jhot.7 doc/completions $(srcdir)/COPYING $(srcdir)/%D%/NOTICE $(ONE_FILE)
	tar --sort=name --format=ustar --mtime=@$(COMMIT_DATE) --owner=0 --group=0 --numeric-owner \
		--mode=u=rwX,go=rX -cf - $(ONE_FILE) | gzip -9n >$(ONE_FILE).tar.gz
	rm -rf $(ONE_FILE)
	@wc -c $(ONE_FILE).tar.gz
else
	@echo 'The man page and the completions are what the program says of itself, and this machine cannot run it. Either install' >&2
	@echo 'qemu-user-static, or build the same source for this machine, too; then: configure ... JHOT_RUNS=/path/to/that/jhot' >&2
	@false
endif
else
	@echo 'Some library is not there as an archive: on Debian libelf-dev, libdw-dev, libncurses-dev, libutf8proc-dev, zlib1g-dev,' >&2
	@echo 'liblzma-dev, libzstd-dev, liblz4-dev and libbz2-dev bring them. Then run configure again.' >&2
	@false
endif
CLEANFILES += $(ONE_FILE).tar.gz

# An image's folder: any builder of images takes it from there.
.PHONY: image
image: tarball
	rm -rf image && $(MKDIR_P) image
	tar --strip-components=1 -C image -xzf $(ONE_FILE).tar.gz $(ONE_FILE)/jhot
	cp $(srcdir)/%D%/Containerfile image/Dockerfile
	@echo 'docker build -t jhot image'

# Packages are made from what a release has. Who packages says for Alpine, as for its own tools: PACKAGER='Name <mail>'.
HOMEPAGE = $(PACKAGE_URL)
.PHONY: deb rpm apkbuild
deb: dist
	$(srcdir)/%D%/deb.sh $(distdir).tar.xz $(VERSION) $(COMMIT_DATE) deb
rpm: dist
	rm -rf rpm && $(MKDIR_P) rpm/SOURCES && cp $(distdir).tar.xz rpm/SOURCES
	sed 's/[@]VERSION@/$(VERSION)/g' $(srcdir)/%D%/jhot.spec.in >rpm/jhot.spec
	rpmbuild -bb --define "_topdir $(abs_builddir)/rpm" $(RPMBUILD_FLAGS) rpm/jhot.spec
	@find rpm/RPMS -name '*.rpm'
apkbuild: dist
	rm -rf apk && $(MKDIR_P) apk && cp $(distdir).tar.xz apk
	sum=`sha512sum $(distdir).tar.xz | cut -d ' ' -f 1` && \
		sed "s/[@]VERSION@/$(VERSION)/g; s/[@]SHA512@/$$sum/; s|[@]URL@|$(HOMEPAGE)|; \
			s|[@]PACKAGER@|$${PACKAGER:+ $$PACKAGER}|" $(srcdir)/%D%/APKBUILD.in >apk/APKBUILD
	@test -n '$(HOMEPAGE)' || \
		echo 'abuild wants the address of a page, and configure.ac names none: make apkbuild HOMEPAGE=https://...' >&2
	@echo 'on Alpine: cd apk && abuild -r'
clean-local: clean-packages
.PHONY: clean-packages
clean-packages:
	rm -rf $(ONE_FILE) apk deb image rpm
