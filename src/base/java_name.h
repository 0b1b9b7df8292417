/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Normalises names that compilers and the JVM generate, so that they compare equal across runs.
 *
 * Hidden classes, lambdas, proxies and accessors contain numbers that differ in each run; they are replaced by "*":
 *
 *   com.acme.Shop$$Lambda$14/0x00007f2c.apply      com.acme.Shop$$Lambda*.apply
 *   jdk.internal.reflect.GeneratedMethodAccessor12 jdk.internal.reflect.GeneratedMethodAccessor*
 *   jdk.proxy2.$Proxy34                            jdk.proxy*.$Proxy*
 *   lambda$main$3, access$100, Shop$1              lambda$main$*, access$*, Shop$*
 *   copy_words.constprop.0                         copy_words.constprop.*
 *
 * Plain functions over clean texts.
 */
#ifndef JHOT_BASE_JAVA_NAME_H
#define JHOT_BASE_JAVA_NAME_H

#include "base/buf.h"

#include <stdbool.h>

/* java_name_fold: adds the folded form of a class's name, or of a method's. */
void java_name_fold(struct buf *out, const char *name);
/* native_name_fold: the same of a function that is not Java's. */
void native_name_fold(struct buf *out, const char *name);
/* java_name_simple: the class without its packages. What stands behind a hidden class's "/" may contain no dots. */
const char *java_name_simple(const char *class_name);
/*
 * java_name_parts: where in "java.util.HashMap.get" the class and the method begin: behind the second last and the last dot.
 * A dot before a digit is a hidden class's number, no package's end; signatures are not looked at. web/text.js does the same.
 */
void java_name_parts(const char *name, size_t *class_at, size_t *method_at);
/* java_name_is_lambda: is it the class that the JVM makes for a lambda or a method reference? */
bool java_name_is_lambda(const char *class_name);

#endif
