/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the class file format, 4.3.2. */
#include "base/descriptor.h"

#include <stddef.h>

static const struct {
	char letter;
	const char *name;
} descriptors[] = {{'B', "byte"}, {'C', "char"}, {'D', "double"}, {'F', "float"}, {'I', "int"},
	{'J', "long"}, {'S', "short"}, {'Z', "boolean"}};

const char *descriptor_primitive(char letter)
{
	for (size_t i = 0; i < sizeof(descriptors) / sizeof(descriptors[0]); i++)
		if (descriptors[i].letter == letter)
			return descriptors[i].name;
	return NULL;
}
