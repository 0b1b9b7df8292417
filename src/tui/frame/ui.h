/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live view without its terminal: what is shown, what a key does to it, what a second does to it.
 *
 * Takes keys and times, gives a canvas: tests drive it as the loop in app.c does. Time is passed in
 * (now_ms, any origin). Views and commands read and change the fields; whoever changes what is looked at
 * says so by a reaction. One thread; owned by app_run.
 */
#ifndef JHOT_TUI_FRAME_UI_H
#define JHOT_TUI_FRAME_UI_H

#include "profile/query/filter.h"
#include "tui/frame/app.h"
#include "tui/frame/popup.h"
#include "tui/screen/canvas.h"
#include "tui/screen/glyph.h"
#include "tui/screen/name.h"
#include "tui/term/key.h"
#include "tui/time/time.h"
#include "tui/view/view.h"

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
	void (*change)(struct ui *ui); /* after each key, may be NULL */
	void (*done)(struct ui *ui, bool accepted);
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

struct ui {
	const struct app_ops *ops;
	void *ctx;
	const struct app_options *options;
	struct canvas canvas;
	const struct glyphs *glyphs;

	enum view_id view, under; /* under: what help covers, and where Esc leads */
	void *state[VIEW_COUNT];

	const struct profile *profile; /* NULL: not attached */
	const struct vitals *vitals;   /* likewise */
	struct history history;
	int event;
	uint32_t thread; /* only this one, or PROFILE_ANY_THREAD */
	uint32_t pool;   /* only threads of this pool; 0 = all */
	struct ui_event events[PROFILE_EVENTS];
	int menu_row;     /* of events.c */
	int warned_event; /* that the open question is about */
	char menu_note[640];
	struct timeline time;
	uint64_t interval_ms;
	uint64_t (*cpu_ns)(void); /* NULL in tests: updates cost nothing */
	uint64_t update_ns;       /* what the last one cost */
	int64_t updated_ms;
	uint64_t slice; /* frames that one key or round may make in another form; 0: all at once */
	bool working;   /* what is shown is not yet what was asked for: ui_work goes on with it */
	bool work_sort, work_summed; /* how, and how far */
	uint64_t work_stamp,
		work_ready;  /* of the questions that were summed, that were made ready */
	int typed[UI_TYPED]; /* while working: taken when it is done */
	unsigned typed_count;
	enum view_id drawn; /* what stands on the canvas */
	int drawn_rows, drawn_cols;
	bool ticking; /* the update is for a second that passed, not for a key */
	bool over;    /* the session ended; error says why */
	struct err error;
	int attach_pid; /* to be attached after the next draw; 0: none */
	int last_pid;   /* that attaching was tried for */

	int64_t now_ms, attached_ms, hold_until_ms;
	int64_t begun_ms; /* when the session, or the event that is shown, was switched on */
	enum name_style names;
	enum theme_depth depth, depth_begin; /* of colour: now, and as the view was started */
	bool mouse;                          /* the terminal reports it to us */
	uint64_t waiting; /* samples newer than the frozen window, as last shown */
	int64_t waiting_ms;
	uint32_t
		shown_now; /* the second that the time strip ends with: it moves with updates, so not while frozen */
	char search[256], search_before[256];
	int search_from;       /* where the cursor was when / was pressed */
	struct match *found;   /* the search over the profile; never NULL */
	struct filter *filter; /* what is left out; never NULL */
	unsigned narrowings;   /* searches, filters, zooms... so far: Esc undoes the last first */
	unsigned search_nr, search_nr_before, only_nr, filter_nr[FILTER_TERMS];
	struct profile_sum sum, searched,
		coarse; /* of the window as of the last update, with a hit, and profile_coarse */
	struct profile_explained explained; /* of the window, too */
	struct compare *compare;            /* of compare.c, NULL until a baseline was set */
	struct ui_prompt prompt;
	const struct ui_popup *popup; /* NULL: none is open */
	struct output *output;        /* of output.c, NULL until something was exported */
	struct ui_message message;
	char *copy; /* text for the clipboard, taken by the loop */
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
bool ui_busy(const struct ui *ui);       /* there is work to go on with, or keys typed meanwhile */
unsigned ui_work(struct ui *ui);         /* while working: a bit more of it */
int64_t ui_wake_ms(const struct ui *ui); /* when something shown runs out; -1: never */
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

/* What views and commands call. */
const char *ui_selected(struct ui *ui); /* the name of the selected row; NULL: none */
const struct view *ui_view(const struct ui *ui);
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

/* header.c, footer.c: rows they take at this size, and drawing them. */
int header_rows(const struct ui *ui);
void header_draw(struct ui *ui);
int header_quality_row(const struct ui *ui);
int footer_rows(const struct ui *ui);
void footer_draw(struct ui *ui);
void footer_prompt_key(struct ui *ui, int key);
/* A key typed into a line of text: characters, Backspace, ^U. false: not one of these. */
bool footer_type(char *text, size_t bytes, int key);
/* The whole screen in one line, for terminals under 40x8. */
void header_summary(struct ui *ui);

#endif
