/* SPDX-License-Identifier: Apache-2.0 */
/* The settings file and the options of the screen. */
#include "cli/screen.h"

#include "base/file.h"
#include "cli/line/units.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FD_MAX       (1u << 20)
#define SETTINGS_MAX (256u << 10) /* a larger file is not a settings file */

/* --- the command line -------------------------------------------------------------------------------- */

static int screen_color(const char *text, enum app_color *out, struct err *err)
{
	static const char *const names[] = {[APP_COLOR_AUTO] = "auto",
		[APP_COLOR_NEVER] = "never",
		[APP_COLOR_16] = "16",
		[APP_COLOR_256] = "256"};
	size_t i = 0;

	if (!text)
		return 0;
	while (i < sizeof(names) / sizeof(names[0]) && strcmp(text, names[i]) != 0)
		i++;
	if (i == sizeof(names) / sizeof(names[0]))
		return err_set(err, ERR_USAGE,
			"--color must be never, 16, 256 or auto, not \"%s\".", text);
	*out = (enum app_color)i;
	return 0;
}

int screen_options(struct app_options *out, const struct args *args, const struct config *config,
	struct err *err)
{
	const char *fd = args_get(args, OPT_FRAME_FD);
	unsigned number;

	out->config = config;
	out->charset = args_has(args, OPT_ASCII) ? APP_CHARSET_ASCII : config->charset;
	out->color = config->color;
	out->keep = args_has(args, OPT_KEEP);
	out->frame_fd = -1;
	if (fd && units_count(fd, "--frame-fd", FD_MAX, &number, err))
		return -1;
	if (fd)
		out->frame_fd = (int)number;
	return screen_color(args_get(args, OPT_COLOR), &out->color, err);
}

int screen_check_terminal(const char *what, struct err *err)
{
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return 0;
	return err_set(err, ERR_USAGE, "%s needs a terminal, and the %s is not one.", what,
		isatty(STDOUT_FILENO) ? "input" : "output");
}

/* --- the settings file ------------------------------------------------------------------------------- */

static int settings_path(struct buf *path, struct err *err)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	/* The XDG specification requires that relative paths are ignored. */
	if (xdg && *xdg == '/')
		buf_printf(path, "%s/jhot/config", xdg);
	else if (home && *home == '/')
		buf_printf(path, "%s/.config/jhot/config", home);
	else
		return err_set(err, ERR_FAILED,
			"Settings cannot be stored: neither XDG_CONFIG_HOME nor HOME is set.");
	return 0;
}

/* Reads the file; an absent file is empty. */
static int settings_read(const char *path, struct buf *text, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	int rc = fd < 0 ? -errno : buf_read_all(text, fd, SETTINGS_MAX);
	if (fd >= 0)
		close(fd);
	if (rc == -EFBIG || (text->len && memchr(text->data, '\0', text->len)))
		return err_set(err, ERR_INPUT, "%s is not a settings file of jhot.", path);
	return rc ? err_set(err, ERR_INPUT, "Cannot read the settings file %s: %s", path,
			    strerror(-rc))
		  : 0;
}

struct config *settings_load(struct err *err)
{
	struct buf path = {0}, text = {0};
	struct config *c = NULL;

	if (settings_path(&path, NULL))
		c = config_parse(NULL, "", err); /* no home folder: defaults */
	else if (!settings_read(buf_str(&path), &text, err))
		c = config_parse(buf_str(&text), buf_str(&path), err);
	buf_done(&path);
	buf_done(&text);
	return c;
}

void settings_print(void)
{
	static const struct config_values values = {.event = "cpu",
		.window = "10s",
		.delay = "1",
		.names = "full",
		.color = "auto",
		.mouse = "off",
		.format = ".svg"};
	struct buf text = {0};

	config_write(NULL, &values, &text);
	fputs(buf_str(&text), stdout);
	buf_done(&text);
}

int settings_write(const struct config_values *values, char *done, size_t bytes, struct err *err)
{
	struct buf path = {0}, old = {0}, text = {0};
	int rc = settings_path(&path, err);

	if (!rc)
		rc = settings_read(buf_str(&path), &old, err);
	if (!rc) {
		config_write(old.len ? buf_str(&old) : NULL, values, &text);
		for (char *at = strchr(path.data + 1, '/'); at; at = strchr(at + 1, '/')) {
			*at = '\0';
			mkdir(path.data, 0777); /* failures are reported when the file is created */
			*at = '/';
		}
		rc = file_write_whole(buf_str(&path), buf_str(&text), text.len, err);
		if (rc)
			err_prefix(err, "The settings were not saved: ");
	}
	if (!rc)
		snprintf(done, bytes, "saved the settings to %s", buf_str(&path));
	buf_done(&path);
	buf_done(&old);
	buf_done(&text);
	return rc ? -1 : 0;
}
