/* SPDX-License-Identifier: Apache-2.0 */
/* Reads Method -> ConstMethod -> ConstantPool -> Klass, and checks every step. */
#include "walk/hotspot/method.h"
#include "walk/load/mem.h"

#define SYMBOL_BYTES    64u /* of most Symbols */
#define CONST_HAS_LINES 1u  /* ConstMethod flag, the same in all JDKs */

bool method_load(const struct walk_layout *layout, const struct walk_mem *mem, uint64_t method,
	struct method *out)
{
	const struct walk_layout *l = layout;
	uint8_t copy[LAYOUT_CONST_BYTES];

	if (!mem_plausible(method))
		return false;
	out->method = method;
	out->const_method = layout_load(&l->method_const, mem, method);
	if (!mem_plausible(out->const_method) ||
		!mem_load(mem, out->const_method, copy, l->const_method_bytes))
		return false;
	out->pool = layout_field(&l->const_constants, copy);
	out->name_index = (uint16_t)layout_field(&l->const_name, copy);
	out->signature_index = (uint16_t)layout_field(&l->const_signature, copy);
	out->code_bytes = (uint16_t)layout_field(&l->const_code_size, copy);
	if (!mem_plausible(out->pool) || !out->name_index || !out->signature_index)
		return false;
	uint64_t entries = out->pool + l->constant_pool_bytes;
	struct walk_part parts[3] = {{out->pool, l->constant_pool_bytes},
		{entries + 8ull * out->name_index, 8}, {entries + 8ull * out->signature_index, 8}};
	mem_prefetch(mem, 0, parts, 3);
	out->klass = layout_load(&l->pool_holder, mem, out->pool);
	if (!mem_plausible(out->klass))
		return false;

	uint64_t length = layout_load(&l->pool_length, mem, out->pool);

	return out->name_index < length && out->signature_index < length;
}

uint64_t method_lines(
	const struct walk_layout *l, const struct walk_mem *mem, const struct method *m)
{
	if (l->const_flags.offset < 0 || !m->code_bytes ||
		!(layout_load(&l->const_flags, mem, m->const_method) & CONST_HAS_LINES))
		return 0;
	return m->const_method + l->const_method_bytes + m->code_bytes;
}

bool method_symbols(const struct walk_layout *layout, const struct walk_mem *mem,
	const struct method *m, struct method_symbols *out)
{
	uint64_t entries = m->pool + layout->constant_pool_bytes;

	out->name = mem_u64(mem, entries + 8ull * m->name_index);
	out->signature = mem_u64(mem, entries + 8ull * m->signature_index);
	struct walk_part parts[3] = {{m->klass + (uint64_t)layout->klass_name.offset, 8},
		{out->name, SYMBOL_BYTES}, {out->signature, SYMBOL_BYTES}};
	mem_prefetch(mem, 0, parts, 3);
	out->class_name = layout_load(&layout->klass_name, mem, m->klass);
	return mem_plausible(out->class_name) && mem_plausible(out->name) &&
	       mem_plausible(out->signature);
}

bool symbol_is(
	const struct walk_layout *l, const struct walk_mem *mem, uint64_t symbol, const char *name)
{
	char text[SYMBOL_NAME_MAX];
	size_t bytes = __builtin_strlen(name);

	if (!mem_plausible(symbol) || bytes > SYMBOL_NAME_MAX ||
		layout_load(&l->symbol_length, mem, symbol) != bytes ||
		!mem_load(mem, symbol + (uint64_t)l->symbol_body.offset, text, bytes))
		return false;
	return !__builtin_memcmp(text, name, bytes);
}

bool method_is_named(
	const struct walk_layout *l, const struct walk_mem *mem, uint64_t method, const char *name)
{
	struct method_symbols symbols;
	struct method m;

	return method_load(l, mem, method, &m) && method_symbols(l, mem, &m, &symbols) &&
	       symbol_is(l, mem, symbols.name, name);
}
