/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of one JVM's data structures: read once by walk_layout_read, immutable afterwards, and therefore shared by all
 * threads and signal handlers. The caller owns it.
 *
 * Offsets come from HotSpot's exported tables (vmStructs.cpp of each release); the few facts that it does not export are in
 * layout.c, by CPU and JDK. Addresses are in the target's address space. "Optional": absence is not an error.
 */
#ifndef JHOT_WALK_HOTSPOT_LAYOUT_H
#define JHOT_WALK_HOTSPOT_LAYOUT_H

#include "walk/types.h"

#define LAYOUT_HEAPS   8
#define LAYOUT_FRAMED  4
#define LAYOUT_RETURNS 4
/* Upper bounds of structs that are copied whole: nmethod, ConstMethod, PcDesc. */
#define LAYOUT_BLOB_BYTES  512
#define LAYOUT_CONST_BYTES 96
#define LAYOUT_DESC_BYTES  64

/* A field: its offset in its struct, and its width according to the table's type string; offset -1: absent. */
struct walk_field {
	int32_t offset;
	uint8_t bytes;
};

struct walk_range {
	uint64_t low, high;
};

struct walk_heap {
	uint64_t low, high; /* reserved range, which never moves */
	uint64_t segmap;
	uint32_t shift; /* log2 of the segment size */
	/* Addresses of HotSpot's ends of the committed part of heap and segment map, which never decrease; 0: unknown. */
	uint64_t committed_at, segmap_committed_at;
};

struct walk_layout {
	int32_t jdk; /* 8, 11, ... */
	uint64_t libjvm_start, libjvm_end;

	/* code cache */
	uint64_t code_low, code_high;
	struct walk_heap heaps[LAYOUT_HEAPS];
	uint32_t heap_count;
	uint32_t heap_block_bytes; /* size of the HeapBlock header before each CodeBlob */
	uint64_t interpreter_low, interpreter_high;
	struct walk_range interpreter_entries;               /* method entry codelets */
	struct walk_range interpreter_framed[LAYOUT_FRAMED]; /* entries that make a frame */
	/* code that Java callees return to */
	struct walk_range interpreter_returns[LAYOUT_RETURNS];
	uint64_t call_stub_return;
	struct walk_field block_used;
	struct walk_field block_length; /* in segments; optional */

	/* CodeBlob, nmethod (JDK 11-22: CompiledMethod) */
	uint32_t nmethod_bytes;
	struct walk_field blob_name, blob_size, blob_frame_size, blob_frame_complete;
	struct walk_field mutable_data, relocation_size, metadata_offset, data_offset;
	struct walk_field immutable_data, scopes_pcs_offset, dependencies_offset;
	struct walk_field compile_id, nmethod_method, comp_level, orig_pc_offset, entry_bci,
		osr_entry;
	/* read by code_part */
	struct walk_field code_begin, scopes_data, verified_entry, deopt, deopt_mh;
	struct walk_field oop_maps, oop_map_count; /* optional */
	struct walk_field null_checks;             /* optional */
	uint32_t pc_desc_bytes;
	struct walk_field pc_desc_pc, pc_desc_scope;
	int32_t unsigned5_excluded; /* number of byte values that UNSIGNED5 excludes: 0, since JDK 20 1 */

	/* frames; interpreter slots are in words from fp */
	int32_t interp_method, interp_sender_sp, interp_bcp;
	int32_t call_wrapper; /* bytes from an entry frame's fp */
	struct walk_field wrapper_anchor;
	struct walk_field anchor_sp, anchor_pc, anchor_fp;
	/* UpcallStub: offset of its FrameData in its frame, and of the anchor in that; optional. */
	struct walk_field upcall_frame_data, upcall_anchor;

	/* threads */
	struct walk_field thread_anchor, thread_osthread, thread_state, thread_next;
	/* thread_stack_base: the high end */
	struct walk_field thread_stack_base, thread_stack_size, osthread_tid;
	/* The ObjectMonitor* that the thread waits to enter, or waits in with Object.wait; optional. */
	struct walk_field thread_pending, thread_waiting;
	struct walk_field compiler_env, env_task, task_method;
	uint64_t thread_list; /* address of the list head: ThreadsList* or JavaThread* */
	struct walk_field threads_length, threads_array;

	/* continuations, JDK 21+ */
	/* JavaThread::_cont_entry; absent: virtual threads end below their carrier. */
	struct walk_field cont_entry;
	/* ContinuationEntry::_parent, exported since 27; _cont follows it */
	struct walk_field cont_parent;
	uint64_t cont_return_pc; /* address of ContinuationEntry::_return_pc, since 25 */

	/* Objects, JDK 21+: continuations keep frames in the heap. The first four are addresses of HotSpot's variables. */
	uint64_t narrow_oop_base, narrow_oop_shift, narrow_klass_base, narrow_klass_shift;
	uint32_t mark_klass_shift; /* compact object headers, since 24; 0: unknown */
	uint32_t field_initialized, field_injected, field_generic, field_contended; /* flag bits */
	struct walk_field klass_layout_helper, klass_super, klass_constants, klass_fields;
	/* From a class to all classes of its loader, and to its java.lang.Class; optional. */
	struct walk_field klass_next, klass_loader, klass_mirror, loader_klasses;

	/*
	 * Classes of allocated and locked objects; optional. A java.lang.Class has its Klass* at an offset that the JVM stores at
	 * the address class_klass.
	 */
	uint64_t class_klass;
	struct walk_field thread_virtual, thread_owner_id;
	/* the thread-local allocation buffer (TLAB) */
	struct walk_field thread_tlab, tlab_start, tlab_top, tlab_end, tlab_words;
	/* HotSpot's own counts of a thread's allocations */
	struct walk_field thread_allocated, tlab_limit, tlab_refills, tlab_waste, tlab_slow;
	uint32_t thread_blocked; /* value of the state _thread_blocked, 0: unknown */
	uint32_t thread_bytes;   /* sizeof(JavaThread), 0: unknown */

	/* Addresses of HotSpot's bounds of its mapped class archives (CDS); 0: unknown. */
	uint64_t archive_low, archive_high;

	/*
	 * Addresses of JVM counters, jlongs among its performance counters; 0: not counted. While unloaded_classes does not
	 * change, no Method's address has been reused for another class.
	 */
	uint64_t unloaded_classes;
	uint64_t threads_started;

	/* The heap, only to recognize references and their relocation; optional. */
	uint64_t java_heap; /* address of HotSpot's CollectedHeap* */
	struct walk_field heap_collections, heap_reserved, region_start, region_words;

	/*
	 * Address of the flag DebugNonSafepoints, one byte; 0: unknown, or set on the command line. While it is set, code is
	 * compiled with inlining info between safepoints too. debug_info_on: the command line sets it, so all code has it.
	 */
	uint64_t debug_info_at;
	bool debug_info_on;
	bool counters_stay; /* the performance counters are in a mapped file, which is never unmapped */

	/* names */
	struct walk_field method_code; /* optional */
	struct walk_field method_const, const_constants, const_size, const_name, const_signature;
	struct walk_field const_code_size;
	/* Bit 0: a line number table follows the bytecodes. Only for dumps; optional. */
	struct walk_field const_flags;
	uint32_t const_method_bytes, constant_pool_bytes;
	struct walk_field pool_holder, pool_length, klass_name, symbol_length, symbol_body;

	/* Only for dumps; optional. klass_fields_old: before JDK 21. */
	struct walk_field thread_object, monitor_object, monitor_owner, monitor_locker,
		klass_fields_old;
	struct walk_field thread_lock_stack, lock_stack_top, lock_stack_base;
};

/* How to find HotSpot's tables: the addresses of its exported variables, looked up by the caller. */
struct walk_tables {
	/* Address of a dynamic symbol of libjvm, or 0. */
	uint64_t (*symbol)(void *ctx, const char *name);
	void *ctx;
	uint64_t libjvm_start, libjvm_end; /* mapped range of libjvm */
};

/*
 * Reads HotSpot's tables. Returns 0, or -1 with a note that names the missing field ("walker not available:
 * nmethod::_scopes_data_offset is not exported"). Not for signal handlers.
 */
int walk_layout_read(struct walk_layout *layout, const struct walk_mem *mem,
	const struct walk_tables *tables, char *note, size_t note_bytes);

/* Reads a field from a copy of its struct. 0 if the field is absent. */
uint64_t layout_field(const struct walk_field *field, const uint8_t *copy);

/* Loads a field from the target. 0 if the field is absent, base is 0, or memory is unreadable. */
uint64_t layout_load(const struct walk_field *field, const struct walk_mem *mem, uint64_t base);
/* Likewise where base is a code cache block that has been read before, so it is read in place: see mem_word_in_place. */
uint64_t layout_load_in_place(
	const struct walk_field *field, const struct walk_mem *mem, uint64_t base);

/*
 * Decodes one number of HotSpot's UNSIGNED5 coding, used in scopes and field lists (compressedStream.hpp, unsigned5.hpp): 1 to
 * 5 bytes at *at, which is advanced past them. A byte below 192 ends the number; each later byte has 64 times the weight. False
 * if there is no number.
 */
bool layout_number(
	const struct walk_layout *layout, const uint8_t *bytes, uint32_t *at, uint32_t *out);

#endif
