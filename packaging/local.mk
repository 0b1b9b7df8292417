# SPDX-License-Identifier: Apache-2.0
# Ways to hand jhot on, beside `make install`: the one file, and what is made of it.

EXTRA_DIST += %D%/NOTICE

# The same objects as jhot's, with all libraries linked in: it runs on any Linux of this CPU.
if STATIC
noinst_PROGRAMS += %D%/jhot
%C%_jhot_SOURCES = $(jhot_SOURCES)
%C%_jhot_LDFLAGS = -static-pie
%C%_jhot_LDADD = $(jhot_archives) $(STATIC_LIBS)
endif

# The same commit gives the same bytes, in whatever folder and when it is built.
ONE_FILE = $(PACKAGE)-$(VERSION)-linux-$(jhot_arch)
ONE_FILE_DATE = $${SOURCE_DATE_EPOCH:-`git -C $(srcdir) log -1 --format=%ct 2>/dev/null || stat -c %Y $(srcdir)/NEWS`}
.PHONY: tarball
tarball: all
if STATIC
	rm -rf $(ONE_FILE) && $(MKDIR_P) $(ONE_FILE)
	$(STRIP) -o $(ONE_FILE)/jhot %D%/jhot
	cp -r doc/jhot.1 doc/completions $(srcdir)/COPYING $(srcdir)/%D%/NOTICE $(ONE_FILE)
	tar --sort=name --format=ustar --mtime=@$(ONE_FILE_DATE) --owner=0 --group=0 --numeric-owner \
		--mode=u=rwX,go=rX -cf - $(ONE_FILE) | gzip -9n >$(ONE_FILE).tar.gz
	rm -rf $(ONE_FILE)
	@wc -c $(ONE_FILE).tar.gz
else
	@echo 'Some library is not there as an archive: on Debian libelf-dev, libdw-dev, libncurses-dev, zlib1g-dev,' >&2
	@echo 'liblzma-dev, libzstd-dev and libbz2-dev bring them. Then run configure again.' >&2
	@false
endif
CLEANFILES += $(ONE_FILE).tar.gz
