/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native methods of Request.java. Each is called on the thread whose request it publishes, never blocks, and takes no lock.
 */
#ifndef JHOT_REQUEST_REQUEST_H
#define JHOT_REQUEST_REQUEST_H

#include <jni.h>

/* Publishes the calling thread's request. attributes: (key, length, text)..., `bytes` long. */
JNIEXPORT void JNICALL Java_jhot_Request_set(JNIEnv *env, jclass class, jlong trace_high,
	jlong trace_low, jlong span, jbyteArray attributes, jint bytes);
/* Withdraws it. */
JNIEXPORT void JNICALL Java_jhot_Request_clear(JNIEnv *env, jclass class);
/* Publishes a protobuf ProcessContext; once. now: the boot time in ns. False: the system refused memory for it. */
JNIEXPORT jboolean JNICALL Java_jhot_Request_publish(
	JNIEnv *env, jclass class, jbyteArray payload, jlong now);

#endif
