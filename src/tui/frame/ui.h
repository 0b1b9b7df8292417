/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live view without its terminal: its state, and how it reacts to keys, clicks and time.
 *
 * Input is keys and times (now_ms, any origin), output is a canvas, so tests drive it exactly as loop.c does.
 * Single-threaded; owned by app_run.
 *
 *   loop.c    event            ui_key, ui_mouse, ui_tick, ui_resize
 *   drive.c     -> command     command_find, command->run          returns enum ui_reaction
 *               -> job         ui_prepare, in slices               while ui_busy: ui_work
 *               -> update      view->update                        queries the profile, orders rows
 *   loop.c      -> draw        ui_draw: view->load_pane, view->draw   writes cells
 *
 * Commands, popups and drive.c may change a struct ui; updates of views and all that draws get a const one. Within that:
 *
 *   session, sums, job, time          drive.c, and begun_ms what begins to sample
 *   scope: event, holders             events.c        thread, pool    ui_restrict
 *          filter, idle               search.c        compare         compare.c
 *          time                       events.c and the commands of time
 *   view, under, prompt, message      ui_show, ui_prompt, ui_notify; a popup closes itself
 *   search, events, strip, output     private to the file of this name, which has functions to ask for it
 *   findings, latency                 the file of this name; views read them
 */
#ifndef JHOT_TUI_FRAME_UI_H
#define JHOT_TUI_FRAME_UI_H

#include "profile/query/filter.h"
#include "tui/frame/app.h"
#include "tui/frame/timeline.h"
#include "tui/frame/view.h"
#include "tui/screen/canvas.h"
#include "tui/screen/name.h"
#include "tui/screen/theme.h"
#include "tui/term/key.h"

#include <stdbool.h>
#include <stdint.h>

#define UI_FREEZE_ORDER_MS 5000 /* rows do not swap for this long after a key */
#define UI_MESSAGE_MS      2000
#define UI_QUEUED_KEYS     64
#define UI_STAY            0    /* a message until the next key */
#define UI_SLICE           3000 /* frames to transform per round of a job: about 3 ms */

enum ui_reaction {
	UI_UPDATE = 1,       /* query the profile again */
	UI_SORT = 2,         /* update, and sort from scratch */
	UI_FREEZE_ORDER = 4, /* freeze the order of rows for UI_FREEZE_ORDER_MS */
	UI_QUIT = 8,
	UI_SUSPEND = 16,
	UI_REPAINT = 32,
	UI_COLORS = 64, /* switch to the next color depth */
	UI_MOUSE = 128, /* ui->mouse has changed */
};

struct ui_prompt {
	const char *label; /* NULL: closed */
	char text[256];
	bool offered; /* the text is a proposal that the first typed character replaces */
	/* The i-th completion for Tab, NULL past the last; may be NULL. */
	const char *(*choice)(const struct ui *ui, int i);
	int arg;                       /* for the caller */
	void (*change)(struct ui *ui); /* called after each key; may be NULL */
	void (*done)(struct ui *ui, bool accepted);
};

/* A box over the view that receives all keys until it closes: dialogs, menus. Drawn after the view. */
struct ui_popup {
	const char *title;
	const char *keys; /* shown instead of the key line: "Enter writes  Esc cancels" */
	/* Handles a key; sets ui->popup to NULL to close. Returns enum ui_reaction bits. */
	unsigned (*key)(struct ui *ui, int key);
	void (*draw)(const struct ui *ui);
};

struct ui_message {
	char text[320];
	enum style style;
	bool shown;
	int64_t since_ms, until_ms; /* UI_STAY: until the next key */
};

/* What is shown: everything that a query is built from. */
struct ui_scope {
	int event;
	bool holders;    /* lock: what holders did, instead of who waited */
	bool idle;       /* wall: show threads that wait for work, too */
	uint32_t thread; /* only this one, or PROFILE_ANY_THREAD */
	uint32_t pool;   /* only threads of this pool; 0 = all */
	struct timeline time;
	struct filter *filter;   /* never NULL */
	struct compare *compare; /* NULL until a baseline is set */
	unsigned last_undo;      /* the last undo id assigned */
	unsigned only_undo;      /* that of the restriction to a thread or pool */
};

/* Figures of the window, as of the last update. */
struct ui_sums {
	struct profile_sum all;
	struct profile_sum searched;    /* of stacks that the search matches */
	struct profile_sum no_inlining; /* of code without inlining info */
	struct profile_explained explained;
	uint32_t covered;       /* sampled seconds */
	int64_t lost;           /* samples of the shown event */
	int64_t walked, broken; /* stacks of all events, and how many of them are broken */
	const char *reason; /* the session's most frequent reason of broken stacks; may be NULL */
};

/*
 * The update of the screen. One that is too expensive for one key is a job, done in slices; keys are queued until it ends:
 *
 *   idle --key or tick--> ui_prepare --done--> view->update --> idle
 *                          |      ^
 *                          +------+  work remains: on; the screen shows the state before the key
 */
struct ui_job {
	uint64_t slice;           /* frames to transform per key or round; 0: no slicing */
	bool on;                  /* work remains */
	bool ticking;             /* the update belongs to a tick, not to a key */
	bool sort;                /* sort from scratch at the end */
	bool summed;              /* ui->sums are computed for the query */
	uint64_t stamp;           /* of the query that the sums belong to */
	uint64_t ready;           /* stamp of the query whose stacks are transformed */
	int keys[UI_QUEUED_KEYS]; /* the queue */
	unsigned key_count;

	bool measure_cost;  /* false in tests: updates count as free */
	uint64_t update_ns; /* CPU time of the last update, including the side pane */
	int64_t updated_ms; /* when it was made */
	bool pane_loaded;   /* the side pane was loaded since then */
	bool drawn;         /* the canvas shows this view at this size */
};

struct ui {
	/* Constant. */
	const struct app_ops *ops;
	void *ctx;
	const struct app_options *options;
	const struct glyphs *glyphs;
	struct canvas *canvas; /* a pointer, so that views can draw with a const ui */

	/* The session. */
	const struct profile *profile; /* NULL: not attached */
	const struct vitals *vitals;   /* likewise */
	char names_note[160];          /* of ops->names_note, as of the last tick */
	bool ended;                    /* error has the reason */
	struct err error;
	int attach_pid;     /* JVM to attach to after the next draw; 0: none */
	int last_pid;       /* of the last attempt to attach, */
	struct err refusal; /* and why it failed, for the error screen */

	/* What is shown, and how. */
	struct ui_scope scope;
	struct ui_sums sums;
	enum view_id view;  /* the shown one */
	enum view_id under; /* the view below help, picker or error screen; Esc returns to it */
	/* The view that Enter opened from the findings, and its undo id (0: none): Esc returns to the findings. */
	enum view_id found;
	unsigned found_undo;
	struct view_state *states[VIEW_COUNT]; /* NULL: not shown yet */
	/* Over the view. */
	struct ui_prompt prompt;
	const struct ui_popup *popup; /* NULL: none */
	struct ui_message message;

	enum name_style names;
	enum theme_depth depth, depth_begin; /* color depth: now, and at the start */
	bool mouse;                          /* mouse reporting is on */

	/* Time. */
	uint64_t interval_ms; /* of refreshing, as requested */
	int64_t now_ms, attached_ms, order_frozen_until_ms;
	int64_t begun_ms; /* when the session or the shown event began */
	uint64_t newer;   /* samples newer than the frozen window, */
	int64_t newer_ms; /* as counted at this time */
	struct ui_job job;

	/* Never NULL. */
	struct search *search;
	struct ui_events *events;
	struct timestrip *strip;
	struct output *output;
	struct ui_findings *findings;
	struct ui_latency *latency;

	/* For the loop. */
	const char *waits_for; /* names what blocks, in its message; NULL: "waiting for the JVM" */
	char *copy;            /* text for the clipboard; the loop consumes and frees it */
};

/* --- drive.c: what the loop calls ------------------------------------------------------------------------ */

void ui_init(struct ui *ui, const struct app_ops *ops, void *ctx, const struct app_options *options,
	bool ascii);
void ui_done(struct ui *ui);
void ui_attach(struct ui *ui, int pid); /* a failure shows the error screen */

/* These return the enum ui_reaction bits that the loop applies. */
unsigned ui_key(struct ui *ui, int key, int64_t now_ms);
/* A button pressed over a cell. */
enum ui_button { UI_MOUSE_SELECT = 0, UI_WHEEL_UP = 64, UI_WHEEL_DOWN = 65 };
unsigned ui_mouse(struct ui *ui, int button, int row, int col, int64_t now_ms);
unsigned ui_work(struct ui *ui); /* continues the job by one slice; then handles queued keys */

void ui_resize(struct ui *ui, int rows, int cols);
void ui_tick(struct ui *ui, int64_t now_ms);   /* drains the session, runs the rules, updates */
void ui_draw(struct ui *ui);                   /* into ui->canvas */
bool ui_busy(const struct ui *ui);             /* a job is unfinished, or keys are queued */
int64_t ui_wake_ms(const struct ui *ui);       /* when the message expires; -1: never */
bool ui_expire(struct ui *ui, int64_t now_ms); /* hides an expired message; true: redraw */
uint64_t ui_refresh_ms(const struct ui *ui);   /* the effective refresh interval */
/* Queues a key until the job or wait ends; drops it when UI_QUEUED_KEYS keys are queued. */
void ui_queue_key(struct ui *ui, int key);

/* Applies UI_UPDATE, UI_SORT, UI_FREEZE_ORDER; the loop applies the others. */
void ui_react(struct ui *ui, unsigned reaction);
void ui_update_sums(struct ui *ui); /* recomputes ui->sums for the shown window */

/* --- ui.c: what views and commands call -------------------------------------------------------------------- */

/* The state of a view, a struct that begins with view_state. NULL until the view is first shown. */
static inline void *ui_state(const struct ui *ui, enum view_id view)
{
	return ui->states[view];
}
/* The shown view; while the help is shown, the view that it covers, which stays up to date. */
static inline enum view_id ui_view_id(const struct ui *ui)
{
	return ui->view == VIEW_HELP ? ui->under : ui->view;
}
const struct view *ui_view(const struct ui *ui);
struct list *ui_list(const struct ui *ui);    /* of the shown view */
const char *ui_selected(const struct ui *ui); /* name of its selected row; NULL: none */
struct area ui_body(const struct ui *ui, enum view_id view); /* the area that view draws in */
void ui_show(struct ui *ui, enum view_id view);

/* The query for the current event, window and filters. */
struct profile_query ui_query(const struct ui *ui);
bool ui_has_event(const struct ui *ui, int event);
const char *ui_owner(const struct ui *ui); /* of a session that is only watched, or "" */
/* Restricts everything to one thread or pool. PROFILE_ANY_THREAD, 0: to none. */
void ui_restrict(struct ui *ui, uint32_t thread, uint32_t pool);
bool ui_is_restricted(const struct ui *ui);
const char *ui_restriction_name(const struct ui *ui); /* of that thread or pool */
/* True when threads that wait for work can be hidden: in wall, unless restricted. */
bool ui_may_hide_idle(const struct ui *ui);
bool ui_hides_idle(const struct ui *ui); /* they are hidden, which is the default */

bool ui_order_frozen(const struct ui *ui);
/* How an update orders rows. sort: from scratch. */
static inline enum rank_how ui_order_how(const struct ui *ui, bool sort)
{
	return sort ? RANK_SORT : ui_order_frozen(ui) ? RANK_FROZEN : RANK_STABLE;
}
/* CPU time of this thread, to measure the cost of updates; 0 in tests. */
uint64_t ui_cpu_ns(const struct ui *ui);
/* name_fit for a method of the profile, with the symbols of the terminal. */
int ui_fit_method(const struct ui *ui, uint32_t method, enum name_style style, int width, char *out,
	size_t size);

unsigned ui_undo_id(struct ui *ui); /* a new undo id: Esc undoes the action with the highest one */
/* The undo id of a finding that is being followed; 0: none. */
static inline unsigned ui_found_undo(const struct ui *ui)
{
	return ui->found == ui->view ? ui->found_undo : 0;
}

/* Shows a message for that time in ms, or UI_STAY. ui_say and ui_warn: for UI_MESSAGE_MS. */
void ui_notify(struct ui *ui, enum style style, int ms, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
#define ui_say(ui, ...)  ui_notify(ui, STYLE_NORMAL, UI_MESSAGE_MS, __VA_ARGS__)
#define ui_warn(ui, ...) ui_notify(ui, STYLE_WARN, UI_MESSAGE_MS, __VA_ARGS__)
void ui_prompt(struct ui *ui, const char *label, const char *text, void (*change)(struct ui *),
	void (*done)(struct ui *, bool accepted));
/* Clears and frames a centered box for rows x cols of text. Returns its inside. Too small a screen gets no frame. */
struct area popup_frame(const struct ui *ui, const char *title, int rows, int cols);

/* --- header.c, timestrip.c, footer.c: what surrounds the view ------------------------------------------------ */

/* Their rows at this size. Bare views have no header. */
int header_rows(const struct ui *ui);
int timestrip_rows(const struct ui *ui);
int footer_rows(const struct ui *ui);
void header_draw(const struct ui *ui); /* with the time strip */
void footer_draw(const struct ui *ui);
/* One line instead of the whole screen, for terminals under 40x8. */
void header_summary(const struct ui *ui);
int header_quality_row(const struct ui *ui);

/* The history under the header. Computed once per update, into ui->strip. */
struct timestrip *timestrip_new(void); /* the caller frees it */
void timestrip_update(struct ui *ui);
void timestrip_draw(const struct ui *ui, int row);

void footer_prompt_key(struct ui *ui, int key);
/* Edits a line of text: characters, Backspace, ^U. Returns false for any other key. */
bool footer_edit(char *text, size_t bytes, int key);

#endif
