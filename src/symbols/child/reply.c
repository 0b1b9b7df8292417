/* SPDX-License-Identifier: Apache-2.0 */
/* Each check takes time linear in the size of the data. */
#include "symbols/child/protocol.h"

#include "symbols/child/child.h"
#include "symbols/symtab.h"
#include "wire/unwind.h"

#include <string.h>

#define UNWIND_BYTES_MAX (64ull << 20)
#define EXPORTS_MAX      (1ull << 20)
#define EXPORT_TEXTS_MAX (64ull << 20)

bool reply_fits(const struct child_reply *head, uint32_t op)
{
	static const uint64_t most[CHILD_OPS][CHILD_PARTS] = {
		[CHILD_FACTS] = {sizeof(struct elf_facts), 0},
		[CHILD_CRC] = {sizeof(uint32_t), 0},
		[CHILD_NAMES] = {SYMTAB_ENTRIES_MAX * sizeof(struct symtab_entry),
			SYMTAB_TEXTS_MAX + SYMTAB_NAME_MAX + 2},
		[CHILD_UNWIND] = {UNWIND_BYTES_MAX, 0},
		[CHILD_EXPORTS] = {EXPORTS_MAX * sizeof(struct elf_export), EXPORT_TEXTS_MAX},
	};

	if (head->magic != CHILD_MAGIC || head->op != op || op >= CHILD_OPS)
		return false;
	for (int i = 0; i < CHILD_PARTS; i++)
		if (head->bytes[i] > (head->failed ? 0 : most[op][i]))
			return false;
	return memchr(head->text, '\0', sizeof(head->text)) != NULL;
}

bool reply_is_facts(const struct buf *facts)
{
	struct elf_facts f;

	if (facts->len != sizeof(f))
		return false;
	memcpy(&f, facts->data, sizeof(f));
	return f.segment_count <= ELF_SEGMENTS_MAX && f.id_bytes <= ELF_BUILD_ID_MAX &&
	       memchr(f.link, '\0', sizeof(f.link)) && !strchr(f.link, '/');
}

/* Names of limited length, each followed by a NUL. */
static bool are_texts(const struct buf *texts)
{
	size_t begin = 0;

	while (begin < texts->len) {
		const char *end = memchr(texts->data + begin, '\0', texts->len - begin);

		if (!end || (size_t)(end - texts->data) - begin > SYMTAB_NAME_MAX)
			return false;
		begin = (size_t)(end - texts->data) + 1;
	}
	return true;
}

bool reply_is_names(const struct buf *entries, const struct buf *texts)
{
	size_t count = entries->len / sizeof(struct symtab_entry);
	struct symtab_entry e, before = {0};

	if (entries->len % sizeof(e) || !are_texts(texts))
		return false;
	for (size_t i = 0; i < count; i++, before = e) {
		memcpy(&e, entries->data + i * sizeof(e), sizeof(e));
		if (e.text >= texts->len || e.rank > SYMTAB_GLOBAL ||
			(i && e.start <= before.start))
			return false;
	}
	return true;
}

bool reply_is_unwind(const struct buf *block)
{
	struct wire_unwind_rows head;

	if (block->len < sizeof(head) || block->len % sizeof(uint32_t))
		return false;
	memcpy(&head, block->data, sizeof(head));
	return head.bytes == block->len;
}

bool reply_is_exports(const struct buf *exports, const struct buf *texts)
{
	struct elf_export e;

	if (exports->len % sizeof(e) || !are_texts(texts))
		return false;
	for (size_t at = 0; at < exports->len; at += sizeof(e)) {
		memcpy(&e, exports->data + at, sizeof(e));
		if (e.text >= texts->len)
			return false;
	}
	return true;
}
