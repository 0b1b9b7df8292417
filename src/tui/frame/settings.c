/* SPDX-License-Identifier: Apache-2.0 */
/* Settings in the live view: key overrides, the built-in framework list, and W. */
#include "tui/frame/config.h"
#include "tui/frame/output.h"

#include <stdio.h>

/* Frameworks, and JDK plumbing between an application's frames. Not the JDK's collections, text or compilers: when those
 * are hot, that is the answer. */
static const char *const framework_default[] = {"java.lang.reflect.", "jdk.internal.reflect.",
	"sun.reflect.", "java.lang.invoke.", "java.util.stream.",
	"java.util.concurrent.ThreadPoolExecutor", "java.util.concurrent.FutureTask",
	"java.util.concurrent.ForkJoin", "java.util.concurrent.Executors",
	"java.util.concurrent.CompletableFuture", "sun.rmi.", "org.springframework.",
	"org.apache.catalina.", "org.apache.coyote.", "org.apache.tomcat.", "org.eclipse.jetty.",
	"io.netty.", "io.undertow.", "io.quarkus.", "io.micronaut.", "io.vertx.",
	"jakarta.servlet.", "javax.servlet.", "org.hibernate.", "com.zaxxer.hikari.", "reactor.",
	"akka.", "org.glassfish.", "org.junit.", NULL};

const char *const *config_framework(const struct config *c)
{
	return c && c->framework ? (const char *const *)c->framework : framework_default;
}

/* The keys that the settings file binds to a command, or NULL. */
static const struct config_keys *command_config(const struct command *c, const struct ui *ui)
{
	const struct config *config = ui->options->config;

	return config && config->keys[c - commands].line ? &config->keys[c - commands] : NULL;
}

const struct command_key *command_keys(const struct command *c, const struct ui *ui)
{
	const struct config_keys *keys = command_config(c, ui);

	return keys ? keys->keys : c->keys;
}

const struct command *command_find(const struct ui *ui, int key, int *arg)
{
	for (int i = 0; i < command_count; i++) {
		const struct command *c = &commands[i];

		if (!command_here(c, ui))
			continue;
		for (const struct command_key *k = command_keys(c, ui); k->key; k++) {
			if (k->key == key) {
				*arg = k->arg;
				return c;
			}
		}
	}
	return NULL;
}

const char *command_shown(const struct command *c, const struct ui *ui)
{
	const struct config_keys *keys = command_config(c, ui);

	if (keys)
		return keys->shown;
	return c->ascii && ui->canvas.ascii ? c->ascii : c->shown;
}

unsigned command_save_settings(struct ui *ui, int arg)
{
	static const char *const names[NAME_STYLES] = {"full", "class", "method"};
	static const char *const colors[THEME_DEPTHS] = {"never", "16", "256"};
	static const char *const begun[] = {[APP_COLOR_AUTO] = "auto",
		[APP_COLOR_NEVER] = "never",
		[APP_COLOR_16] = "16",
		[APP_COLOR_256] = "256"};
	char window[16];
	struct config_values values = {.event = profile_events[ui->scope.event].name,
		.window = timeline_label(&ui->scope.time, window),
		.names = names[ui->names],
		.color = ui->depth == ui->depth_begin ? begun[ui->options->color]
						      : colors[ui->depth],
		.mouse = ui->mouse ? "on" : "off",
		.format = output_suffix(ui)};
	struct err err = {0};
	char done[320] = "";

	snprintf(values.delay, sizeof(values.delay), "%g", (double)ui->interval_ms / 1000);
	if (ui->scope.event >= EVENT_USER_FIRST)
		values.event = profile_events[EVENT_CPU].name;
	if (ui->ops->config_write(ui->ctx, &values, done, sizeof(done), &err) < 0)
		ui_say(ui, STYLE_BAD, UI_STAY, "%s", err.what);
	else
		ui_say(ui, STYLE_GOOD, UI_STAY, "%s", done);
	return 0;
}
