/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binds libc functions to symbol versions of glibc 2.17 or earlier. Up to glibc 2.33 these symbols are in libpthread
 * and libdl, so the agent is linked with both. Every file that calls one of these functions must include this header;
 * the lint of the agent's imports reports functions missing here.
 */
#ifndef JHOT_SAMPLER_COMPAT_H
#define JHOT_SAMPLER_COMPAT_H

#include <features.h>

/* musl's symbols are not versioned. */
#if defined(__GLIBC__)
#if defined(__x86_64__)
#define COMPAT_VERSION "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define COMPAT_VERSION "GLIBC_2.17"
#endif

#define COMPAT(name) __asm__(".symver " #name "," #name "@" COMPAT_VERSION)

COMPAT(pthread_create);
COMPAT(pthread_join);
COMPAT(pthread_attr_setstacksize);
COMPAT(dlopen);
COMPAT(dlsym);
COMPAT(dlclose);
COMPAT(dladdr);
#endif

#endif
