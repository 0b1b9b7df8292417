/* SPDX-License-Identifier: Apache-2.0 */
/* Parses java command lines. */
#include "attach/jvm/cmdline.h"

#include "base/clean.h"
#include "base/maps.h"

#include <string.h>

/* Options of the java launcher whose value is the next argument. */
static const char *const with_value[] = {
	"-cp",
	"-classpath",
	"--class-path",
	"-p",
	"--module-path",
	"--upgrade-module-path",
	"--add-modules",
	"--enable-native-access",
	"--limit-modules",
	"--add-exports",
	"--add-opens",
	"--add-reads",
	"--patch-module",
	"--describe-module",
	"--source",
	"--finalization",
	"-d",
};

/* Environment variables that add options: the JVM's, then the launcher's. */
static const char *const option_variables[] = {
	"JAVA_TOOL_OPTIONS=", "_JAVA_OPTIONS=", "JDK_JAVA_OPTIONS="};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The next of the NUL-separated words, the first for NULL; NULL after the last. */
static const char *next_word(const struct buf *words, const char *word)
{
	const char *end = words->data + words->len;

	if (!words->len)
		return NULL;
	if (!word)
		return words->data;
	word += strlen(word) + 1;
	return word < end ? word : NULL;
}

static bool takes_value(const char *option)
{
	for (size_t i = 0; i < COUNT(with_value); i++)
		if (!strcmp(option, with_value[i]))
			return true;
	return false;
}

/* Strips folders or the module: a jar's file name, "module/pkg.Main" -> "pkg.Main". */
static void short_name(const char *word, size_t len, char *out, size_t bytes)
{
	const char *start = word;

	for (const char *p = word; p + 1 < word + len; p++)
		if (*p == '/')
			start = p + 1;
	clean_text(out, bytes, start, (size_t)(word + len - start));
}

/*
 * Iterates the JVM's own options; NULL starts, and a NULL result ends it. *main is then the main class or jar, NULL if there is
 * none. "@FILE" counts as an option: it contains more of them, possibly the class as well.
 */
static const char *next_option(const struct buf *cmdline, const char *option, const char **main)
{
	const char *word = option ? option : next_word(cmdline, NULL);

	*main = NULL;
	if (option && takes_value(option))
		word = next_word(cmdline, word);
	if (!word || !(word = next_word(cmdline, word)))
		return NULL;
	bool names_it = !strcmp(word, "-jar") || !strcmp(word, "-m") || !strcmp(word, "--module");
	if (!names_it && (word[0] == '-' || word[0] == '@'))
		return word;
	*main = names_it ? next_word(cmdline, word) : word;
	return NULL;
}

void cmdline_name(const struct buf *cmdline, const char *command, char *out, size_t bytes)
{
	const char *option = NULL, *main = NULL;

	out[0] = '\0';
	while (cmdline_is_java(cmdline) && (option = next_option(cmdline, option, &main)) != NULL)
		;
	if (main && (!*command || !strncmp(command, main, strlen(main))))
		short_name(main, strlen(main), out, bytes);
	else if (*command)
		short_name(command, strcspn(command, " "), out, bytes);
}

void cmdline_join(const struct buf *cmdline, char *out, size_t bytes)
{
	size_t n = 0;

	for (; n < cmdline->len && n + 1 < bytes; n++)
		out[n] = cmdline->data[n] ? cmdline->data[n] : ' ';
	while (n && out[n - 1] == ' ')
		n--;
	out[n] = '\0';
	clean_own(out);
}

bool cmdline_has(const struct buf *cmdline, const char *option)
{
	const char *word = NULL, *main;

	while ((word = next_option(cmdline, word, &main)) != NULL)
		if (!strcmp(word, option))
			return true;
	return false;
}

bool cmdline_has_file(const struct buf *cmdline)
{
	const char *word = NULL, *main;

	while ((word = next_option(cmdline, word, &main)) != NULL)
		if (word[0] == '@')
			return true;
	return false;
}

const char *environ_get(const struct buf *env, const char *name)
{
	size_t len = strlen(name);

	for (const char *word = next_word(env, NULL); word; word = next_word(env, word))
		if (!strncmp(word, name, len) && word[len] == '=')
			return word + len + 1;
	return NULL;
}

bool environ_has_file(const struct buf *env)
{
	const char *options = environ_get(env, "JDK_JAVA_OPTIONS");

	return options && strchr(options, '@');
}

bool cmdline_is_java(const struct buf *cmdline)
{
	const char *program = next_word(cmdline, NULL);

	return program &&
	       (!strcmp(path_name(program), "java") || !strcmp(path_name(program), "javaw"));
}

/* True when the option is a whole word of the text, possibly quoted. */
static bool contains_word(const char *text, const char *option)
{
	size_t len = strlen(option);

	for (const char *at = strstr(text, option); at; at = strstr(at + 1, option))
		if ((at == text || strchr(" \t'\"", at[-1])) && strchr(" \t'\"", at[len]))
			return true;
	return false;
}

bool environ_has(const struct buf *env, const char *option)
{
	for (const char *word = next_word(env, NULL); word; word = next_word(env, word))
		for (size_t i = 0; i < COUNT(option_variables); i++) {
			size_t len = strlen(option_variables[i]);

			if (!strncmp(word, option_variables[i], len) &&
				contains_word(word + len, option))
				return true;
		}
	return false;
}
