/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names the object of a thread's system call on one descriptor. The kernel reports the call and the descriptor; the
 * descriptor itself can be examined, since it belongs to this process.
 *
 * By the time the thread's handler takes the sample, the thread may be in the next call, or the descriptor may have
 * been reused (TOCTOU). So the handler checks that it interrupted the same call on the same file (signal/wall.c);
 * otherwise the sample gets no name. A thread whose CPU clock has not advanced is still in the same call, even if the
 * program has closed or reused the descriptor.
 */
#include "sampler/descriptor.h"
#include "sampler/engine/wall.h"
#include "sampler/sampler.h"
#include "sampler/session/files.h"
#include "sampler/task.h"

#include "walk/load/mem.h"

#include <poll.h>
#include <sys/syscall.h>

/* Calls whose first argument is the descriptor. */
static const struct {
	uint16_t number;
	const char *verb;
} calls[] = {
	{SYS_read, "read"},
	{SYS_readv, "read"},
	{SYS_pread64, "read"},
	{SYS_preadv, "read"},
	{SYS_recvfrom, "read"},
	{SYS_recvmsg, "read"},
	{SYS_recvmmsg, "read"},
	{SYS_copy_file_range, "read"},
	{SYS_splice, "read"},
	{SYS_write, "write"},
	{SYS_writev, "write"},
	{SYS_pwrite64, "write"},
	{SYS_pwritev, "write"},
	{SYS_sendto, "write"},
	{SYS_sendmsg, "write"},
	{SYS_sendmmsg, "write"},
	{SYS_sendfile, "write"},
	{SYS_ftruncate, "write"},
	{SYS_fallocate, "write"},
	{SYS_accept, "accept"},
	{SYS_accept4, "accept"},
	{SYS_connect, "connect"},
	{SYS_fsync, "sync"},
	{SYS_fdatasync, "sync"},
	{SYS_sync_file_range, "sync"},
	{SYS_flock, "lock"},
	{SYS_epoll_pwait, "wait"},
#ifdef SYS_epoll_wait
	{SYS_epoll_wait, "wait"},
#endif
#ifdef SYS_epoll_pwait2
	{SYS_epoll_pwait2, "wait"},
#endif
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

static bool polls(uint64_t number)
{
#ifdef SYS_poll
	if (number == SYS_poll)
		return true;
#endif
	return number == SYS_ppoll;
}

/* The descriptor of a call. poll: the address of the struct pollfd with the descriptor, or 0. */
struct io_target {
	struct descriptor_call call;
	uint64_t poll;
};

static bool io_target_of(struct sampler *s, const struct task_call *call, struct io_target *out)
{
	struct pollfd polled;
	size_t i = 0;

	*out = (struct io_target){.call = {.fd = (int32_t)call->arguments[0]}};
	if (polls(call->number)) { /* of exactly one descriptor */
		out->poll = call->arguments[0];
		if (call->arguments[1] != 1 ||
			!mem_load(&s->mem, out->poll, &polled, sizeof(polled)))
			return false;
		out->call.fd = polled.fd;
		out->call.verb =
			polled.events & POLLOUT && !(polled.events & POLLIN) ? "write" : "read";
		return true;
	}
	while (i < CALLS && calls[i].number != call->number)
		i++;
	if (i == CALLS)
		return false;
	out->call.verb = calls[i].verb;
	return true;
}

bool wall_io_run(void *sampler, void (*function)(void *), void *ctx)
{
	return files_run(sampler, function, ctx);
}

uint32_t wall_io_text(
	struct sampler *s, const struct descriptor_call *call, const struct descriptor_file *file)
{
	char text[DESCRIPTOR_TEXT];
	uint32_t name =
		names_text(s->names, text, descriptor_text(&s->wall.ports, call, file, text));

	return name == NAMES_ID_FULL ? 0 : name;
}

void wall_io_note(struct sampler *s, struct thread_slot *slot, const struct task_call *call)
{
	struct thread_wall_io *io = &slot->wall.io;
	struct descriptor_file file;
	struct io_target target;

	atomic_store(&io->name, 0);
	if (!io_target_of(s, call, &target) || !descriptor_file(target.call.fd, &file))
		return;
	uint32_t name = wall_io_text(s, &target.call, &file);
	io->fd = target.call.fd;
	io->poll = target.poll;
	io->sp = call->sp;
	io->pc = call->pc;
	io->device = file.device;
	io->inode = file.inode;
	atomic_store_explicit(&io->name, name, memory_order_release);
}
