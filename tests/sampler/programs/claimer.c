// SPDX-License-Identifier: Apache-2.0
// An agent that claims the capability to sample allocations, from the JVM's start on.

#include <jvmti.h>

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	jvmtiCapabilities capabilities = {.can_generate_sampled_object_alloc_events = 1};
	jvmtiEnv *jvmti;

	(void)options, (void)reserved;
	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_1) != JNI_OK)
		return 1;
	return (*jvmti)->AddCapabilities(jvmti, &capabilities) != JVMTI_ERROR_NONE;
}
