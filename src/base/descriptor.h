/* SPDX-License-Identifier: Apache-2.0 */
/* Java's type descriptors: the letters that stand for primitive types in class files. */
#ifndef JHOT_BASE_DESCRIPTOR_H
#define JHOT_BASE_DESCRIPTOR_H

/* 'I' is "int"; NULL: no primitive type's letter. */
const char *descriptor_primitive(char letter);

#endif
