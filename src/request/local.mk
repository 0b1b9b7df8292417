# SPDX-License-Identifier: Apache-2.0
# libjhotrequest.so, which Request.java loads; `jhot agent --requests` writes both.

noinst_PROGRAMS += libjhotrequest.so
libjhotrequest_so_CPPFLAGS = $(AM_CPPFLAGS) $(JVMTI_CFLAGS)
# General registers only: before glibc 2.40, the first access to a thread-local variable could change the others.
libjhotrequest_so_CFLAGS = $(PLAIN_CFLAGS) -O2 -fPIC -fvisibility=hidden -fno-stack-protector -mgeneral-regs-only $(TLS_CFLAGS)
libjhotrequest_so_LDFLAGS = -shared -nostdlib -Wl,-z,now -Wl,-z,relro -Wl,-z,noexecstack -Wl,-soname,libjhotrequest.so
libjhotrequest_so_SOURCES = %D%/request.c %D%/request.h
$(libjhotrequest_so_OBJECTS): CFLAGS += -fno-stack-protector -U_FORTIFY_SOURCE -Wp,-U_FORTIFY_SOURCE
EXTRA_DIST += %D%/Request.java
