/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of perf events. Uses ENABLE and DISABLE only: IOC_REFRESH can hang hosts on Linux 6.16 and 6.17. */
#include "sampler/engine/perf_fd.h"

#include "sampler/engine/engine.h"
#include "sampler/signal/raw.h"
#include "sampler/signal/signal.h"
#include "sampler/text.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <unistd.h>

static _Atomic uint32_t perf_fds_used, perf_rings;
static _Atomic uint64_t perf_rings_allowed;
static uint32_t perf_fds_max;

void engine_perf_budget(uint32_t fds)
{
	perf_fds_max = fds;
	atomic_store(&perf_fds_used, 0); /* a previous session's were closed with its table */
}

size_t perf_fd_ring_bytes(void)
{
	return 2 * (size_t)getpagesize(); /* the control page and one page of samples */
}

uint32_t perf_fd_rings(void)
{
	return atomic_load(&perf_rings);
}

void perf_fd_rings_allow(uint64_t rings)
{
	atomic_store(&perf_rings_allowed, rings);
}

uint64_t engine_perf_memory(void)
{
	return atomic_load(&perf_rings) * perf_fd_ring_bytes();
}

int perf_fd_open(struct perf_event_attr *attr, int32_t tid, int32_t borrowed)
{
	uint32_t used = atomic_fetch_add(&perf_fds_used, 1);
	long fd = -EMFILE;

	if (used < perf_fds_max)
		fd = borrowed ? raw(SYS_fcntl, borrowed, F_DUPFD_CLOEXEC, 0)
			      : raw(SYS_perf_event_open, attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd == -EINVAL && !borrowed && attr->read_format) {
		attr->read_format = 0; /* an older kernel */
		fd = raw(SYS_perf_event_open, attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (fd < 0) {
		atomic_fetch_sub(&perf_fds_used, 1);
		return (int)fd;
	}
	if (borrowed)
		raw(SYS_ioctl, fd, PERF_EVENT_IOC_PERIOD, &attr->sample_period);
	return (int)fd;
}

#if defined(__aarch64__)
#define BREAKPOINT_LENGTH HW_BREAKPOINT_LEN_4
#else
#define BREAKPOINT_LENGTH sizeof(long)
#endif

int perf_fd_breakpoint(struct perf_event_attr *attr, uint64_t address, int32_t tid)
{
	attr->type = PERF_TYPE_BREAKPOINT;
	attr->bp_type = HW_BREAKPOINT_X;
	attr->config1 = address;
	attr->config2 = BREAKPOINT_LENGTH;
	attr->sample_period = 1;
	attr->disabled = 1;
	attr->wakeup_events = 1;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	return perf_fd_open(attr, tid, 0);
}

bool perf_fd_space(uint32_t fds)
{
	return atomic_load(&perf_fds_used) + fds <= perf_fds_max;
}

void perf_fd_adopt(void)
{
	atomic_fetch_add(&perf_fds_used, 1);
}

void *perf_fd_ring(int fd, int *error)
{
	long ring = -ENOMEM;

	if (atomic_load(&perf_rings) < atomic_load(&perf_rings_allowed))
		ring = raw(SYS_mmap, 0, perf_fd_ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED,
			fd, 0);

	if (ring < 0 && ring > -4096) {
		*error = (int)ring;
		return NULL;
	}
	atomic_fetch_add(&perf_rings, 1);
	return (void *)ring;
}

int perf_fd_enable(int fd, int32_t tid, int signo)
{
	struct f_owner_ex owner = {F_OWNER_TID, tid};
	long error = raw(SYS_fcntl, fd, F_SETSIG, signo);

	if (error >= 0)
		error = raw(SYS_fcntl, fd, F_SETOWN_EX, &owner);
	if (error >= 0)
		error = raw(SYS_fcntl, fd, F_SETFL, O_ASYNC);
	if (error >= 0)
		error = raw(SYS_ioctl, fd, PERF_EVENT_IOC_ENABLE, 0);
	return (int)error;
}

void perf_fd_disable(int fd)
{
	raw(SYS_ioctl, fd, PERF_EVENT_IOC_DISABLE, 0);
}

struct perf_fd_count perf_fd_count(int fd)
{
	struct perf_fd_count count = {0, 0};

	raw(SYS_read, fd, &count, sizeof(count)); /* without PERF_FORMAT_LOST only the first word */
	return count;
}

void perf_fd_close(int fd, void *ring)
{
	if (ring) {
		raw_unmap(ring, perf_fd_ring_bytes());
		atomic_fetch_sub(&perf_rings, 1);
	}
	raw(SYS_close, fd);
	atomic_fetch_sub(&perf_fds_used, 1);
}

bool perf_fd_pending(const struct thread_arm *arm)
{
	struct perf_samples samples;

	sig_perf_open(&samples, arm->ring);
	return samples.at != samples.head;
}

bool perf_fd_alive(const struct thread_arm *arm)
{
	struct pollfd poll = {.fd = arm->fd, .events = POLLIN};
	struct timespec none = {0, 0};

	return raw(SYS_ppoll, &poll, 1, &none, NULL, 8) < 0 ||
	       !(poll.revents & (POLLHUP | POLLERR));
}

void perf_fd_refused(struct text *text, int error)
{
	text_add_errno(text, -error);
	if (!perf_fds_max)
		text_add(text, " (the agent has no descriptor table of its own)");
	if (error == -EACCES)
		text_add(text, " (kernel.perf_event_paranoid)");
	if (error == -EPERM)
		text_add(text, " (seccomp or mlock limit)");
}
