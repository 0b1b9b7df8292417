# SPDX-License-Identifier: Apache-2.0
# The model of what was sampled.

noinst_LIBRARIES += libprofile.a
libprofile_a_SOURCES = \
	%D%/calls/calls.h %D%/calls/causes.c %D%/calls/compare.c %D%/calls/compare.h \
	%D%/calls/copy.c %D%/calls/extract.c %D%/calls/extract.h %D%/calls/own.h \
	%D%/calls/pieces.c %D%/calls/pieces.h %D%/calls/report.c %D%/calls/report.h \
	%D%/calls/store.c %D%/calls/summary.c \
	%D%/cut.c %D%/cut.h %D%/history.h %D%/profile.h %D%/vitals.c %D%/vitals.h \
	%D%/diff/diff.c %D%/diff/diff.h %D%/diff/inside.h %D%/diff/merge.c %D%/diff/permutation.c \
	%D%/diff/significance.c \
	%D%/model/events.c %D%/model/feed.c %D%/model/fit.h %D%/model/methods.c %D%/model/model.h \
	%D%/model/resting.c %D%/model/slices.c %D%/model/slices.h %D%/model/stacks.c \
	%D%/model/sweep.c %D%/model/tally.c %D%/model/tally.h %D%/model/threads.c %D%/model/trie.c \
	%D%/model/trie.h %D%/model/vitals.c %D%/model/waits.c \
	%D%/query/error.c %D%/query/error.h %D%/query/filter.c %D%/query/filter.h %D%/query/fold.c \
	%D%/query/match.h %D%/query/query.c %D%/query/query.h %D%/query/sums.c \
	%D%/table/callers.c %D%/table/callers.h %D%/table/calltree.c %D%/table/calltree.h \
	%D%/table/calltree_build.h %D%/table/calltree_inverted.c %D%/table/flat.c %D%/table/flat.h \
	%D%/table/rank.c %D%/table/rank.h
