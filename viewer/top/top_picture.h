/* The contents of the screen, as rows of styled text: made without a terminal, and drawn by
 * whichever output has one. */
#ifndef SEEP_VIEWER_TOP_PICTURE_H
#define SEEP_VIEWER_TOP_PICTURE_H

#include "viewer/top/top_choice.h"

/* Styles only repeat what the text says too. */
enum seep_top_style {
    SEEP_TOP_PLAIN,
    SEEP_TOP_HEAD,   /* names of columns */
    SEEP_TOP_MARKED, /* the row that is chosen */
    SEEP_TOP_STRONG,
    SEEP_TOP_GOOD,
    SEEP_TOP_WARNING,
    SEEP_TOP_BAD,
};

enum { SEEP_TOP_SPANS = 24, SEEP_TOP_MOST_COLUMNS = 500, SEEP_TOP_MOST_ROWS = 500 };
enum {
    SEEP_TOP_PAPER_PROCESSES = 16,
    SEEP_TOP_PAPER_HOLDERS = 5,
    SEEP_TOP_PAPER_LINES = 20
}; /* shown at most where list_only */

struct seep_top_row {
    char *text; /* UTF-8, or ASCII; NUL-terminated */
    int columns;
    size_t bytes;
    enum seep_top_style style; /* of text without a style of its own */
    int n_spans;
    struct {
        size_t begin, end; /* bytes of text */
        enum seep_top_style style;
    } spans[SEEP_TOP_SPANS];
};

struct seep_top_picture {
    struct seep_top_row *rows;
    char *texts;
    int n_rows, n_columns;
    bool utf8;
    bool list_only; /* for paper: no row is marked, and no keys are shown */
};

/* Room for a picture, or -1 without memory. Sizes are cut at MOST_…. */
int seep_top_picture_init(struct seep_top_picture *picture, int rows, int columns, bool utf8);
void seep_top_picture_fini(struct seep_top_picture *picture);

/* Draws everything. `message`: what went wrong, or NULL. Sets choice->page_rows and the like. */
void seep_top_draw(struct seep_top_picture *picture, const struct seep_top_view *view,
                   struct seep_top_choice *choice, const char *message);

/* Its parts, each drawn from row `at` on and never beyond row `end`; they return the next row. */
int seep_top_draw_job(struct seep_top_picture *picture, int at, const struct seep_top_view *view,
                      bool paused);
int seep_top_draw_spaces(struct seep_top_picture *picture, int at, int end,
                         const struct seep_top_view *view);
int seep_top_draw_processes(struct seep_top_picture *picture, int at, int end,
                            const struct seep_top_view *view);
int seep_top_draw_holders(struct seep_top_picture *picture, int at, int end,
                          const struct seep_top_view *view);
int seep_top_draw_lines(struct seep_top_picture *picture, int at, int end,
                        const struct seep_top_view *view, struct seep_top_choice *choice);
void seep_top_draw_details(struct seep_top_picture *picture, int at, int end,
                           const struct seep_top_view *view, struct seep_top_choice *choice);
void seep_top_draw_help(struct seep_top_picture *picture, int at, int end,
                        struct seep_top_choice *choice);

/* Appends a text in `columns` columns, left-aligned, or right-aligned where `columns` is negative.
 * Cuts what does not fit into the picture. */
void seep_top_put(struct seep_top_picture *picture, int row, int columns, const char *text,
                  enum seep_top_style style);
/* The same for a size in 10 columns (11 with a sign), after a blank. */
void seep_top_put_size(struct seep_top_picture *picture, int row, double bytes,
                       enum seep_top_style style);
void seep_top_put_change(struct seep_top_picture *picture, int row, double bytes,
                         enum seep_top_style style);
/* Appends text that was already drawn for that many columns, uncut. */
void seep_top_put_drawn(struct seep_top_picture *picture, int row, int columns, const char *drawn,
                        enum seep_top_style style);

#endif
