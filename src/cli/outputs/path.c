/* SPDX-License-Identifier: Apache-2.0 */
/* Expands patterns in file names, and adds the event to the names of files that hold one of several. */
#include "cli/outputs/outputs.h"

#include "base/buf.h"
#include "base/clock.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATH_LETTERS "pnhte%"
#define PATH_WORD    100 /* longest expansion, in bytes */

int outputs_path_check(const char *path, struct err *err)
{
	for (const char *at = strchr(path, '%'); at; at = strchr(at + 2, '%')) {
		if (at[1] && strchr(PATH_LETTERS, at[1]))
			continue;
		err_set(err, ERR_USAGE, "\"%s\" contains an unknown %% pattern.", path);
		err_hint(err, "%%p pid, %%n name, %%h host, %%t start, %%e event");
		err_hint(err, "%%%%     a percent sign");
		return -1;
	}
	return 0;
}

/* Adds a word as part of a file name, without slashes: "cpu/cache-misses/" as "cpu_cache-misses_". */
static void path_word(struct buf *out, const char *word)
{
	for (size_t i = 0; word[i] && i < PATH_WORD; i++)
		buf_addc(out,
			isalnum((unsigned char)word[i]) || strchr("-_.", word[i]) ? word[i] : '_');
}

static void path_host(struct buf *out)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	path_word(out, host);
}

static void path_time(struct buf *out, uint64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / NS_PER_S);
	char text[40];
	struct tm tm;

	if (gmtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &tm))
		buf_adds(out, text);
}

static void path_events(struct buf *out, const struct events *events, int event)
{
	for (int i = 0; i < events->count; i++) {
		if (event >= 0 && event != i)
			continue;
		if (event < 0 && i)
			buf_addc(out, '-');
		path_word(out, events->names[i]);
	}
}

char *outputs_path(const struct output *f, const struct outputs_names *names,
	const struct events *events, int event)
{
	size_t suffix = strlen(f->path) - export_format_suffix(f->format, f->path);
	bool named = strstr(f->path, "%e") || events->count < 2 || event < 0;
	struct buf path = {0};

	for (size_t i = 0; f->path[i] || i == suffix; i++) {
		if (i == suffix && !named) {
			buf_addc(&path, '-');
			path_events(&path, events, event);
		}
		if (f->path[i] != '%') {
			if (!f->path[i])
				break;
			buf_addc(&path, f->path[i]);
			continue;
		}
		switch (f->path[++i]) {
		case 'p': buf_printf(&path, "%d", names->pid); break;
		case 'n': path_word(&path, names->name); break;
		case 'h': path_host(&path); break;
		case 't': path_time(&path, names->start_wall_ns); break;
		case 'e': path_events(&path, events, event); break;
		default: buf_addc(&path, '%');
		}
	}
	return buf_steal(&path);
}
