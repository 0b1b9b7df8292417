/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metadata: every type with its fields, as a tree of elements that refer to a list of strings.
 *
 * Tools look up types and fields by name, so names are those of the JDK and, for wall-clock
 * samples, of async-profiler.
 */
#include "export/jfr/jfr.h"

#include <stdio.h>
#include <string.h>

/* Properties of a field. */
enum {
	CONSTANT = 1 << 0, /* the id of a constant */
	ARRAY = 1 << 1,
	TICKS = 1 << 2, /* a point in time; SPAN: a duration */
	SPAN = 1 << 3,
	MILLIS = 1 << 4, /* since 1970 */
	BYTES = 1 << 5,
	ADDRESS = 1 << 6,
	PERCENT = 1 << 7, /* a share of 1 */
	NANOS = 1 << 8,   /* a duration in ns */
};

struct types_field {
	const char *name;
	enum jfr_type type;
	unsigned flags;
};

#define FIELDS 18
struct types_row {
	enum jfr_type id;
	const char *name, *super;
	const char *label;    /* of events */
	const char *category; /* likewise */
	bool simple;          /* displayed as its only field */
	bool content;         /* an annotation of the kind "content type" */
	struct types_field fields[FIELDS];
};

#define EVENT      "jdk.jfr.Event"
#define ANNOTATION "java.lang.annotation.Annotation"
#define START                                \
	{                                    \
		"startTime", JFR_LONG, TICKS \
	}
#define DURATION                           \
	{                                  \
		"duration", JFR_LONG, SPAN \
	}
#define THREAD                                      \
	{                                           \
		"eventThread", JFR_THREAD, CONSTANT \
	}
#define SAMPLED                                       \
	{                                             \
		"sampledThread", JFR_THREAD, CONSTANT \
	}
#define TRACE                                           \
	{                                               \
		"stackTrace", JFR_STACK_TRACE, CONSTANT \
	}
#define STATE                                       \
	{                                           \
		"state", JFR_THREAD_STATE, CONSTANT \
	}

/* clang-format off */
static const struct types_row types_rows[] = {
	{.id = JFR_BOOLEAN, .name = "boolean"},
	{.id = JFR_CHAR, .name = "char"},
	{.id = JFR_FLOAT, .name = "float"},
	{.id = JFR_DOUBLE, .name = "double"},
	{.id = JFR_BYTE, .name = "byte"},
	{.id = JFR_SHORT, .name = "short"},
	{.id = JFR_INT, .name = "int"},
	{.id = JFR_LONG, .name = "long"},
	{.id = JFR_STRING, .name = "java.lang.String"},
	{.id = JFR_CLASS, .name = "java.lang.Class", .fields = {
		{"classLoader", JFR_CLASS_LOADER, CONSTANT}, {"name", JFR_SYMBOL, CONSTANT},
		{"package", JFR_PACKAGE, CONSTANT}, {"modifiers", JFR_INT, 0}}},
	{.id = JFR_THREAD, .name = "java.lang.Thread", .fields = {
		{"osName", JFR_STRING, 0}, {"osThreadId", JFR_LONG, 0},
		{"javaName", JFR_STRING, 0}, {"javaThreadId", JFR_LONG, 0},
		{"group", JFR_THREAD_GROUP, CONSTANT}, {"virtual", JFR_BOOLEAN, 0}}},
	{.id = JFR_CLASS_LOADER, .name = "jdk.types.ClassLoader", .fields = {
		{"type", JFR_CLASS, CONSTANT}, {"name", JFR_SYMBOL, CONSTANT}}},
	{.id = JFR_FRAME_TYPE, .name = "jdk.types.FrameType", .simple = true, .fields = {
		{"description", JFR_STRING, 0}}},
	{.id = JFR_THREAD_STATE, .name = "jdk.types.ThreadState", .simple = true, .fields = {
		{"name", JFR_STRING, 0}}},
	{.id = JFR_THREAD_GROUP, .name = "jdk.types.ThreadGroup", .fields = {
		{"parent", JFR_THREAD_GROUP, CONSTANT}, {"name", JFR_STRING, 0}}},
	{.id = JFR_STACK_TRACE, .name = "jdk.types.StackTrace", .fields = {
		{"truncated", JFR_BOOLEAN, 0}, {"frames", JFR_STACK_FRAME, ARRAY}}},
	{.id = JFR_STACK_FRAME, .name = "jdk.types.StackFrame", .fields = {
		{"method", JFR_METHOD, CONSTANT}, {"lineNumber", JFR_INT, 0},
		{"bytecodeIndex", JFR_INT, 0}, {"type", JFR_FRAME_TYPE, CONSTANT}}},
	{.id = JFR_METHOD, .name = "jdk.types.Method", .fields = {
		{"type", JFR_CLASS, CONSTANT}, {"name", JFR_SYMBOL, CONSTANT},
		{"descriptor", JFR_SYMBOL, CONSTANT}, {"modifiers", JFR_INT, 0},
		{"hidden", JFR_BOOLEAN, 0}}},
	{.id = JFR_PACKAGE, .name = "jdk.types.Package", .fields = {
		{"name", JFR_SYMBOL, CONSTANT}}},
	{.id = JFR_SYMBOL, .name = "jdk.types.Symbol", .simple = true, .fields = {
		{"string", JFR_STRING, 0}}},
	{.id = JFR_GC_NAME, .name = "jdk.types.GCName", .simple = true, .fields = {
		{"name", JFR_STRING, 0}}},
	{.id = JFR_GC_CAUSE, .name = "jdk.types.GCCause", .simple = true, .fields = {
		{"cause", JFR_STRING, 0}}},
	{.id = JFR_GC_WHEN, .name = "jdk.types.GCWhen", .simple = true, .fields = {
		{"when", JFR_STRING, 0}}},
	{.id = JFR_SPACE, .name = "jdk.types.VirtualSpace", .fields = {
		{"start", JFR_LONG, ADDRESS}, {"committedEnd", JFR_LONG, ADDRESS},
		{"committedSize", JFR_LONG, BYTES}, {"reservedEnd", JFR_LONG, ADDRESS},
		{"reservedSize", JFR_LONG, BYTES}}},
	{.id = JFR_EXECUTION_SAMPLE, .name = "jdk.ExecutionSample", .super = EVENT,
		.label = "Method Profiling Sample", .category = "Profiling",
		.fields = {START, SAMPLED, TRACE, STATE}},
	{.id = JFR_NATIVE_SAMPLE, .name = "jdk.NativeMethodSample", .super = EVENT,
		.label = "Method Profiling Sample Native", .category = "Profiling",
		.fields = {START, SAMPLED, TRACE, STATE}},
	{.id = JFR_WALL_SAMPLE, .name = "profiler.WallClockSample", .super = EVENT,
		.label = "Wall Clock Sample", .category = "Profiling",
		.fields = {START, SAMPLED, TRACE, STATE, {"samples", JFR_INT, 0}}},
	{.id = JFR_PERF_SAMPLE, .name = "jhot.PerfSample", .super = EVENT,
		.label = "Sample of Another Event", .category = "Profiling",
		.fields = {START, SAMPLED, TRACE, {"event", JFR_STRING, 0},
			{"samples", JFR_INT, 0}, {"value", JFR_LONG, 0}}},
	{.id = JFR_ALLOCATION, .name = "jdk.ObjectAllocationSample", .super = EVENT,
		.label = "Object Allocation Sample", .category = "Memory",
		.fields = {START, THREAD, TRACE, {"objectClass", JFR_CLASS, CONSTANT},
			{"weight", JFR_LONG, BYTES}}},
	{.id = JFR_MONITOR_ENTER, .name = "jdk.JavaMonitorEnter", .super = EVENT,
		.label = "Java Monitor Blocked", .category = "Java Application",
		.fields = {START, DURATION, THREAD, TRACE, {"monitorClass", JFR_CLASS, CONSTANT},
			{"previousOwner", JFR_THREAD, CONSTANT}, {"address", JFR_LONG, ADDRESS}}},
	{.id = JFR_THREAD_PARK, .name = "jdk.ThreadPark", .super = EVENT,
		.label = "Java Thread Park", .category = "Java Application",
		.fields = {START, DURATION, THREAD, TRACE, {"parkedClass", JFR_CLASS, CONSTANT},
			{"timeout", JFR_LONG, NANOS}, {"until", JFR_LONG, MILLIS},
			{"address", JFR_LONG, ADDRESS}}},
	{.id = JFR_CALL, .name = "jhot.MethodCall", .super = EVENT,
		.label = "Call of the Measured Method", .category = "Profiling",
		.fields = {START, DURATION, THREAD, {"method", JFR_STRING, 0},
			{"uncertainty", JFR_LONG, NANOS}, {"complete", JFR_BOOLEAN, 0},
			{"cpu", JFR_LONG, NANOS}, {"runnable", JFR_LONG, NANOS},
			{"lock", JFR_LONG, NANOS}, {"io", JFR_LONG, NANOS},
			{"sleep", JFR_LONG, NANOS}, {"wait", JFR_LONG, NANOS},
			{"park", JFR_LONG, NANOS}, {"safepoint", JFR_LONG, NANOS},
			{"shortWaits", JFR_LONG, NANOS}, {"blockedOn", JFR_STRING, 0}}},
	{.id = JFR_ACTIVE_SETTING, .name = "jdk.ActiveSetting", .super = EVENT,
		.label = "Recording Setting", .category = "Flight Recorder",
		.fields = {START, {"id", JFR_LONG, 0}, {"name", JFR_STRING, 0},
			{"value", JFR_STRING, 0}}},
	{.id = JFR_JVM_INFORMATION, .name = "jdk.JVMInformation", .super = EVENT,
		.label = "JVM Information", .category = "Java Virtual Machine",
		.fields = {START, {"jvmName", JFR_STRING, 0}, {"jvmVersion", JFR_STRING, 0},
			{"jvmArguments", JFR_STRING, 0}, {"jvmFlags", JFR_STRING, 0},
			{"javaArguments", JFR_STRING, 0}, {"jvmStartTime", JFR_LONG, MILLIS},
			{"pid", JFR_LONG, 0}}},
	{.id = JFR_CPUS, .name = "jdk.CPUInformation", .super = EVENT,
		.label = "CPU Information", .category = "Operating System",
		.fields = {START, {"hwThreads", JFR_INT, 0}}},
	{.id = JFR_CPU_LOAD, .name = "jdk.CPULoad", .super = EVENT,
		.label = "CPU Load", .category = "Operating System",
		.fields = {START, {"jvmUser", JFR_FLOAT, PERCENT}, {"jvmSystem", JFR_FLOAT, PERCENT},
			{"machineTotal", JFR_FLOAT, PERCENT}}},
	{.id = JFR_COLLECTION, .name = "jdk.GarbageCollection", .super = EVENT,
		.label = "Garbage Collection", .category = "Java Virtual Machine",
		.fields = {START, DURATION, {"gcId", JFR_INT, 0},
			{"name", JFR_GC_NAME, CONSTANT}, {"cause", JFR_GC_CAUSE, CONSTANT},
			{"sumOfPauses", JFR_LONG, SPAN}, {"longestPause", JFR_LONG, SPAN},
			{"collections", JFR_INT, 0}}},
	{.id = JFR_HEAP_SUMMARY, .name = "jdk.GCHeapSummary", .super = EVENT,
		.label = "Heap Summary", .category = "Java Virtual Machine",
		.fields = {START, {"gcId", JFR_INT, 0}, {"when", JFR_GC_WHEN, CONSTANT},
			{"heapSpace", JFR_SPACE, 0}, {"heapUsed", JFR_LONG, BYTES}}},
	{.id = JFR_CONTENT, .name = "jdk.jfr.ContentType", .super = ANNOTATION},
	{.id = JFR_LABEL, .name = "jdk.jfr.Label", .super = ANNOTATION, .fields = {
		{"value", JFR_STRING, 0}}},
	{.id = JFR_CATEGORY, .name = "jdk.jfr.Category", .super = ANNOTATION, .fields = {
		{"value", JFR_STRING, ARRAY}}},
	{.id = JFR_TIMESTAMP, .name = "jdk.jfr.Timestamp", .super = ANNOTATION, .content = true, .fields = {
		{"value", JFR_STRING, 0}}},
	{.id = JFR_TIMESPAN, .name = "jdk.jfr.Timespan", .super = ANNOTATION, .content = true, .fields = {
		{"value", JFR_STRING, 0}}},
	{.id = JFR_AMOUNT, .name = "jdk.jfr.DataAmount", .super = ANNOTATION, .content = true, .fields = {
		{"value", JFR_STRING, 0}}},
	{.id = JFR_ADDRESS, .name = "jdk.jfr.MemoryAddress", .super = ANNOTATION, .content = true},
	{.id = JFR_PERCENTAGE, .name = "jdk.jfr.Percentage", .super = ANNOTATION, .content = true},
};
/* clang-format on */

/* Annotations by flag. */
static const struct {
	unsigned flag;
	enum jfr_type type;
	const char *value; /* NULL: none */
} types_annotations[] = {
	{TICKS, JFR_TIMESTAMP, "TICKS"},
	{SPAN, JFR_TIMESPAN, "TICKS"},
	{MILLIS, JFR_TIMESTAMP, "MILLISECONDS_SINCE_EPOCH"},
	{BYTES, JFR_AMOUNT, "BYTES"},
	{ADDRESS, JFR_ADDRESS, NULL},
	{PERCENT, JFR_PERCENTAGE, NULL},
	{NANOS, JFR_TIMESPAN, "NANOSECONDS"},
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct types {
	struct intern words;
	struct buf tree;
};

static void types_word(struct types *t, const char *word)
{
	jfr_varint(&t->tree, intern_add(&t->words, word, strlen(word)));
}

/* Begins an element: name, attributes, number of children, children. */
static void types_element(struct types *t, const char *name, unsigned attributes)
{
	types_word(t, name);
	jfr_varint(&t->tree, attributes);
}

static void types_attribute(struct types *t, const char *key, const char *value)
{
	types_word(t, key);
	types_word(t, value);
}

static void types_attribute_id(struct types *t, const char *key, enum jfr_type id)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)id);
	types_attribute(t, key, text);
}

/* value_key: "value", or "value-N" for elements of an array. */
static void types_annotation(
	struct types *t, enum jfr_type id, const char *value_key, const char *value)
{
	types_element(t, "annotation", value ? 2 : 1);
	types_attribute_id(t, "class", id);
	if (value)
		types_attribute(t, value_key, value);
	jfr_varint(&t->tree, 0);
}

static void types_field(struct types *t, const struct types_field *f)
{
	unsigned annotations = 0;

	types_element(t, "field", 2 + !!(f->flags & CONSTANT) + !!(f->flags & ARRAY));
	types_attribute(t, "name", f->name);
	types_attribute_id(t, "class", f->type);
	if (f->flags & CONSTANT)
		types_attribute(t, "constantPool", "true");
	if (f->flags & ARRAY)
		types_attribute(t, "dimension", "1");
	for (size_t i = 0; i < COUNT(types_annotations); i++)
		annotations += (f->flags & types_annotations[i].flag) != 0;
	jfr_varint(&t->tree, annotations);
	for (size_t i = 0; i < COUNT(types_annotations); i++)
		if (f->flags & types_annotations[i].flag)
			types_annotation(
				t, types_annotations[i].type, "value", types_annotations[i].value);
}

static void types_row(struct types *t, const struct types_row *row)
{
	unsigned children = (row->label != NULL) + (row->category != NULL) + row->content;

	types_element(t, "class", 2 + (row->super != NULL) + row->simple);
	types_attribute_id(t, "id", row->id);
	types_attribute(t, "name", row->name);
	if (row->super)
		types_attribute(t, "superType", row->super);
	if (row->simple)
		types_attribute(t, "simpleType", "true");
	for (int i = 0; i < FIELDS && row->fields[i].name; i++)
		children++;
	jfr_varint(&t->tree, children);
	if (row->label)
		types_annotation(t, JFR_LABEL, "value", row->label);
	if (row->category)
		types_annotation(t, JFR_CATEGORY, "value-0", row->category);
	if (row->content)
		types_annotation(t, JFR_CONTENT, NULL, NULL);
	for (int i = 0; i < FIELDS && row->fields[i].name; i++)
		types_field(t, &row->fields[i]);
}

static void types_tree(struct types *t)
{
	types_element(t, "root", 0);
	jfr_varint(&t->tree, 2);
	types_element(t, "metadata", 0);
	jfr_varint(&t->tree, COUNT(types_rows));
	for (size_t i = 0; i < COUNT(types_rows); i++)
		types_row(t, &types_rows[i]);
	types_element(t, "region", 2);
	types_attribute(t, "locale", "en_US");
	types_attribute(t, "gmtOffset", "0");
	jfr_varint(&t->tree, 0);
}

void jfr_metadata(struct buf *out)
{
	struct types t = {0};
	struct buf body = {0};

	types_tree(&t);
	jfr_varint(&body, JFR_METADATA);
	jfr_varint(&body, 0); /* start, duration, id */
	jfr_varint(&body, 0);
	jfr_varint(&body, 1);
	jfr_varint(&body, t.words.count);
	for (uint32_t i = 0; i < t.words.count; i++)
		jfr_text(&body, intern_text(&t.words, i));
	buf_add(&body, t.tree.data, t.tree.len);
	jfr_block(out, &body);
	buf_done(&body);
	buf_done(&t.tree);
	intern_done(&t.words);
}
