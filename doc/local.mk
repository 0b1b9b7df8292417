# SPDX-License-Identifier: Apache-2.0
# The man pages and the completions, made from the program's own help texts, and the README's pictures.

EXTRA_DIST += README.md %D%/aarch64.md %D%/always-on.md %D%/benchmarks.csv %D%/benchmarks.md %D%/benchmarks.svg %D%/causes.md %D%/jhot.1.in %D%/jhot.7.in %D%/man.sh %D%/diff.schema.json %D%/findings.md %D%/install.md %D%/latency.md %D%/decisions.md %D%/recording.md %D%/release.md \
	%D%/why.schema.json %D%/wire.md %D%/examples/jhot-record@.service %D%/examples/sidecar.yaml

# What the figures mean.
man7_MANS = %D%/jhot.7
%D%/jhot.7: %D%/jhot.7.in
	$(AM_V_GEN)$(MKDIR_P) %D% && sed 's/[@]VERSION@/$(VERSION)/' $(srcdir)/%D%/jhot.7.in >$@.part && mv $@.part $@
CLEANFILES += %D%/jhot.7 %D%/jhot.7.part

# jhot(1) is made from the program's own help texts, so a cross build has it where the program can be run.
if HELP_TEXTS
if CROSS
help_program = %D%/program
%D%/program: $(one_file_program)
	$(AM_V_GEN)$(MKDIR_P) %D% && printf '#!/bin/sh\nexec %s "$$@"\n' '$(JHOT_RUNS)' >$@.part && chmod +x $@.part && \
	./$@.part --version >/dev/null && mv $@.part $@
CLEANFILES += %D%/program %D%/program.part
else
help_program = jhot$(EXEEXT)
endif
man1_MANS = %D%/jhot.1
%D%/jhot.1: %D%/jhot.1.in %D%/jhot.7.in %D%/man.sh $(help_program)
	$(AM_V_GEN)$(MKDIR_P) %D% && \
	$(SHELL) $(srcdir)/%D%/man.sh ./$(help_program) <$(srcdir)/%D%/jhot.1.in >$@.part && mv $@.part $@
CLEANFILES += %D%/jhot.1 %D%/jhot.1.part

# Completions: from the same texts.
bashcompdir = $(datadir)/bash-completion/completions
zshcompdir = $(datadir)/zsh/site-functions
fishcompdir = $(datadir)/fish/vendor_completions.d
bashcomp_DATA = %D%/completions/jhot
zshcomp_DATA = %D%/completions/_jhot
fishcomp_DATA = %D%/completions/jhot.fish
completions = $(bashcomp_DATA) $(zshcomp_DATA) $(fishcomp_DATA)
%D%/completions/jhot: %D%/completions.sh $(help_program)
	$(AM_V_GEN)$(MKDIR_P) %D%/completions && \
	$(SHELL) $(srcdir)/%D%/completions.sh ./$(help_program) bash >$@.part && mv $@.part $@
%D%/completions/_jhot: %D%/completions.sh $(help_program)
	$(AM_V_GEN)$(MKDIR_P) %D%/completions && \
	$(SHELL) $(srcdir)/%D%/completions.sh ./$(help_program) zsh >$@.part && mv $@.part $@
%D%/completions/jhot.fish: %D%/completions.sh $(help_program)
	$(AM_V_GEN)$(MKDIR_P) %D%/completions && \
	$(SHELL) $(srcdir)/%D%/completions.sh ./$(help_program) fish >$@.part && mv $@.part $@
CLEANFILES += $(completions)
endif
EXTRA_DIST += %D%/completions.sh

if !CROSS
check_SCRIPTS += tests/cli/test_completions.sh
check_SCRIPTS += tests/lint/test_man.sh
endif

# Redraws the picture in README.md.
.PHONY: picture
picture: all demo
	JAVA="$(JDK)/bin/java" $(srcdir)/%D%/picture.sh

EXTRA_DIST += %D%/picture.sh %D%/picture.py %D%/screen-methods.svg %D%/screen-tree.svg %D%/screen-flame.svg
