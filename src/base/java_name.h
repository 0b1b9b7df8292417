/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Normalizes names that compilers and the JVM generate, so that they compare equal across runs.
 *
 * Hidden classes, lambdas, proxies and accessors contain numbers that differ in each run; they are replaced by "*":
 *
 *   com.acme.Shop$$Lambda$14/0x00007f2c.apply      com.acme.Shop$$Lambda*.apply
 *   jdk.internal.reflect.GeneratedMethodAccessor12 jdk.internal.reflect.GeneratedMethodAccessor*
 *   jdk.proxy2.$Proxy34                            jdk.proxy*.$Proxy*
 *   lambda$main$3, access$100, Shop$1              lambda$main$*, access$*, Shop$*
 *   copy_words.constprop.0                         copy_words.constprop.*
 *
 * Pure functions over cleaned text; linear.
 */
#ifndef JHOT_BASE_JAVA_NAME_H
#define JHOT_BASE_JAVA_NAME_H

#include "base/buf.h"

#include <stdbool.h>

/* Appends the normalized name of a Java class or method. */
void java_name_fold(struct buf *out, const char *name);
/* The same for a native function. */
void native_name_fold(struct buf *out, const char *name);
/* The class without its packages; points into class_name. The suffix after a hidden class's "/" must not contain dots. */
const char *java_name_simple(const char *class_name);
/*
 * Offsets of class and method in "java.util.HashMap.get": after the second last and the last dot. A dot before a digit belongs
 * to a hidden class's number and is skipped; signatures are not handled. web/text.js implements the same.
 */
void java_name_parts(const char *name, size_t *class_at, size_t *method_at);
/* True if the whole text matches the pattern. The pattern has at most one wildcard: "*" matches any string, even an empty one. */
bool java_name_matches(const char *text, const char *pattern);
/* True if the name begins with one of these prefixes, a list that ends with NULL. */
bool name_begins_with_any(const char *name, const char *const *prefixes);
/* True for the class that the JVM generates for a lambda or a method reference. */
bool java_name_is_lambda(const char *class_name);

#endif
