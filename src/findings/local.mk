# SPDX-License-Identifier: Apache-2.0
# What is wrong with a program: rules over the model and the vitals.

noinst_LIBRARIES += libfindings.a
libfindings_a_SOURCES = \
	%D%/finding.h %D%/findings.c %D%/findings.h %D%/places.c %D%/places.h %D%/rules.h \
	%D%/scene.c %D%/scene.h \
	%D%/rules/clinit.c %D%/rules/code.c %D%/rules/executors.c %D%/rules/host.c %D%/rules/io.c \
	%D%/rules/locks.c %D%/rules/memory.c %D%/rules/pool.c %D%/rules/requests.c \
	%D%/rules/stops.c
