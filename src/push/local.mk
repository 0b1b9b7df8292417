# SPDX-License-Identifier: Apache-2.0
# Pushing profiles to a receiver. libcurl is loaded when it is needed, so nothing is linked to it; the one file cannot load it.

noinst_LIBRARIES += libpush.a libpush_none.a
push_sources = %D%/body.c %D%/push.h %D%/reply.c %D%/token.c %D%/url.c
libpush_none_a_SOURCES = $(push_sources) %D%/http_none.c
libpush_a_SOURCES = $(push_sources)
if CURL
libpush_a_SOURCES += %D%/http.c
else
libpush_a_SOURCES += %D%/http_none.c
EXTRA_DIST += %D%/http.c
endif
