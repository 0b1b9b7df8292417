# SPDX-License-Identifier: Apache-2.0
# What is wrong with a program: rules over the model and the vitals.

noinst_LIBRARIES += libfindings.a
libfindings_a_SOURCES = \
	%D%/finding.h %D%/findings.c %D%/findings.h %D%/rules.h %D%/scene.c %D%/scene.h \
	%D%/rules/codecache.c %D%/rules/deadlock.c %D%/rules/deopt.c %D%/rules/interpreted.c %D%/rules/exceptions.c %D%/rules/gc.c %D%/rules/heap.c %D%/rules/jit.c \
	%D%/rules/classes.c %D%/rules/safepoint.c %D%/rules/stops.c %D%/rules/swap.c %D%/rules/throttled.c \
	%D%/places.c %D%/places.h %D%/rules/cores.c %D%/rules/descriptors.c %D%/rules/finalizers.c %D%/rules/humongous.c %D%/rules/pinned.c \
	%D%/rules/starved.c %D%/rules/threads.c %D%/rules/io.c %D%/rules/locks.c %D%/rules/new.c %D%/rules/pool.c
