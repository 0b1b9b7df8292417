/* SPDX-License-Identifier: Apache-2.0 */
/* ELF files as parsed by the child, replies of a hostile child, and lists of names. */
#include "base/buf.h"
#include "base/clean.h"
#include "symbols/cfi.h"
#include "symbols/child/child.h"
#include "symbols/child/protocol.h"
#include "symbols/child/serve.h"
#include "symbols/demangle.h"
#include "tests/fuzz/targets.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OFFSETS 64

/* What the parent does with a reply that has passed the checks. */
static void use_names(struct buf *entries, struct buf *texts)
{
	struct symtab t = {0};

	symtab_adopt(&t, entries, texts);
	for (uint32_t i = 0; i < t.count && i < OFFSETS; i++) {
		const struct symtab_entry *e = symtab_find(&t, t.entries[i].start);

		if (e)
			symtab_name(&t, e);
	}
	symtab_done(&t);
}

static void use_exports(const struct buf *exports, const struct buf *texts)
{
	struct elf_export e;
	size_t sum = 0;

	for (size_t at = 0; at < exports->len; at += sizeof(e)) {
		memcpy(&e, exports->data + at, sizeof(e));
		sum += strlen(texts->data + e.text);
	}
	if (sum == SIZE_MAX)
		abort();
}

/* The child's part without the child: what it answers must pass the parent's checks. */
static void ask(uint32_t op, int fd, int debug_fd)
{
	struct child_answer a;

	child_answer(op, fd, debug_fd, &a);
	if (!reply_fits(&a.head, op))
		abort();
	if (!a.head.failed && op == CHILD_FACTS && !reply_is_facts(&a.parts[0]))
		abort();
	if (!a.head.failed && op == CHILD_NAMES) {
		if (!reply_is_names(&a.parts[0], &a.parts[1]))
			abort();
		use_names(&a.parts[0], &a.parts[1]);
	}
	if (!a.head.failed && op == CHILD_UNWIND && !reply_is_unwind(&a.parts[0]))
		abort();
	if (!a.head.failed && op == CHILD_EXPORTS) {
		if (!reply_is_exports(&a.parts[0], &a.parts[1]))
			abort();
		use_exports(&a.parts[0], &a.parts[1]);
	}
	child_answer_done(&a);
}

size_t fuzz_elf(const uint8_t *data, size_t bytes)
{
	char path[64];
	int fd = fuzz_file(data, bytes, path);

	for (uint32_t op = 0; op < CHILD_OPS; op++)
		ask(op, fd, fd);
	ask(CHILD_NAMES, fd, -1);
	close(fd);
	return bytes;
}

/* A hostile child: the first bytes are the length of the first part, the rest is both parts of a reply. */
size_t fuzz_child(const uint8_t *data, size_t bytes)
{
	struct buf parts[CHILD_PARTS] = {{0}, {0}};
	uint16_t first;

	if (bytes < sizeof(first))
		return bytes;
	memcpy(&first, data, sizeof(first));
	data += sizeof(first);
	bytes -= sizeof(first);
	first = first < bytes ? first : (uint16_t)bytes;
	buf_add(&parts[0], data, first);
	buf_add(&parts[1], data + first, bytes - first);
	reply_is_facts(&parts[0]);
	reply_is_unwind(&parts[0]);
	if (reply_is_exports(&parts[0], &parts[1]))
		use_exports(&parts[0], &parts[1]);
	if (reply_is_names(&parts[0], &parts[1]))
		use_names(&parts[0], &parts[1]);
	buf_done(&parts[0]);
	buf_done(&parts[1]);
	return bytes;
}

static void check_rows(const struct cfi_row *rows, size_t count)
{
	struct buf block = {0};

	for (size_t i = 1; i < count; i++)
		if (rows[i].offset <= rows[i - 1].offset)
			abort();
	unwind_pack(rows, count, &block, NULL);
	buf_done(&block);
}

static void compile(struct cfi *c)
{
	const struct cfi_row *rows;
	size_t count;

	if (c && !cfi_compile(c, NULL, NULL)) {
		rows = cfi_rows(c, &count);
		check_rows(rows, count);
	}
	cfi_close(c);
}

size_t fuzz_cfi(const uint8_t *data, size_t bytes)
{
	char path[64];
	int fd = fuzz_file(data, bytes, path);

	compile(cfi_open(fd, fd, NULL));
	compile(cfi_open_image(data, bytes, NULL));
	close(fd);
	return bytes;
}

static void ask_table(struct symtab *t)
{
	for (uint64_t at = 0; at < 1u << 16; at += 997) {
		const struct symtab_entry *e = symtab_find(t, at);

		if (e)
			symtab_name(t, e);
	}
	symtab_done(t);
}

/* The first byte chooses: kallsyms, a perf map, a mangled name, a class's name. */
size_t fuzz_names(const uint8_t *data, size_t bytes)
{
	struct symtab table = {0};
	struct buf out = {0};
	char *text, small[24];
	FILE *f;

	if (bytes < 2)
		return bytes;
	text = xstrndup((const char *)data + 1, bytes - 1);
	f = fmemopen((void *)(uintptr_t)(data + 1), bytes - 1, "r");
	switch (data[0] % 4) {
	case 0: kallsyms_read(f, &table); break;
	case 1: perfmap_read(f, &table); break;
	case 2: free(demangle_name(text)); break;
	default:
		clean_add_class(&out, (const char *)data + 1, bytes - 1);
		clean_text(small, sizeof(small), (const char *)data + 1, bytes - 1);
	}
	ask_table(&table);
	fclose(f);
	buf_done(&out);
	free(text);
	return bytes;
}
