# SPDX-License-Identifier: Apache-2.0
# What the agent and the front end share; compiled into both.

noinst_LIBRARIES += libwire.a
libwire_a_CFLAGS = $(AM_CFLAGS) -Wconversion
libwire_a_SOURCES = $(wire_sources)
wire_sources = \
	%D%/layout.h %D%/ring.c %D%/ring.h
