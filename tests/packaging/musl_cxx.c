/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What HotSpot and libjimage want of a C++ library, of which Debian has none for musl: by the names that compilers give it. Nothing
 * here throws, as HotSpot does not: who asks for more memory than there is ends the process.
 */
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>

static void *need(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static void *get(size_t bytes)
{
	return malloc(bytes ? bytes : 1);
}

static void *get_aligned(size_t bytes, size_t align)
{
	void *memory = NULL;

	if (posix_memalign(
		    &memory, align < sizeof(memory) ? sizeof(memory) : align, bytes ? bytes : 1))
		return NULL;
	return memory;
}

/* --- new and delete ------------------------------------------------------------------------------------ */

const char nothrow __asm__("_ZSt7nothrow") = 0;

void *new_one(size_t bytes) __asm__("_Znwm");
void *new_one(size_t bytes)
{
	return need(get(bytes));
}

void *new_one_or_null(size_t bytes, const void *tag) __asm__("_ZnwmRKSt9nothrow_t");
void *new_one_or_null(size_t bytes, const void *tag)
{
	(void)tag;
	return get(bytes);
}

void *new_aligned(size_t bytes, size_t align) __asm__("_ZnwmSt11align_val_t");
void *new_aligned(size_t bytes, size_t align)
{
	return need(get_aligned(bytes, align));
}

/* Of arrays, too: the same. */
__asm__(".globl _Znam; .set _Znam, _Znwm;"
	".globl _ZnamRKSt9nothrow_t; .set _ZnamRKSt9nothrow_t, _ZnwmRKSt9nothrow_t;"
	".globl _ZnamSt11align_val_t; .set _ZnamSt11align_val_t, _ZnwmSt11align_val_t");

void delete_any(void *memory) __asm__("_ZdlPv");
void delete_any(void *memory)
{
	free(memory);
}

/* Sizes and alignments are not looked at. */
__asm__(".globl _ZdaPv; .set _ZdaPv, _ZdlPv;"
	".globl _ZdlPvm; .set _ZdlPvm, _ZdlPv;"
	".globl _ZdaPvm; .set _ZdaPvm, _ZdlPv;"
	".globl _ZdlPvRKSt9nothrow_t; .set _ZdlPvRKSt9nothrow_t, _ZdlPv;"
	".globl _ZdaPvRKSt9nothrow_t; .set _ZdaPvRKSt9nothrow_t, _ZdlPv;"
	".globl _ZdlPvSt11align_val_t; .set _ZdlPvSt11align_val_t, _ZdlPv;"
	".globl _ZdaPvSt11align_val_t; .set _ZdaPvSt11align_val_t, _ZdlPv;"
	".globl _ZdlPvmSt11align_val_t; .set _ZdlPvmSt11align_val_t, _ZdlPv;"
	".globl _ZdaPvmSt11align_val_t; .set _ZdaPvmSt11align_val_t, _ZdlPv");

/* --- variables that are made when they are first met --------------------------------------------------- */

enum { MADE, MAKING };

int guard_acquire(unsigned char *guard) __asm__("__cxa_guard_acquire");
int guard_acquire(unsigned char *guard)
{
	while (!__atomic_load_n(&guard[MADE], __ATOMIC_ACQUIRE)) {
		if (!__atomic_exchange_n(&guard[MAKING], 1, __ATOMIC_ACQ_REL)) {
			if (!__atomic_load_n(&guard[MADE], __ATOMIC_ACQUIRE))
				return 1;
			__atomic_store_n(&guard[MAKING], 0, __ATOMIC_RELEASE);
		}
		sched_yield();
	}
	return 0;
}

void guard_abort(unsigned char *guard) __asm__("__cxa_guard_abort");
void guard_abort(unsigned char *guard)
{
	__atomic_store_n(&guard[MAKING], 0, __ATOMIC_RELEASE);
}

void guard_release(unsigned char *guard) __asm__("__cxa_guard_release");
void guard_release(unsigned char *guard)
{
	__atomic_store_n(&guard[MADE], 1, __ATOMIC_RELEASE);
	guard_abort(guard);
}

/* --- what is named and never called --------------------------------------------------------------------- */

void never(void) __asm__("__cxa_pure_virtual");
void never(void)
{
	abort();
}

__asm__(".globl __cxa_deleted_virtual; .set __cxa_deleted_virtual, __cxa_pure_virtual;"
	".globl __cxa_throw_bad_array_new_length; .set __cxa_throw_bad_array_new_length, "
	"__cxa_pure_virtual;"
	".globl __gxx_personality_v0; .set __gxx_personality_v0, __cxa_pure_virtual;"
	".globl _Unwind_Resume; .set _Unwind_Resume, __cxa_pure_virtual;"
	".globl __cxa_begin_catch; .set __cxa_begin_catch, __cxa_pure_virtual;"
	".globl __cxa_end_catch; .set __cxa_end_catch, __cxa_pure_virtual;"
	".globl _ZSt9terminatev; .set _ZSt9terminatev, __cxa_pure_virtual");

/* Tables of what types are. */
void *class_type[11] __asm__("_ZTVN10__cxxabiv117__class_type_infoE");
void *class_type_si[11] __asm__("_ZTVN10__cxxabiv120__si_class_type_infoE");
void *class_type_vmi[11] __asm__("_ZTVN10__cxxabiv121__vmi_class_type_infoE");

/* For names in HotSpot's report of a crash: none is of C++, and it prints them as they are. */
char *demangle(const char *name, char *out, size_t *bytes, int *status) __asm__("__cxa_demangle");
char *demangle(const char *name, char *out, size_t *bytes, int *status)
{
	(void)name;
	(void)out;
	(void)bytes;
	if (status)
		*status = -2;
	return NULL;
}
