/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live view without its terminal: what is shown, what a key does to it, what a second does to it.
 *
 * Takes keys and times, gives a canvas: tests drive it as loop.c does. Time is passed in
 * (now_ms, any origin). Views and commands read and change the fields; whoever changes what is looked at
 * says so by a reaction. ui.c has what they call, drive.c what the loop calls. One thread; owned by app_run.
 */
#ifndef JHOT_TUI_FRAME_UI_H
#define JHOT_TUI_FRAME_UI_H

#include "profile/query/filter.h"
#include "tui/frame/app.h"
#include "tui/frame/view.h"
#include "tui/screen/canvas.h"
#include "tui/screen/glyph.h"
#include "tui/screen/name.h"
#include "tui/term/key.h"
#include "tui/time/time.h"

#include <stdbool.h>
#include <stdint.h>

#define UI_HOLD_MS    5000 /* the order stays after a key */
#define UI_MESSAGE_MS 2000
#define UI_TYPED      64
#define UI_STAY       0    /* a message until the next key */
#define UI_SLICE      3000 /* of what is made in another form: about 3 ms */

enum ui_reaction {
	UI_UPDATE = 1, /* ask the profile again */
	UI_SORT = 2,   /* and order afresh */
	UI_HOLD = 4,   /* keep the order for a while */
	UI_QUIT = 8,
	UI_SUSPEND = 16,
	UI_REPAINT = 32,
	UI_COLORS = 64, /* the next depth of colour */
	UI_MOUSE = 128, /* ui->mouse has changed */
};

struct ui_prompt {
	const char *label; /* NULL: none is open */
	char text[256];
	bool offered; /* the text is a proposal: what is typed first replaces it */
	/* What Tab completes to, i from 0 on, NULL behind the last; may be NULL. */
	const char *(*choice)(struct ui *ui, int i);
	int arg;                       /* the asker's own */
	void (*change)(struct ui *ui); /* after each key, may be NULL */
	void (*done)(struct ui *ui, bool accepted);
};

/* A box over the view that takes all keys until it is closed: the export dialog, menus. Drawn after the view. */
struct ui_popup {
	const char *title;
	const char *keys; /* stand in place of the key line: "Enter writes  Esc cancels" */
	/* Takes each key; closes itself by ui->place.popup = NULL. Returns reactions. */
	unsigned (*key)(struct ui *ui, int key);
	void (*draw)(struct ui *ui);
};

struct ui_message {
	char text[320];
	enum style style;
	bool shown;
	int64_t since_ms, until_ms; /* UI_STAY: until the next key */
};

struct ui_event { /* what an event keeps while another is shown */
	bool visited;
	int window;
	uint32_t since, since_before;
	uint32_t begun; /* the second in which it was switched on here */
	int64_t asked;  /* the interval that was asked for, 0 = not seen yet */
	bool warned;    /* what it leaves behind has been read */
};

/* What is looked at: all that a query is made of. */
struct ui_scope {
	int event;
	bool holders; /* of lock: not who waited, but what holders did meanwhile */
	struct ui_event events[PROFILE_EVENTS];
	uint32_t thread; /* only this one, or PROFILE_ANY_THREAD */
	uint32_t pool;   /* only threads of this pool; 0 = all */
	struct timeline time;
	struct filter *filter;   /* what is left out; never NULL */
	struct compare *compare; /* of compare.c, NULL until a baseline was set */
	unsigned narrowings;     /* searches, filters, zooms... so far: Esc undoes the last first */
	unsigned only_nr, filter_nr[FILTER_TERMS];
};

/* What is looked for in it. */
struct ui_search {
	char text[256], before[256];
	int from;            /* where the cursor was when / was pressed */
	struct match *found; /* over the profile; never NULL */
	unsigned nr, nr_before;
};

/* Where one is. */
struct ui_place {
	enum view_id view,
		under; /* under: what help, picker or error screen cover, and where Esc leads */
	enum view_id found; /* where Enter led from the findings, ... */
	unsigned found_nr;  /* ... when (ui_narrow): Esc leads back; 0: it has, or never did */
	struct view_state *state[VIEW_COUNT];
	struct ui_prompt prompt;
	const struct ui_popup *popup; /* NULL: none is open */
	struct ui_message message;
};

/* An update that is too much for one key goes on bit by bit: work.c. */
struct ui_job {
	uint64_t slice; /* frames that one key or round may make in another form; 0: all at once */
	bool on;        /* what is shown is not yet what was asked for */
	bool ticking;   /* the update is for a second that passed, not for a key */
	bool sort;      /* it ends with a fresh order */
	bool summed;    /* the sums are there, of the question */
	uint64_t stamp; /* with this stamp */
	uint64_t ready; /* stamp of the question whose stacks have the form that was asked for */
	int typed[UI_TYPED]; /* meanwhile: taken when it is done */
	unsigned typed_count;
};

struct ui {
	const struct app_ops *ops;
	void *ctx;
	const struct app_options *options;
	struct canvas canvas;
	const struct glyphs *glyphs;

	const struct profile *profile; /* NULL: not attached */
	const struct vitals *vitals;   /* likewise */
	char names_note[160];          /* of ops->names_note, as of the last tick */
	struct ui_scope scope;
	struct ui_search search;
	struct { /* as of the last update: of the window, of what has a hit, of coarse code */
		struct profile_sum all, searched, coarse;
		struct profile_explained explained;
	} sums;
	struct ui_place place;
	struct ui_job job;
	struct {
		int row;
		int warned; /* the event that the open question is about */
		char note[640];
	} menu; /* of events.c */
	const char *
		format; /* suffix of the files that are written unless another is chosen; "": the first */
	struct output *output;        /* of output.c, NULL until something was exported */
	struct ui_findings *findings; /* of findings.c, never NULL */

	uint64_t interval_ms;
	uint64_t (*cpu_ns)(void); /* NULL in tests: updates cost nothing */
	uint64_t update_ns;       /* what the last one cost, with what stands beside the list */
	int64_t updated_ms;
	bool beside;        /* what stands beside the list is of the last update */
	bool drawn;         /* the canvas has this view in this size */
	uint32_t ask_s;     /* q asks when more than so many seconds are unsaved */
	uint32_t saved_now; /* the profile\'s second up to which all is in a recording */
	char saved[320]; /* the last recording that was written unasked, for the end of the view */
	bool discard;    /* the user quits without saving */
	bool over;       /* the session ended; error says why */
	bool listing;    /* the picker's list is incomplete: ui_lists */
	struct err error;
	struct err refusal; /* why the last attach failed: the error screen */
	int attach_pid;     /* to be attached after the next draw; 0: none */
	int last_pid;       /* that attaching was tried for */

	int64_t now_ms, attached_ms, hold_until_ms;
	int64_t begun_ms; /* when the session, or the event that is shown, was switched on */
	enum name_style names;
	enum theme_depth depth, depth_begin; /* of colour: now, and as the view was started */
	bool mouse;                          /* the terminal reports it to us */
	const char *waits_for; /* what the command that runs waits for; NULL: for the JVM */
	uint64_t waiting;      /* samples newer than the frozen window, as last shown */
	int64_t waiting_ms;
	uint32_t shown_now; /* where the time strip ends: moves with updates, so not while frozen */
	char *copy;         /* text for the clipboard, taken by the loop */
};

void ui_init(struct ui *ui, const struct app_ops *ops, void *ctx, const struct app_options *options,
	bool ascii);
void ui_done(struct ui *ui);
void ui_resize(struct ui *ui, int rows, int cols);

/* What the loop calls. */
unsigned ui_key(struct ui *ui, int key, int64_t now_ms);
/* A button pressed over a cell: UI_MOUSE_SELECT, or the wheel's two. */
enum ui_button { UI_MOUSE_SELECT = 0, UI_WHEEL_UP = 64, UI_WHEEL_DOWN = 65 };
unsigned ui_mouse(struct ui *ui, int button, int row, int col, int64_t now_ms);
void ui_tick(struct ui *ui, int64_t now_ms); /* take in what is new */
void ui_draw(struct ui *ui);                 /* into ui->canvas */
bool ui_busy(const struct ui *ui);  /* there is work to go on with, or keys typed meanwhile */
unsigned ui_work(struct ui *ui);    /* while working: a bit more of it */
bool ui_lists(const struct ui *ui); /* the picker is shown and waits for the rest of its list */
int64_t ui_wake_ms(const struct ui *ui);       /* when something shown runs out; -1: never */
bool ui_expire(struct ui *ui, int64_t now_ms); /* take that away; true: something changed */
void ui_attach(struct ui *ui, int pid);

uint64_t ui_refresh_ms(const struct ui *ui); /* how often it really refreshes */

/*
 * work.c: what an update needs that is too much for one key: other forms of stacks, and the sums where a long history
 * is looked at. false: there is more to do.
 */
bool ui_prepare(struct ui *ui, const struct view *v);
void ui_draw_working(struct ui *ui);
unsigned ui_type_ahead(struct ui *ui, int key);
/* Queues a key until there is nothing to wait for; drops it when UI_TYPED keys are queued. */
void ui_type_later(struct ui *ui, int key);

/* What views and commands call. */
const char *ui_selected(struct ui *ui); /* the name of the selected row; NULL: none */
const struct view *ui_view(const struct ui *ui);
struct list *ui_list(struct ui *ui);                         /* the shown view's */
struct area ui_body(const struct ui *ui, enum view_id view); /* where that view is drawn */
void ui_show(struct ui *ui, enum view_id view);
void ui_react(struct ui *ui, unsigned reaction); /* update and hold; the rest is the loop's */
struct profile_query ui_query(const struct ui *ui);
bool ui_holds(const struct ui *ui);
bool ui_has_event(const struct ui *ui, int event);
unsigned ui_narrow(struct ui *ui);                           /* the number of a new narrowing */
bool ui_only_some(const struct ui *ui);                      /* one thread, or one pool */
const char *ui_only_name(const struct ui *ui);               /* of that */
void ui_only(struct ui *ui, uint32_t thread, uint32_t pool); /* PROFILE_ANY_THREAD, 0: all */
void ui_say(struct ui *ui, enum style style, int ms, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void ui_prompt(struct ui *ui, const char *label, const char *text, void (*change)(struct ui *),
	void (*done)(struct ui *, bool accepted));

/* header.c, footer.c: rows they take at this size, where a view has them, and drawing them. */
int header_rows(const struct ui *ui);
void header_draw(struct ui *ui);
int header_quality_row(const struct ui *ui);
int footer_rows(const struct ui *ui);
void footer_draw(struct ui *ui);
/* Clear and frame a box in the middle for so much text; its inside. Too small a screen gets the text alone. */
struct area popup_frame(struct ui *ui, const char *title, int rows, int cols);
void footer_prompt_key(struct ui *ui, int key);
/* A key typed into a line of text: characters, Backspace, ^U. false: not one of these. */
bool footer_type(char *text, size_t bytes, int key);
/* timestrip.c: the seconds of the history under the header. */
int timestrip_rows(const struct ui *ui);
void timestrip_draw(struct ui *ui, int row);
/* The whole screen in one line, for terminals under 40x8. */
void header_summary(struct ui *ui);

#endif
