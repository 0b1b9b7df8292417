/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libjhotrequest.so, the native part of Request.java: publishes which request the calling thread works for, as OpenTelemetry's
 * OTEP 4947 (threads) and OTEP 4719 (process) specify, so that a profiler can read it.
 *
 * A profiler may interrupt the thread anywhere and read its record, so a record is not valid while it is changed. Not linked to
 * libc, whose symbols the JVM has loaded: so it runs with glibc and musl.
 */
#include "request/request.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ATTRIBUTE_BYTES 612 /* as recommended by OTEP 4947; Request.java has the same limit */
#define PROCESS_BYTES   4096
#define PROCESS_VERSION 2

struct record {
	uint64_t trace_id[2], span_id; /* big-endian */
	volatile uint8_t valid;
	uint8_t flags;
	uint16_t bytes; /* of attributes: key, length, text */
	jbyte attributes[ATTRIBUTE_BYTES];
} __attribute__((packed));

struct process {
	char magic[8];
	uint32_t version, bytes;
	volatile uint64_t stamp; /* boot time in ns; 0: being written */
	uint64_t payload;
	jbyte bytes_of[];
};

static __thread struct record record;
__attribute__((visibility("default"))) __thread struct record *volatile otel_thread_ctx_v1;

JNIEXPORT void JNICALL Java_jhot_Request_set(JNIEnv *env, jclass class, jlong trace_high,
	jlong trace_low, jlong span, jbyteArray attributes, jint bytes)
{
	(void)class;
	record.valid = 0;
	atomic_signal_fence(memory_order_seq_cst);
	record.trace_id[0] = __builtin_bswap64((uint64_t)trace_high);
	record.trace_id[1] = __builtin_bswap64((uint64_t)trace_low);
	record.span_id = __builtin_bswap64((uint64_t)span);
	record.bytes = bytes >= 0 && bytes <= ATTRIBUTE_BYTES ? (uint16_t)bytes : 0;
	(*env)->GetByteArrayRegion(env, attributes, 0, record.bytes, record.attributes);
	otel_thread_ctx_v1 = &record;
	atomic_signal_fence(memory_order_seq_cst);
	record.valid = 1;
}

JNIEXPORT void JNICALL Java_jhot_Request_clear(JNIEnv *env, jclass class)
{
	(void)env;
	(void)class;
	record.valid = 0;
}

JNIEXPORT jboolean JNICALL Java_jhot_Request_publish(
	JNIEnv *env, jclass class, jbyteArray payload, jlong now)
{
	jsize bytes = (*env)->GetArrayLength(env, payload);
	size_t all = sizeof(struct process) + (size_t)bytes;
	long fd = all <= PROCESS_BYTES ? syscall(SYS_memfd_create, "OTEL_CTX", 1 /* MFD_CLOEXEC */)
				       : -1;

	(void)class;
	if (fd < 0)
		return JNI_FALSE;
	void *at = ftruncate((int)fd, PROCESS_BYTES)
			   ? MAP_FAILED
			   : mmap(NULL, PROCESS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, (int)fd,
				     0);
	close((int)fd);
	if (at == MAP_FAILED)
		return JNI_FALSE;
	struct process *process = at;
	madvise(at, PROCESS_BYTES, MADV_DONTFORK);
	(*env)->GetByteArrayRegion(env, payload, 0, bytes, process->bytes_of);
	memcpy(process->magic, "OTEL_CTX", sizeof(process->magic));
	process->version = PROCESS_VERSION;
	process->bytes = (uint32_t)bytes;
	process->payload = (uint64_t)(uintptr_t)process->bytes_of;
	atomic_thread_fence(memory_order_seq_cst);
	process->stamp = (uint64_t)now;
	return JNI_TRUE;
}
