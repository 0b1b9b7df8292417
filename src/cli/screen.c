/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the screen. */
#include "cli/screen.h"

#include "cli/line/units.h"

#include <string.h>
#include <unistd.h>

#define FD_MAX (1u << 20)

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
