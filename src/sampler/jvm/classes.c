/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up classes of the boot loader without side effects. JNI's FindClass, called from a thread without Java frames,
 * calls loadClass of the system class loader, which may be the program's own, and initialises the class. A static
 * initialiser that fails, for example for lack of memory, leaves its class unusable until the JVM ends.
 */
#include "sampler/jvm/own.h"

typedef jclass find_loaded(JNIEnv *jni, jobject loader, jstring name);

/* --- java.lang.Class ---------------------------------------------------------------------------- */

jclass jvm_class(JNIEnv *jni, const char *name)
{
	find_loaded *find = (find_loaded *)(uintptr_t)jvm_symbol(NULL, "JVM_FindLoadedClass");
	jstring text = find ? (*jni)->NewStringUTF(jni, name) : NULL;
	jclass class = text ? find(jni, NULL, text) : NULL;

	(*jni)->ExceptionClear(jni);
	(*jni)->DeleteLocalRef(jni, text);
	return class;
}

jclass jvm_class_initialized(JNIEnv *jni, const char *name)
{
	jclass class = jvm.initialized_not ? jvm_class(jni, name) : NULL;
	bool usable =
		class && !(*jni)->CallBooleanMethod(jni, jvm.unsafe, jvm.initialized_not, class);

	if ((*jni)->ExceptionCheck(jni)) {
		(*jni)->ExceptionClear(jni);
		usable = false;
	}
	if (usable)
		return class;
	(*jni)->DeleteLocalRef(jni, class);
	return NULL;
}

/* --- Unsafe ------------------------------------------------------------------------------------- */

static jmethodID method(JNIEnv *jni, jclass class, const char *name, const char *type)
{
	jmethodID found = (*jni)->GetMethodID(jni, class, name, type);

	(*jni)->ExceptionClear(jni);
	return found;
}

/*
 * HotSpot initialises Unsafe before it runs any agent, so GetMethodID and GetStaticFieldID do not initialise it here.
 */
void jvm_classes_prepare(JNIEnv *jni)
{
	jclass class = jvm_class(jni, "jdk.internal.misc.Unsafe");
	const char *type = "Ljdk/internal/misc/Unsafe;";
	jfieldID field;
	jobject unsafe;

	if (!class) {
		class = jvm_class(jni, "sun.misc.Unsafe"); /* JDK 8 */
		type = "Lsun/misc/Unsafe;";
	}
	field = class ? (*jni)->GetStaticFieldID(jni, class, "theUnsafe", type) : NULL;
	(*jni)->ExceptionClear(jni);
	unsafe = field ? (*jni)->GetStaticObjectField(jni, class, field) : NULL;
	jvm.unsafe = unsafe ? (*jni)->NewGlobalRef(jni, unsafe) : NULL;
	if (jvm.unsafe) {
		jvm.initialized_not =
			method(jni, class, "shouldBeInitialized", "(Ljava/lang/Class;)Z");
		jvm.park = method(jni, class, "park", "(ZJ)V");
	}
	(*jni)->DeleteLocalRef(jni, unsafe);
	(*jni)->DeleteLocalRef(jni, class);
}
