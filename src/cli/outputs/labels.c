/* SPDX-License-Identifier: Apache-2.0 */
/* Labels that identify the service a JVM is part of, from its environment, its process context and its cgroup. */
#include "attach/jvm/cmdline.h"
#include "attach/proc.h"
#include "base/buf.h"
#include "cli/outputs/outputs.h"
#include "session/context/context.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_MOST    256          /* bytes of a value */
#define CONTEXT_NS    200000000ull /* to wait for memory that hangs */
#define CONTAINER_HEX 64           /* digits of a container's id */

/* Environment variables, and the attributes of OpenTelemetry's semantic conventions that they set. */
static const struct label_variable {
	const char *variable, *label;
} variables[] = {
	{"OTEL_SERVICE_NAME", "service.name"},
	{"POD_NAME", "k8s.pod.name"},
	{"POD_NAMESPACE", "k8s.namespace.name"},
	{"NODE_NAME", "k8s.node.name"},
};
#define ATTRIBUTES "OTEL_RESOURCE_ATTRIBUTES"

bool outputs_has_label(const struct outputs *o, const char *label)
{
	size_t name = strcspn(label, "=") + 1;

	for (int i = 0; i < o->label_count; i++)
		if (!strncmp(o->labels[i], label, name))
			return true;
	return false;
}

/* Adds a label unless there is one of that name: the command line and earlier sources take precedence. */
static void label_add(struct outputs *o, const char *name, size_t len, const char *value)
{
	struct buf label = {0};

	buf_add(&label, name, len);
	buf_addc(&label, '=');
	buf_add(&label, value, strnlen(value, LABEL_MOST));
	if (!len || !*value || o->label_count == OUTPUTS_LABELS ||
		outputs_has_label(o, buf_str(&label))) {
		buf_done(&label);
		return;
	}
	o->own_labels[o->own_label_count] = buf_steal(&label);
	o->labels[o->label_count++] = o->own_labels[o->own_label_count++];
}

/* "a=b,c=d", values percent-encoded (W3C Baggage). */
static void label_attributes(struct outputs *o, const char *text)
{
	for (; *text; text += *text == ',') {
		size_t len = strcspn(text, ","), name = strcspn(text, "=,");
		struct buf value = {0};

		for (size_t i = name + 1; i < len; i++) {
			char hex[3] = {0};

			if (text[i] != '%' || i + 2 >= len ||
				!isxdigit((unsigned char)text[i + 1]) ||
				!isxdigit((unsigned char)text[i + 2])) {
				buf_addc(&value, text[i]);
				continue;
			}
			memcpy(hex, text + i + 1, 2);
			buf_addc(&value, (char)strtoul(hex, NULL, 16));
			i += 2;
		}
		label_add(o, text, name, buf_str(&value));
		buf_done(&value);
		text += len;
	}
}

void outputs_detect_labels(struct outputs *o, int pid)
{
	struct process_context context = {0};
	struct buf text = {0};

	if (!proc_read(pid, "environ", &text)) {
		const char *value;

		for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
			value = environ_get(&text, variables[i].variable);
			if (value)
				label_add(o, variables[i].label, strlen(variables[i].label), value);
		}
		value = environ_get(&text, ATTRIBUTES);
		if (value)
			label_attributes(o, value);
	}
	process_context_of(pid, CONTEXT_NS, &context);
	for (int i = 0; i < context.label_count; i++) {
		size_t name = strcspn(context.labels[i], "=");

		label_add(o, context.labels[i], name, context.labels[i] + name + 1);
	}
	process_context_done(&context);
	buf_clear(&text);
	if (!proc_read(pid, "cgroup", &text)) {
		/* The container's id is the last run of 64 hexadecimal digits (Docker, containerd, CRI-O). */
		const char *cgroup = buf_str(&text);
		char id[CONTAINER_HEX + 1] = "";

		for (const char *at = cgroup; *at;) {
			size_t digits = strspn(at, "0123456789abcdef");

			if (digits == CONTAINER_HEX)
				memcpy(id, at, digits);
			at += digits ? digits : 1;
		}
		label_add(o, "container.id", strlen("container.id"), id);
	}
	buf_done(&text);
}
