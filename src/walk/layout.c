/* SPDX-License-Identifier: Apache-2.0 */
/* Fills struct walk_layout from HotSpot's exported tables; every row that a JDK needs must be there. */
#include "walk/layout.h"
#include "walk/arch.h"
#include "walk/mem.h"

#define JDK_ANY    0
#define JDK_NEWEST 99
#define JDK_NEVER  255 /* nice to have */
#define NAME_CAP   64

/* --- the rows ---------------------------------------------------------------------------------------- */

enum row_kind { ROW_FIELD, ROW_STATIC, ROW_SIZE, ROW_INT, ROW_LONG };

/*
 * One thing to read. Rows of one group are alternatives: the layout is usable when one of them was found.
 * A group is required of JDKs since..until; outside of it, what is found is kept.
 */
struct row {
	uint8_t group, kind, since, until;
	const char *type, *field;
	uint16_t dest;
	uint8_t bytes; /* 0: as the type string says */
};

#define AT(member) (uint16_t) offsetof(struct walk_layout, member)
#define FIELD(g, t, f, m, b)                                      \
	{                                                         \
		g, ROW_FIELD, JDK_ANY, JDK_NEWEST, t, f, AT(m), b \
	}
#define FIELD_IN(g, since, until, t, f, m, b)              \
	{                                                  \
		g, ROW_FIELD, since, until, t, f, AT(m), b \
	}
#define STATIC(g, t, f, m)                                         \
	{                                                          \
		g, ROW_STATIC, JDK_ANY, JDK_NEWEST, t, f, AT(m), 8 \
	}
#define STATIC_IN(g, since, until, t, f, m)                 \
	{                                                   \
		g, ROW_STATIC, since, until, t, f, AT(m), 8 \
	}
#define SIZE(g, t, m)                                               \
	{                                                           \
		g, ROW_SIZE, JDK_ANY, JDK_NEWEST, t, NULL, AT(m), 4 \
	}
#define SIZE_IN(g, since, until, t, m)                       \
	{                                                    \
		g, ROW_SIZE, since, until, t, NULL, AT(m), 4 \
	}

#define NICE(g, t, f, m)                                           \
	{                                                          \
		g, ROW_FIELD, JDK_NEVER, JDK_NEVER, t, f, AT(m), 8 \
	}

#define NUMBER_IN(g, kind, since, name, m)                       \
	{                                                        \
		g, kind, since, JDK_NEWEST, name, NULL, AT(m), 4 \
	}

/* What is needed only while reading. */
struct scratch {
	struct walk_layout layout; /* first: rows of both kinds share one base */
	uint64_t heap, heaps, low_bound, high_bound;
	uint64_t interpreter, call_stub_return;
	uint64_t jdk_version, vm_major;
	struct walk_field jdk_major;
	struct walk_field heap_memory, heap_segmap, heap_shift;
	struct walk_field space_low, space_high_boundary, array_len, array_data;
	struct walk_field thread_handle_return;
	struct walk_field queue_buffer, queue_limit, codelet_size, codelet_description;
	uint64_t smr_list, thread_list;
	int32_t call_wrapper_words;
};
#define TMP(member) (uint16_t) offsetof(struct scratch, member)
#define TFIELD(g, t, f, m, b)                                      \
	{                                                          \
		g, ROW_FIELD, JDK_ANY, JDK_NEWEST, t, f, TMP(m), b \
	}
#define TSTATIC(g, t, f, m)                                         \
	{                                                           \
		g, ROW_STATIC, JDK_ANY, JDK_NEWEST, t, f, TMP(m), 8 \
	}

static const struct row rows[] = {
	TSTATIC(1, "Abstract_VM_Version", "_vm_major_version", vm_major),
	{2, ROW_STATIC, 8, 21, "JDK_Version", "_current", TMP(jdk_version), 8},
	{3, ROW_FIELD, 8, 21, "JDK_Version", "_major", TMP(jdk_major), 1},

	TSTATIC(4, "CodeCache", "_heaps", heaps),
	TSTATIC(4, "CodeCache", "_heap", heap),
	{5, ROW_STATIC, 9, JDK_NEWEST, "CodeCache", "_low_bound", TMP(low_bound), 8},
	{6, ROW_STATIC, 9, JDK_NEWEST, "CodeCache", "_high_bound", TMP(high_bound), 8},
	TFIELD(7, "CodeHeap", "_memory", heap_memory, 8),
	TFIELD(8, "CodeHeap", "_segmap", heap_segmap, 8),
	TFIELD(9, "CodeHeap", "_log2_segment_size", heap_shift, 4),
	TFIELD(10, "VirtualSpace", "_low", space_low, 8),
	TFIELD(11, "VirtualSpace", "_high_boundary", space_high_boundary, 8),
	{12, ROW_FIELD, 9, JDK_NEWEST, "GrowableArrayBase", "_len", TMP(array_len), 4},
	{12, ROW_FIELD, 9, JDK_NEWEST, "GenericGrowableArray", "_len", TMP(array_len), 4},
	{13, ROW_FIELD, 9, JDK_NEWEST, "GrowableArray<int>", "_data", TMP(array_data), 8},
	FIELD(14, "HeapBlock::Header", "_used", block_used, 1),
	SIZE(15, "HeapBlock", heap_block_bytes),
	TSTATIC(16, "AbstractInterpreter", "_code", interpreter),
	TFIELD(17, "StubQueue", "_stub_buffer", queue_buffer, 8),
	TFIELD(18, "StubQueue", "_buffer_limit", queue_limit, 4),
	TFIELD(19, "InterpreterCodelet", "_size", codelet_size, 4),
	TFIELD(20, "InterpreterCodelet", "_description", codelet_description, 8),
	TSTATIC(21, "StubRoutines", "_call_stub_return_address", call_stub_return),

	FIELD(22, "CodeBlob", "_name", blob_name, 8),
	FIELD(23, "CodeBlob", "_size", blob_size, 4),
	FIELD(24, "CodeBlob", "_frame_size", blob_frame_size, 4),
	FIELD(25, "CodeBlob", "_frame_complete_offset", blob_frame_complete, 0),
	FIELD(26, "CodeBlob", "_code_offset", code_offset, 4),
	FIELD(26, "CodeBlob", "_code_begin", code_begin, 8),
	FIELD_IN(27, 25, JDK_NEWEST, "CodeBlob", "_mutable_data", mutable_data, 8),
	FIELD_IN(28, 25, JDK_NEWEST, "CodeBlob", "_relocation_size", relocation_size, 4),
	FIELD_IN(29, 23, 24, "CodeBlob", "_data_offset", data_offset, 4),

	SIZE(30, "nmethod", nmethod_bytes),
	FIELD(31, "nmethod", "_method", nmethod_method, 8),
	FIELD(31, "CompiledMethod", "_method", nmethod_method, 8),
	FIELD_IN(32, JDK_ANY, 24, "nmethod", "_metadata_offset", metadata_offset, 0),
	FIELD_IN(33, 23, JDK_NEWEST, "nmethod", "_immutable_data", immutable_data, 8),
	FIELD(34, "nmethod", "_scopes_data_offset", scopes_data_offset, 4),
	FIELD(34, "CompiledMethod", "_scopes_data_begin", scopes_data_begin, 8),
	FIELD(35, "nmethod", "_scopes_pcs_offset", scopes_pcs_offset, 4),
	FIELD_IN(36, JDK_ANY, 22, "nmethod", "_dependencies_offset", dependencies_offset, 4),
	/* Only for the memo of code. */
	{113, ROW_FIELD, JDK_NEVER, JDK_NEVER, "nmethod", "_compile_id", AT(compile_id), 4},
	FIELD(37, "nmethod", "_comp_level", comp_level, 1),
	FIELD(38, "nmethod", "_orig_pc_offset", orig_pc_offset, 4),
	FIELD(39, "nmethod", "_entry_bci", entry_bci, 4),
	FIELD(40, "nmethod", "_osr_entry_point", osr_entry, 8),
	FIELD(41, "nmethod", "_verified_entry_point", verified_entry_point, 8),
	FIELD(41, "nmethod", "_verified_entry_offset", verified_entry_offset, 2),
	FIELD(42, "nmethod", "_deoptimize_offset", deopt_offset, 4),
	FIELD(42, "nmethod", "_deopt_handler_offset", deopt_offset, 4),
	FIELD(42, "nmethod", "_deopt_handler_entry_offset", deopt_offset, 4),
	FIELD(42, "CompiledMethod", "_deopt_handler_begin", deopt_begin, 8),
	FIELD_IN(43, JDK_ANY, 25, "nmethod", "_deoptimize_mh_offset", deopt_mh_offset, 4),
	FIELD_IN(43, JDK_ANY, 25, "nmethod", "_deopt_mh_handler_offset", deopt_mh_offset, 4),
	FIELD_IN(43, JDK_ANY, 25, "CompiledMethod", "_deopt_mh_handler_begin", deopt_mh_begin, 8),
	SIZE(44, "PcDesc", pc_desc_bytes),
	FIELD(45, "PcDesc", "_pc_offset", pc_desc_pc, 4),
	FIELD(46, "PcDesc", "_scope_decode_offset", pc_desc_scope, 4),

	FIELD(47, "JavaCallWrapper", "_anchor", wrapper_anchor, 8),
	FIELD(48, "JavaFrameAnchor", "_last_Java_sp", anchor_sp, 8),
	FIELD(49, "JavaFrameAnchor", "_last_Java_pc", anchor_pc, 8),
	FIELD(50, "JavaFrameAnchor", "_last_Java_fp", anchor_fp, 8),
	{51, ROW_INT, ARCH_WRAPPER_SINCE, ARCH_WRAPPER_UNTIL,
		"frame::entry_frame_call_wrapper_offset", NULL, TMP(call_wrapper_words), 4},

	FIELD(52, "JavaThread", "_anchor", thread_anchor, 8),
	FIELD(53, "JavaThread", "_osthread", thread_osthread, 8),
	FIELD(53, "Thread", "_osthread", thread_osthread, 8),
	FIELD(54, "JavaThread", "_thread_state", thread_state, 4),
	FIELD(55, "JavaThread", "_vframe_array_head", thread_vframe, 8),
	FIELD(56, "JavaThread", "_stack_base", thread_stack_base, 8),
	FIELD(57, "JavaThread", "_stack_size", thread_stack_size, 8),
	FIELD(58, "OSThread", "_thread_id", osthread_tid, 4),
	FIELD(59, "CompilerThread", "_env", compiler_env, 8),
	FIELD(60, "ciEnv", "_task", env_task, 8),
	FIELD(61, "CompileTask", "_method", task_method, 8),
	TSTATIC(62, "ThreadsSMRSupport", "_java_thread_list", smr_list),
	TSTATIC(62, "Threads", "_thread_list", thread_list),
	FIELD_IN(63, 17, JDK_NEWEST, "ThreadsList", "_length", threads_length, 4),
	FIELD_IN(64, 17, JDK_NEWEST, "ThreadsList", "_threads", threads_array, 8),
	FIELD_IN(65, JDK_ANY, 16, "JavaThread", "_next", thread_next, 8),

	FIELD_IN(66, 25, JDK_NEWEST, "JavaThread", "_cont_entry", cont_entry, 8),
	{85, ROW_FIELD, 21, 21, "JavaThread", "_is_method_handle_return", TMP(thread_handle_return),
		4},
	SIZE_IN(67, 25, JDK_NEWEST, "ContinuationEntry", cont_entry_bytes),
	STATIC_IN(68, 25, JDK_NEWEST, "ContinuationEntry", "_return_pc", cont_return_pc),
	STATIC_IN(69, 27, JDK_NEWEST, "StubRoutines", "_cont_returnBarrier", cont_return_barrier),
	STATIC_IN(86, 21, JDK_NEWEST, "CompressedOops", "_narrow_oop._base", narrow_oop_base),
	STATIC_IN(86, 21, JDK_NEWEST, "CompressedOops", "_base", narrow_oop_base),
	STATIC_IN(87, 21, JDK_NEWEST, "CompressedOops", "_narrow_oop._shift", narrow_oop_shift),
	STATIC_IN(87, 21, JDK_NEWEST, "CompressedOops", "_shift", narrow_oop_shift),
	STATIC_IN(88, 21, JDK_NEWEST, "CompressedKlassPointers", "_narrow_klass._base",
		narrow_klass_base),
	STATIC_IN(88, 21, JDK_NEWEST, "CompressedKlassPointers", "_base", narrow_klass_base),
	STATIC_IN(89, 21, JDK_NEWEST, "CompressedKlassPointers", "_narrow_klass._shift",
		narrow_klass_shift),
	STATIC_IN(89, 21, JDK_NEWEST, "CompressedKlassPointers", "_shift", narrow_klass_shift),
	NUMBER_IN(90, ROW_LONG, 25, "markWord::klass_shift", mark_klass_shift),
	NUMBER_IN(91, ROW_INT, 21, "FieldInfo::FieldFlags::_ff_initialized", field_initialized),
	NUMBER_IN(92, ROW_INT, 21, "FieldInfo::FieldFlags::_ff_injected", field_injected),
	NUMBER_IN(93, ROW_INT, 21, "FieldInfo::FieldFlags::_ff_generic", field_generic),
	NUMBER_IN(94, ROW_INT, 21, "FieldInfo::FieldFlags::_ff_contended", field_contended),
	FIELD(95, "Klass", "_layout_helper", klass_layout_helper, 4),
	FIELD(98, "Klass", "_super", klass_super, 8),
	FIELD(96, "InstanceKlass", "_constants", klass_constants, 8),
	FIELD_IN(97, 21, JDK_NEWEST, "InstanceKlass", "_fieldinfo_stream", klass_fields, 8),
	FIELD_IN(70, 25, JDK_NEWEST, "UpcallStub", "_frame_data_offset", upcall_frame_data, 4),
	FIELD_IN(71, 25, JDK_NEWEST, "UpcallStub::FrameData", "jfa", upcall_anchor, 8),

	FIELD(72, "Method", "_constMethod", method_const, 8),
	FIELD(73, "ConstMethod", "_constants", const_constants, 8),
	FIELD(74, "ConstMethod", "_constMethod_size", const_size, 4),
	FIELD(75, "ConstMethod", "_name_index", const_name, 2),
	FIELD(76, "ConstMethod", "_signature_index", const_signature, 2),
	FIELD(77, "ConstMethod", "_code_size", const_code_size, 2),
	/* Only for line numbers: no JDK is without, but none is refused for it. */
	{99, ROW_FIELD, JDK_NEVER, JDK_NEVER, "ConstMethod", "_flags", AT(const_flags), 2},
	{99, ROW_FIELD, JDK_NEVER, JDK_NEVER, "ConstMethod", "_flags._flags", AT(const_flags), 2},
	/* Only for what a thread waits for. */
	{100, ROW_FIELD, JDK_NEVER, JDK_NEVER, "JavaThread", "_current_pending_monitor",
		AT(thread_pending), 8},
	{100, ROW_FIELD, JDK_NEVER, JDK_NEVER, "Thread", "_current_pending_monitor",
		AT(thread_pending), 8},
	{101, ROW_FIELD, JDK_NEVER, JDK_NEVER, "JavaThread", "_current_waiting_monitor",
		AT(thread_waiting), 8},
	{101, ROW_FIELD, JDK_NEVER, JDK_NEVER, "Thread", "_current_waiting_monitor",
		AT(thread_waiting), 8},
	/* Only for dumps: what a thread is called, who holds what it waits for. */
	NICE(102, "JavaThread", "_threadObj", thread_object),
	NICE(103, "ObjectMonitor", "_object", monitor_object),
	NICE(104, "ObjectMonitor", "_owner", monitor_owner),
	NICE(106, "JavaThread", "_lock_stack", thread_lock_stack),
	{107, ROW_FIELD, JDK_NEVER, JDK_NEVER, "LockStack", "_top", AT(lock_stack_top), 4},
	NICE(108, "LockStack", "_base[0]", lock_stack_base),
	NICE(105, "InstanceKlass", "_fields", klass_fields_old),
	{86, ROW_STATIC, JDK_NEVER, JDK_NEVER, "Universe", "_narrow_oop._base", AT(narrow_oop_base),
		8},
	{87, ROW_STATIC, JDK_NEVER, JDK_NEVER, "Universe", "_narrow_oop._shift",
		AT(narrow_oop_shift), 8},
	{88, ROW_STATIC, JDK_NEVER, JDK_NEVER, "Universe", "_narrow_klass._base",
		AT(narrow_klass_base), 8},
	{89, ROW_STATIC, JDK_NEVER, JDK_NEVER, "Universe", "_narrow_klass._shift",
		AT(narrow_klass_shift), 8},
	/* Only for alloc and lock, which say what is missing. */
	{109, ROW_STATIC, JDK_NEVER, JDK_NEVER, "java_lang_Class", "_klass_offset", AT(class_klass),
		8},
	NICE(110, "JavaThread", "_vthread", thread_virtual),
	NICE(111, "JavaThread", "_monitor_owner_id", thread_owner_id),
	{112, ROW_INT, JDK_NEVER, JDK_NEVER, "_thread_blocked", NULL, AT(thread_blocked), 4},
	SIZE(78, "ConstMethod", const_method_bytes),
	SIZE(79, "ConstantPool", constant_pool_bytes),
	FIELD(80, "ConstantPool", "_pool_holder", pool_holder, 8),
	FIELD(81, "ConstantPool", "_length", pool_length, 4),
	FIELD(82, "Klass", "_name", klass_name, 8),
	FIELD(83, "Symbol", "_length", symbol_length, 2),
	FIELD(84, "Symbol", "_body", symbol_body, 1),
	FIELD(84, "Symbol", "_body[0]", symbol_body, 1),
};
#define ROWS   (sizeof(rows) / sizeof(rows[0]))
#define GROUPS 114

/*
 * What HotSpot does not export, by JDK: interpreter frame slots in words from fp, and since 20 (JDK-8292758)
 * UNSIGNED5 leaves out the byte 0. JDK 21 has continuations but exports none of their fields. Method and sender sp have been at -3 and -1 on both CPUs for ever;
 * JDK 9 put the mirror between Method and bcp.
 */
struct fact {
	int32_t since, bcp, unsigned5_excluded;
	int32_t cont_entry; /* JavaThread::_cont_entry, from _is_method_handle_return; 0: not known */
};
static const struct fact facts[] = {
	{8, ARCH_INTERP_BCP_8, 0, 0},
	{9, ARCH_INTERP_BCP_9, 0, 0},
	{20, ARCH_INTERP_BCP_9, 1, 0},
	{21, ARCH_INTERP_BCP_9, 1, 32},
	{22, ARCH_INTERP_BCP_9, 1, 0},
};

/* --- reading ----------------------------------------------------------------------------------------- */

struct reader {
	const struct walk_mem *mem;
	const struct walk_tables *tables;
	struct scratch *scratch;
	bool found[ROWS];
	char *note;
	size_t note_bytes, note_used;
};

static bool text_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static void note_add(struct reader *r, const char *text)
{
	for (; *text && r->note_used + 1 < r->note_bytes; text++)
		r->note[r->note_used++] = *text;
	if (r->note_bytes)
		r->note[r->note_used] = '\0';
}

static int note_missing(struct reader *r, const char *type, const char *field)
{
	note_add(r, "walker not available: ");
	note_add(r, type);
	if (field) {
		note_add(r, "::");
		note_add(r, field);
	}
	note_add(r, " is not exported by this JVM");
	return -1;
}

static int note_wrong(struct reader *r, const char *what)
{
	note_add(r, "walker not available: ");
	note_add(r, what);
	return -1;
}

/* The value of an exported variable of HotSpot's; 0 if there is no such symbol. */
static uint64_t symbol_value(struct reader *r, const char *stem, const char *suffix)
{
	char name[NAME_CAP];
	size_t n = 0;

	for (; *stem; stem++)
		name[n++] = *stem;
	for (; *suffix && n + 1 < sizeof(name); suffix++)
		name[n++] = *suffix;
	name[n] = '\0';

	uint64_t addr = r->tables->symbol(r->tables->ctx, name);

	return addr ? mem_u64(r->mem, addr) : 0;
}

/* Widths of the types that vary between releases; what is not here must be given by the row. */
static uint8_t type_bytes(const char *type)
{
	static const struct {
		const char *name;
		uint8_t bytes;
	} widths[] = {
		{"int", 4}, {"int16_t", 2}, {"u2", 2}, {"short", 2}, {"uint", 4}, {"int32_t", 4}};

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		if (text_equal(type, widths[i].name))
			return widths[i].bytes;
	return 0;
}

static void *row_dest(struct reader *r, const struct row *row)
{
	return (char *)r->scratch + row->dest;
}

struct struct_entry {
	char type[NAME_CAP], field[NAME_CAP], type_string[NAME_CAP];
	uint32_t is_static;
	uint64_t offset, address;
};

static void struct_entry_store(struct reader *r, const struct struct_entry *e)
{
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *row = &rows[i];

		if (row->kind > ROW_STATIC || (row->kind == ROW_STATIC) != (e->is_static != 0) ||
			!text_equal(row->type, e->type) || !text_equal(row->field, e->field))
			continue;
		if (row->kind == ROW_STATIC) {
			*(uint64_t *)row_dest(r, row) = e->address;
		} else {
			struct walk_field *field = row_dest(r, row);

			field->bytes = row->bytes ? row->bytes : type_bytes(e->type_string);
			if (!field->bytes)
				continue;
			field->offset = (int32_t)e->offset;
		}
		r->found[i] = true;
	}
}

static bool structs_read(struct reader *r)
{
	uint64_t entry = symbol_value(r, "gHotSpotVMStructs", "");
	uint64_t stride = symbol_value(r, "gHotSpotVMStructEntryArrayStride", "");
	uint64_t type = symbol_value(r, "gHotSpotVMStructEntry", "TypeNameOffset");
	uint64_t field = symbol_value(r, "gHotSpotVMStructEntry", "FieldNameOffset");
	uint64_t type_string = symbol_value(r, "gHotSpotVMStructEntry", "TypeStringOffset");
	uint64_t is_static = symbol_value(r, "gHotSpotVMStructEntry", "IsStaticOffset");
	uint64_t offset = symbol_value(r, "gHotSpotVMStructEntry", "OffsetOffset");
	uint64_t address = symbol_value(r, "gHotSpotVMStructEntry", "AddressOffset");
	struct struct_entry e;

	if (!entry || !stride)
		return false;
	for (;; entry += stride) {
		if (mem_string(r->mem, mem_u64(r->mem, entry + type), e.type, NAME_CAP) < 0)
			return true;
		if (mem_string(r->mem, mem_u64(r->mem, entry + field), e.field, NAME_CAP) < 0)
			return true;
		if (mem_string(r->mem, mem_u64(r->mem, entry + type_string), e.type_string,
			    NAME_CAP) < 0)
			e.type_string[0] = '\0';
		e.is_static = mem_u32(r->mem, entry + is_static);
		e.offset = mem_u64(r->mem, entry + offset);
		e.address = mem_u64(r->mem, entry + address);
		struct_entry_store(r, &e);
	}
}

/* The tables of sizes and of int constants have one shape: a name and a number. */
static bool numbers_read(struct reader *r, const char *table, const char *stem,
	const char *name_suffix, const char *value_suffix, enum row_kind kind)
{
	uint64_t entry = symbol_value(r, table, "");
	uint64_t stride = symbol_value(r, stem, "ArrayStride");
	uint64_t name_offset = symbol_value(r, stem, name_suffix);
	uint64_t value_offset = symbol_value(r, stem, value_suffix);
	char name[NAME_CAP];

	if (!entry || !stride)
		return false;
	for (; mem_string(r->mem, mem_u64(r->mem, entry + name_offset), name, NAME_CAP) >= 0;
		entry += stride) {
		for (size_t i = 0; i < ROWS; i++) {
			if (rows[i].kind != kind || !text_equal(rows[i].type, name))
				continue;
			*(uint32_t *)row_dest(r, &rows[i]) = mem_u32(r->mem, entry + value_offset);
			r->found[i] = true;
		}
	}
	return true;
}

static void fields_clear(struct reader *r)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].kind == ROW_FIELD)
			((struct walk_field *)row_dest(r, &rows[i]))->offset = -1;
}

/* JDK_Version::_current went away after 21; _vm_major_version is the JDK's since 11, but 25 on JDK 8. */
static int32_t jdk_read(struct reader *r)
{
	struct scratch *s = r->scratch;

	if (s->jdk_version && s->jdk_major.offset >= 0)
		return (int32_t)layout_load(&s->jdk_major, r->mem, s->jdk_version);
	return s->vm_major ? (int32_t)mem_u32(r->mem, s->vm_major) : 0;
}

static int groups_check(struct reader *r, int32_t jdk)
{
	bool have[GROUPS] = {false};

	for (size_t i = 0; i < ROWS; i++)
		have[rows[i].group] |= r->found[i];
	for (size_t i = 0; i < ROWS; i++)
		if (!have[rows[i].group] && jdk >= rows[i].since && jdk <= rows[i].until)
			return note_missing(r, rows[i].type, rows[i].field);
	return 0;
}

/* --- derived facts ----------------------------------------------------------------------------------- */

static bool heap_read(struct reader *r, uint64_t heap, struct walk_heap *out)
{
	struct scratch *s = r->scratch;
	uint64_t memory = heap + (uint64_t)s->heap_memory.offset;

	out->low = layout_load(&s->space_low, r->mem, memory);
	out->high = layout_load(&s->space_high_boundary, r->mem, memory);
	out->segmap = layout_load(&s->space_low, r->mem, heap + (uint64_t)s->heap_segmap.offset);
	out->shift = (uint32_t)layout_load(&s->heap_shift, r->mem, heap);
	return out->low && out->high > out->low && out->segmap && out->shift && out->shift < 20;
}

static int code_cache_read(struct reader *r)
{
	struct scratch *s = r->scratch;
	struct walk_layout *l = &s->layout;
	uint64_t array = 0, one = 0;
	uint32_t count = 1;

	if (s->heaps) {
		uint64_t growable = mem_u64(r->mem, s->heaps);

		count = (uint32_t)layout_load(&s->array_len, r->mem, growable);
		array = layout_load(&s->array_data, r->mem, growable);
	} else {
		one = mem_u64(r->mem, s->heap);
	}
	if (count == 0 || count > LAYOUT_HEAPS)
		return note_wrong(r, "CodeCache::_heaps has an unexpected length");
	for (uint32_t i = 0; i < count; i++)
		if (!heap_read(r, array ? mem_u64(r->mem, array + 8ull * i) : one, &l->heaps[i]))
			return note_wrong(r, "a CodeHeap could not be read");
	l->heap_count = count;
	l->code_low = s->low_bound ? mem_u64(r->mem, s->low_bound) : l->heaps[0].low;
	l->code_high = s->high_bound ? mem_u64(r->mem, s->high_bound) : l->heaps[0].high;
	if (!l->code_low || l->code_high <= l->code_low)
		return note_wrong(r, "the code cache's bounds could not be read");
	return 0;
}

static bool text_starts(const char *text, const char *prefix)
{
	while (*prefix && *text == *prefix) {
		text++;
		prefix++;
	}
	return !*prefix;
}

static void range_extend(struct walk_range *range, uint64_t low, uint64_t high)
{
	if (!range->low || low < range->low)
		range->low = low;
	if (high > range->high)
		range->high = high;
}

/* Codelets are told apart by what HotSpot calls them when it prints the interpreter. */
static void codelet_note(
	struct walk_layout *l, const char *description, uint64_t low, uint64_t high)
{
	static const char *const returns[LAYOUT_RETURNS] = {"return entry points",
		"invoke return entry points", "earlyret entry points",
		"deoptimization entry points"};

	static const char *const framed[LAYOUT_FRAMED] = {
		"zerolocals)", "zerolocals_synchronized)", "native)", "native_synchronized)"};
	static const char entry[] = "method entry point (kind = ", native[] = "native ";

	if (text_starts(description, native))
		description += sizeof(native) - 1;
	if (text_starts(description, entry)) {
		range_extend(&l->interpreter_entries, low, high);
		description += sizeof(entry) - 1;
		for (size_t i = 0; i < LAYOUT_FRAMED; i++)
			if (text_equal(description, framed[i]))
				range_extend(&l->interpreter_framed[i], low, high);
	}
	for (size_t i = 0; i < LAYOUT_RETURNS; i++)
		if (text_equal(description, returns[i]))
			range_extend(&l->interpreter_returns[i], low, high);
}

/* The interpreter's range, and within it those of the codelets that matter to the walker. */
static int interpreter_read(struct reader *r)
{
	struct scratch *s = r->scratch;
	struct walk_layout *l = &s->layout;
	uint64_t queue = mem_u64(r->mem, s->interpreter);
	char text[NAME_CAP];

	l->interpreter_low = layout_load(&s->queue_buffer, r->mem, queue);
	l->interpreter_high = l->interpreter_low + layout_load(&s->queue_limit, r->mem, queue);
	if (!l->interpreter_low || l->interpreter_high <= l->interpreter_low)
		return note_wrong(r, "the interpreter's code could not be found");
	for (uint64_t at = l->interpreter_low; at < l->interpreter_high;) {
		uint64_t bytes = layout_load(&s->codelet_size, r->mem, at);
		uint64_t description = layout_load(&s->codelet_description, r->mem, at);

		if (!bytes || bytes > l->interpreter_high - at)
			break;
		if (mem_string(r->mem, description, text, NAME_CAP) >= 0)
			codelet_note(l, text, at, at + bytes);
		at += bytes;
	}
	if (!l->interpreter_framed[0].low || !l->interpreter_returns[0].low)
		return note_wrong(r, "the interpreter's entries could not be found");
	return 0;
}

/* Structs that are copied whole must hold all that is read from them. */
static int copies_check(struct reader *r)
{
	const struct walk_layout *l = &r->scratch->layout;
	const struct {
		const char *type;
		uint32_t bytes;
	} copies[] = {{"CodeBlob", l->nmethod_bytes}, {"nmethod", l->nmethod_bytes},
		{"CompiledMethod", l->nmethod_bytes}, {"ConstMethod", l->const_method_bytes},
		{"PcDesc", l->pc_desc_bytes}};

	for (size_t i = 0; i < ROWS; i++) {
		const struct walk_field *field = row_dest(r, &rows[i]);

		for (size_t k = 0; k < sizeof(copies) / sizeof(copies[0]); k++)
			if (rows[i].kind == ROW_FIELD && r->found[i] &&
				text_equal(rows[i].type, copies[k].type) &&
				(uint32_t)field->offset + field->bytes > copies[k].bytes)
				return note_wrong(r, "a field lies outside of its struct");
	}
	return 0;
}

static int facts_apply(struct reader *r)
{
	struct scratch *s = r->scratch;
	struct walk_layout *l = &s->layout;

	int32_t cont_entry = 0;

	l->interp_method = -3;
	l->interp_sender_sp = -1;
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]) && facts[i].since <= l->jdk; i++) {
		l->interp_bcp = facts[i].bcp;
		l->unsigned5_excluded = facts[i].unsigned5_excluded;
		cont_entry = facts[i].cont_entry;
	}
	if (cont_entry && s->thread_handle_return.offset >= 0)
		l->cont_entry = (struct walk_field){s->thread_handle_return.offset + cont_entry, 8};
	l->call_wrapper = 8 * (s->call_wrapper_words ? s->call_wrapper_words : ARCH_WRAPPER_WORDS);
	l->call_stub_return = mem_u64(r->mem, s->call_stub_return);
	if (!l->call_stub_return)
		return note_wrong(r, "the call stub's return address is not set yet");
	if (l->nmethod_bytes > LAYOUT_BLOB_BYTES || l->pc_desc_bytes > LAYOUT_DESC_BYTES ||
		l->const_method_bytes > LAYOUT_CONST_BYTES)
		return note_wrong(r, "nmethod, PcDesc or ConstMethod has an unexpected size");
	return copies_check(r);
}

static int layout_fill(struct reader *r)
{
	struct scratch *s = r->scratch;
	struct walk_layout *l = &s->layout;

	fields_clear(r);
	if (!structs_read(r) ||
		!numbers_read(r, "gHotSpotVMTypes", "gHotSpotVMTypeEntry", "TypeNameOffset",
			"SizeOffset", ROW_SIZE) ||
		!numbers_read(r, "gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntry",
			"NameOffset", "ValueOffset", ROW_INT) ||
		!numbers_read(r, "gHotSpotVMLongConstants", "gHotSpotVMLongConstantEntry",
			"NameOffset", "ValueOffset", ROW_LONG))
		return note_wrong(r, "the JVM exports no gHotSpotVM tables");
	l->thread_list = s->smr_list ? s->smr_list : s->thread_list;
	l->jdk = jdk_read(r);
	if (l->jdk < 8)
		return note_wrong(r, "the JVM's version could not be read");
	if (groups_check(r, l->jdk))
		return -1;
	if (facts_apply(r) || code_cache_read(r) || interpreter_read(r))
		return -1;
	return 0;
}

int walk_layout_read(struct walk_layout *layout, const struct walk_mem *mem,
	const struct walk_tables *tables, char *note, size_t note_bytes)
{
	struct scratch scratch = {.layout.jdk = 0};
	struct reader r = {.mem = mem,
		.tables = tables,
		.scratch = &scratch,
		.note = note,
		.note_bytes = note_bytes};
	int result;

	if (note_bytes)
		note[0] = '\0';
	scratch.layout.libjvm_start = tables->libjvm_start;
	scratch.layout.libjvm_end = tables->libjvm_end;
	result = layout_fill(&r);
	*layout = scratch.layout;
	return result;
}

size_t walk_layout_size(void)
{
	return sizeof(struct walk_layout);
}

/* --- access ------------------------------------------------------------------------------------------ */

uint64_t layout_field(const struct walk_field *field, const uint8_t *copy)
{
	const uint8_t *at = copy + (uint32_t)field->offset;
	uint32_t four;
	uint64_t eight, value = 0;

	if (field->offset < 0)
		return 0;
	if (field->bytes == 4) {
		__builtin_memcpy(&four, at, sizeof(four));
		return four;
	}
	if (field->bytes == 8) {
		__builtin_memcpy(&eight, at, sizeof(eight));
		return eight;
	}
	for (uint32_t i = field->bytes; i-- > 0;)
		value = value << 8 | at[i];
	return value;
}

uint64_t layout_load(const struct walk_field *field, const struct walk_mem *mem, uint64_t base)
{
	uint64_t value = 0;

	if (field->offset < 0 || !base ||
		!mem_load(mem, base + (uint64_t)field->offset, &value, field->bytes))
		return 0;
	return value;
}

int mem_string(const struct walk_mem *mem, uint64_t addr, char *out, size_t cap)
{
	size_t n = 0;
	uint64_t word;

	if (!addr)
		return -1;
	/* Aligned words never cross into a page that the string itself is not in. */
	for (uint64_t at = addr & ~7ull; n + 1 < cap; at += 8) {
		if (!mem_load(mem, at, &word, sizeof(word)))
			return -1;
		for (unsigned i = at < addr ? (unsigned)(addr - at) : 0; i < 8 && n + 1 < cap;
			i++) {
			out[n] = (char)(word >> (8 * i));
			if (!out[n])
				return (int)n;
			n++;
		}
	}
	out[n] = '\0';
	return (int)n;
}
