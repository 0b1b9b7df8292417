/* SPDX-License-Identifier: Apache-2.0 */
/* The rooms of sessions, as handlers see them. */
#include "sampler/signal/signal.h"

struct sig_room sig_rooms[SIG_ROOMS];
_Atomic uint32_t sig_room_now;
