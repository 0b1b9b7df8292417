/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of the child: a reply per request. A parser's failure is a reply, too; the parent notices a crash. */
#include "symbols/child/serve.h"

#include "symbols/cfi.h"
#include "symbols/child/child.h"
#include "symbols/elf.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEEPS_FP_PERCENT 60 /* libjvm 88, the JDK's other libraries about 80, libc 17, libz 0 */

/* --- answers ----------------------------------------------------------------------------------------- */

static void fail(struct child_answer *a, const char *why)
{
	a->head.failed = 1;
	snprintf(a->head.text, sizeof(a->head.text), "%s", why);
}

static bool rows_keep_fp(const struct cfi_row *rows, size_t count)
{
	uint64_t all = 0, with = 0;

	for (size_t i = 0; i + 1 < count; i++) {
		uint64_t bytes = rows[i + 1].offset - rows[i].offset;

		all += rows[i].rule.cfa == CFI_CFA_NONE ? 0 : bytes;
		with += rows[i].rule.cfa == CFI_CFA_FP ? bytes : 0;
	}
	return with * 100 > all * KEEPS_FP_PERCENT;
}

/* From the debug file only if the file itself describes little of its code, as musl's libc does. */
static void answer_unwind(int fd, int debug_fd, struct child_answer *a)
{
	struct err err = {0};
	struct cfi *c = fd < 0 ? cfi_open_vdso(&err) : cfi_open(fd, -1, &err);
	size_t count;

	if (debug_fd >= 0 && (!c || cfi_of_code(c))) {
		cfi_close(c);
		c = cfi_open(fd, debug_fd, &err);
	}
	if (!c || cfi_compile(c, NULL, &err)) {
		fail(a, err.what);
	} else {
		const struct cfi_row *rows = cfi_rows(c, &count);
		a->head.flags = rows_keep_fp(rows, count) ? CHILD_KEEPS_FP : 0;
		if (unwind_pack(rows, count, &a->parts[0], &err))
			fail(a, err.what);
	}
	cfi_close(c);
}

static void answer_elf(uint32_t op, int fd, int debug_fd, struct child_answer *a)
{
	Elf *elf = fd < 0 ? elf_file_begin_vdso() : elf_file_begin(fd);
	Elf *debug = elf && debug_fd >= 0 ? elf_file_begin(debug_fd) : NULL;
	struct symtab table = {0};
	struct elf_facts facts;

	if (!elf) {
		fail(a, "It is not a readable 64-bit ELF file.");
	} else if (op == CHILD_FACTS) {
		elf_facts_read(elf, &facts);
		buf_add(&a->parts[0], &facts, sizeof(facts));
	} else if (op == CHILD_NAMES) {
		symtab_limit(&table, NULL);
		elf_names_read(elf, debug, &table);
		a->head.flags = table.full ? CHILD_FULL : 0;
		if (table.count)
			buf_add(&a->parts[0], table.entries, table.count * sizeof(*table.entries));
		a->parts[1] = table.texts;
		table.texts = (struct buf){0};
		symtab_done(&table);
	} else {
		elf_exports_read(elf, &a->parts[0], &a->parts[1]);
	}
	elf_end(debug);
	elf_end(elf);
}

void child_answer(uint32_t op, int fd, int debug_fd, struct child_answer *out)
{
	uint32_t crc;

	*out = (struct child_answer){.head = {.magic = CHILD_MAGIC, .op = op}};
	if (op == CHILD_UNWIND)
		answer_unwind(fd, debug_fd, out);
	else if (op != CHILD_CRC)
		answer_elf(op, fd, debug_fd, out);
	else if (elf_facts_crc(fd, &crc))
		buf_add(&out->parts[0], &crc, sizeof(crc));
	else
		fail(out, "Its checksum cannot be computed.");
	for (int i = 0; i < CHILD_PARTS; i++) {
		if (out->head.failed)
			buf_done(&out->parts[i]);
		out->head.bytes[i] = out->parts[i].len;
	}
}

void child_answer_done(struct child_answer *a)
{
	for (int i = 0; i < CHILD_PARTS; i++)
		buf_done(&a->parts[i]);
}

/* --- the loop ---------------------------------------------------------------------------------------- */

/* Receives a request with its descriptors, -1 for those it lacks. Returns false when the parent has gone. */
static bool receive(int socket, struct child_request *request, int fds[CHILD_DESCRIPTORS])
{
	struct iovec data = {request, sizeof(*request)};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(CHILD_DESCRIPTORS * sizeof(int))];
	} control;
	struct msghdr message = {.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};

	for (int i = 0; i < CHILD_DESCRIPTORS; i++)
		fds[i] = -1;
	if (recvmsg(socket, &message, MSG_WAITALL) != (ssize_t)sizeof(*request) ||
		request->magic != CHILD_MAGIC || request->op >= CHILD_OPS)
		return false;
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
	return true;
}

static bool send_all(int socket, const void *bytes, size_t len)
{
	size_t sent = 0;

	while (sent < len) {
		ssize_t n = send(socket, (const char *)bytes + sent, len - sent, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		sent += (size_t)n;
	}
	return true;
}

void child_serve(int socket, void (*before)(int fd))
{
	struct child_request request;
	struct child_answer a;
	int fds[CHILD_DESCRIPTORS];
	bool sent = true;

	child_confine(socket);
	while (sent && receive(socket, &request, fds)) {
		if (before)
			before(fds[0]);
		child_answer(request.op, fds[0], fds[1], &a);
		sent = send_all(socket, &a.head, sizeof(a.head));
		for (int i = 0; sent && i < CHILD_PARTS; i++)
			sent = send_all(socket, a.parts[i].data, a.parts[i].len);
		child_answer_done(&a);
		for (int i = 0; i < CHILD_DESCRIPTORS; i++)
			if (fds[i] >= 0)
				close(fds[i]);
	}
	_exit(0);
}
