/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of HotSpot's stubs: arraycopy, CRC32, AES and the like lie side by side in a few large blobs, as do those of
 * virtual and interface calls, and only JVMTI tells them apart. It is asked once per session, if there is an
 * environment anyway: up to JDK 18 at the start, later when allocations are sampled. Stubs of calls generated
 * afterwards are all called "vtable stub".
 */
#include "sampler/jvm/own.h"

#include "sampler/signal/raw.h"

#include "walk/hotspot/code_cache.h"

static _Atomic(struct sampler *) stubs_asker; /* the session whose VM call is asking */

void JNICALL jvm_on_code(jvmtiEnv *jvmti, const char *name, const void *address, jint bytes)
{
	struct sampler *s = atomic_load(&stubs_asker);
	struct code_blob blob;

	/* Code that other threads generate meanwhile is not a stub of this kind. */
	if (!s || raw_gettid() != atomic_load(&s->vm_calls.tid) || bytes <= 0)
		return;
	if (code_cache_find(s->layout, &s->mem, (uint64_t)(uintptr_t)address, &blob) &&
		(blob.kind == CODE_STUBS || blob.kind == CODE_VTABLE))
		names_stub_add(s->names, (uint64_t)(uintptr_t)address, (uint32_t)bytes, name);
}

void jvm_stubs_name(struct sampler *s, jvmtiEnv *jvmti)
{
	const jvmtiEvent event = JVMTI_EVENT_DYNAMIC_CODE_GENERATED;

	if (!s->layout || (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, event, NULL))
		return;
	atomic_store(&stubs_asker, s);
	(*jvmti)->GenerateEvents(jvmti, event);
	atomic_store(&stubs_asker, NULL);
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, event, NULL);
	names_stubs_ready(s->names);
}
