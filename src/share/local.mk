# SPDX-License-Identifier: Apache-2.0
# Copies of a session's profile for other jhot processes.

noinst_LIBRARIES += libshare.a
libshare_a_SOURCES = %D%/client.c %D%/server.c %D%/share.h
