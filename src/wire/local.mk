# SPDX-License-Identifier: Apache-2.0
# What the agent and the front end share; compiled into both.

noinst_LIBRARIES += libwire.a
libwire_a_CFLAGS = $(AM_CFLAGS) -Wconversion
libwire_a_SOURCES = $(wire_sources)
wire_sources = \
	%D%/calls.h %D%/control.h %D%/event.h %D%/frame.h %D%/layout.h %D%/lend.h %D%/record.h %D%/ring.c %D%/ring.h %D%/status.h \
	%D%/unwind.h
