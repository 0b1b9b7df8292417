/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of an interrupted thread, from the ucontext that its signal handler was given. */
#ifndef JHOT_WALK_FRAMES_REGS_H
#define JHOT_WALK_FRAMES_REGS_H

#ifndef _GNU_SOURCE
#error "regs.h needs _GNU_SOURCE for the names of registers"
#endif

#if defined(__x86_64__)
#include "walk/frames/regs_x86_64.h"
#elif defined(__aarch64__)
#include "walk/frames/regs_aarch64.h"
#else
#error "no regs_<arch>.h for this CPU"
#endif

#endif
