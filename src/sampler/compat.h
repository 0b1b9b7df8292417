/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oldest versions of libc functions whose newest is later than glibc 2.17. Their symbols live
 * in libpthread and libdl up to glibc 2.33, which is why the agent is linked with both. Include it
 * in every file that calls one of them; the lint of the agent's imports finds what is missing
 * here.
 */
#ifndef JHOT_SAMPLER_COMPAT_H
#define JHOT_SAMPLER_COMPAT_H

#include <features.h>

/* musl's symbols have no versions. */
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
