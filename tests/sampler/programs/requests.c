/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Publishes which request each thread works for, as OTEP 4947 and OTEP 4719 specify, for Requests.java. Built three times, once
 * per access model of the thread-local variable; also publishes records that are broken in various ways.
 */
#include <dlfcn.h>
#include <jni.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct record {
	uint8_t trace_id[16], span_id[8];
	volatile uint8_t valid;
	uint8_t flags;
	uint16_t bytes;
	uint8_t attributes[612];
} __attribute__((packed));

__attribute__((visibility("default"))) __thread struct record *volatile otel_thread_ctx_v1;

static const char *const routes[] = {"/cart", "/search", "/pay"};

static void attribute_add(struct record *r, unsigned key, const char *value)
{
	size_t len = strlen(value);

	r->attributes[r->bytes] = (uint8_t)key;
	r->attributes[r->bytes + 1] = (uint8_t)len;
	memcpy(r->attributes + r->bytes + 2, value, len);
	r->bytes = (uint16_t)(r->bytes + 2 + len);
}

static struct record *record_own(void)
{
	static __thread struct record *own;

	if (!own)
		own = calloc(1, sizeof(*own));
	return own;
}

/* The trace and span id begin with the route, so that a test can tell a wrong one. */
JNIEXPORT void JNICALL Java_Requests_begin(JNIEnv *env, jclass class, jint route, jlong number)
{
	struct record *r = record_own();
	char id[17];

	(void)env;
	(void)class;
	r->valid = 0;
	otel_thread_ctx_v1 = r;
	memset(r->trace_id, 0x10 + route, sizeof(r->trace_id));
	memcpy(r->trace_id + 8, &number, sizeof(number));
	memset(r->span_id, 0x10 + route, sizeof(r->span_id));
	memcpy(r->span_id + 4, &number, 4);
	r->bytes = 0;
	snprintf(id, sizeof(id), "%016llx", (unsigned long long)number);
	attribute_add(r, 0, id); /* datadog.local_root_span_id */
	attribute_add(r, 1, routes[route]);
	attribute_add(r, 2, "GET");
	r->valid = 1;
}

/* A request with any route: for more routes than jhot keeps apart. */
JNIEXPORT void JNICALL Java_Requests_beginNamed(JNIEnv *env, jclass class, jint number)
{
	struct record *r = record_own();
	char route[32];

	(void)env;
	(void)class;
	r->valid = 0;
	otel_thread_ctx_v1 = r;
	memset(r->span_id, 1, sizeof(r->span_id));
	r->bytes = 0;
	snprintf(route, sizeof(route), "/item/%d", (int)number);
	attribute_add(r, 1, route);
	r->valid = 1;
}

JNIEXPORT void JNICALL Java_Requests_end(JNIEnv *env, jclass class)
{
	(void)env;
	(void)class;
	if (otel_thread_ctx_v1)
		record_own()->valid = 0;
}

JNIEXPORT jlong JNICALL Java_Requests_cpu(JNIEnv *env, jclass class)
{
	struct timespec t;

	(void)env;
	(void)class;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (jlong)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* --- broken records --------------------------------------------------------------------------------- */

static struct record *flipped;

/* On a thread of its own, forever: changes a record that another thread publishes. */
JNIEXPORT void JNICALL Java_Requests_flip(JNIEnv *env, jclass class)
{
	uint32_t x = 1;

	(void)env;
	(void)class;
	for (;;) {
		struct record *r = __atomic_load_n(&flipped, __ATOMIC_ACQUIRE);

		if (!r)
			continue;
		x = x * 1664525 + 1013904223;
		r->valid = (uint8_t)(x >> 24 & 1);
		r->bytes = (uint16_t)(x >> 8);
		r->attributes[x >> 16 & 127] = (uint8_t)(x >> 3);
	}
}

/* Publishes a broken record of this kind for the calling thread. False: there is none. */
JNIEXPORT jboolean JNICALL Java_Requests_broken(JNIEnv *env, jclass class, jint kind)
{
	long page = sysconf(_SC_PAGESIZE);
	struct record *r = record_own();
	char *at;

	(void)env;
	(void)class;
	r->valid = 1;
	r->bytes = 0;
	switch (kind) {
	case 0: otel_thread_ctx_v1 = (void *)8; break;
	case 1: otel_thread_ctx_v1 = (void *)~0ul; break;
	case 2: otel_thread_ctx_v1 = (void *)0x123456789000; break;
	case 3: /* the attributes extend beyond the page */
	case 4: /* so does the head */
		at = mmap(NULL, (size_t)page * 2, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		munmap(at + page, (size_t)page);
		if (kind == 3) {
			r = (struct record *)(at + page - 40);
			memset(r, 1, 40);
			r->bytes = 600;
		} else {
			r = (struct record *)(at + page - 16);
		}
		otel_thread_ctx_v1 = r;
		break;
	case 5: /* a size that no record has */
		r->bytes = 65535;
		otel_thread_ctx_v1 = r;
		break;
	case 6: /* an attribute that is longer than the record */
		attribute_add(r, 1, "/cart");
		r->attributes[1] = 200;
		otel_thread_ctx_v1 = r;
		break;
	case 7: /* a page that is mapped and unmapped all the time */
		at = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
		otel_thread_ctx_v1 = (void *)at;
		munmap(at, (size_t)page);
		break;
	case 8:
		__atomic_store_n(&flipped, r, __ATOMIC_RELEASE);
		otel_thread_ctx_v1 = r;
		break;
	default: otel_thread_ctx_v1 = NULL; return JNI_FALSE;
	}
	return JNI_TRUE;
}

/* Loads a copy of this library, has it publish a request of the calling thread for some CPU time, and unloads it. */
JNIEXPORT void JNICALL Java_Requests_reload(JNIEnv *env, jclass class, jstring path)
{
	const char *name = (*env)->GetStringUTFChars(env, path, NULL);
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	void (*begin)(JNIEnv *, jclass, jint, jlong);
	jlong end = Java_Requests_cpu(env, class) + 50000000;

	(*env)->ReleaseStringUTFChars(env, path, name);
	if (!library)
		abort();
	*(void **)&begin = dlsym(library, "Java_Requests_begin");
	begin(env, class, 0, 1);
	while (Java_Requests_cpu(env, class) < end)
		;
	dlclose(library);
}

/* --- native threads --------------------------------------------------------------------------------- */

#define COPY_BELOW 8192 /* of the thread pointer */
#define COPY_ABOVE 2048
#define COPY_BYTES (COPY_BELOW + COPY_ABOVE)

static volatile uint64_t native_sink;

__attribute__((noinline)) static void native_known(void)
{
	for (;;)
		native_sink = native_sink * 6364136223846793005ull + 1;
}

__attribute__((noinline)) static void native_foreign(void)
{
	for (;;)
		native_sink = native_sink * 6364136223846793005ull + 3;
}

/*
 * Replaces the thread pointer, as runtimes with thread-local storage of their own do. The new area has a copy of the words that
 * lead to libc's variables, and x86-64's pointer to itself, but no thread id. libc must not be called afterwards.
 */
static void thread_pointer_replace(unsigned char *area)
{
	int tid = (int)syscall(SYS_gettid);
	unsigned char *from, *to = area + COPY_BELOW;

#if defined(__x86_64__)
	__asm__ volatile("mov %%fs:0, %0" : "=r"(from));
#else
	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(from));
#endif
	for (int at = -COPY_BELOW; at < COPY_ABOVE; at++)
		to[at] = from[at];
	for (unsigned char *at = area; at < area + COPY_BYTES; at += sizeof(tid))
		if (!memcmp(at, &tid, sizeof(tid)))
			memset(at, 0, sizeof(tid));
#if defined(__x86_64__)
	memcpy(to, &to, sizeof(to));
	memcpy(to + 16, &to, sizeof(to));
	syscall(SYS_arch_prctl, 0x1002 /* ARCH_SET_FS */, to);
#else
	__asm__ volatile("msr tpidr_el0, %0" : : "r"(to));
#endif
}

static void *native_main(void *area)
{
	sigset_t signals;

	/* Handlers of the JVM use thread-local storage. */
	sigfillset(&signals);
	sigdelset(&signals, SIGURG);
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
	Java_Requests_begin(NULL, NULL, area ? 0 : 2, 1);
	if (!area)
		native_known();
	thread_pointer_replace(area);
	native_foreign();
	return NULL;
}

/* Starts two threads unknown to the JVM that publish a request: /pay, and /cart before it replaces its thread pointer. */
JNIEXPORT void JNICALL Java_Requests_natives(JNIEnv *env, jclass class)
{
	pthread_t thread;

	(void)env;
	(void)class;
	if (pthread_create(&thread, NULL, native_main, NULL) ||
		pthread_create(&thread, NULL, native_main, calloc(1, COPY_BYTES)))
		abort();
}

/* --- the process context ------------------------------------------------------------------------------ */

struct message {
	unsigned char bytes[1024];
	size_t len;
};

/* Appends a field of bytes shorter than 128. */
static void field_add(struct message *m, unsigned number, const void *bytes, size_t len)
{
	m->bytes[m->len++] = (unsigned char)(number << 3 | 2);
	m->bytes[m->len++] = (unsigned char)len;
	memcpy(m->bytes + m->len, bytes, len);
	m->len += len;
}

static void text_add(struct message *m, unsigned number, const char *text)
{
	field_add(m, number, text, strlen(text));
}

JNIEXPORT void JNICALL Java_Requests_describe(JNIEnv *env, jclass class)
{
	static const char *const keys[] = {
		"datadog.local_root_span_id", "http.route", "http.method"};
	static struct message payload;
	struct message attribute = {{0}, 0}, value = {{0}, 0}, array = {{0}, 0},
		       resource = {{0}, 0};
	struct {
		char magic[8];
		uint32_t version, bytes;
		uint64_t stamp, payload;
	} * header;
	int fd = memfd_create("OTEL_CTX", 0);

	(void)env;
	(void)class;
	text_add(&value, 1, "shop");
	text_add(&attribute, 1, "service.name");
	field_add(&attribute, 2, value.bytes, value.len);
	field_add(&resource, 1, attribute.bytes, attribute.len);
	field_add(&payload, 1, resource.bytes, resource.len);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		value.len = 0;
		text_add(&value, 1, keys[i]);
		field_add(&array, 1, value.bytes, value.len);
	}
	value.len = attribute.len = 0;
	field_add(&value, 5, array.bytes, array.len);
	text_add(&attribute, 1, "threadlocal.attribute_key_map");
	field_add(&attribute, 2, value.bytes, value.len);
	field_add(&payload, 2, attribute.bytes, attribute.len);
	if (fd < 0 || ftruncate(fd, sysconf(_SC_PAGESIZE)))
		abort();
	header = mmap(
		NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	memcpy(header->magic, "OTEL_CTX", 8);
	header->version = 2;
	header->bytes = (uint32_t)payload.len;
	header->payload = (uint64_t)(uintptr_t)payload.bytes;
	header->stamp = 1;
}
