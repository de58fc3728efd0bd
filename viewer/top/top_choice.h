/* What the user has chosen to see, and how keys change it. Pure. */
#ifndef SEEP_VIEWER_TOP_CHOICE_H
#define SEEP_VIEWER_TOP_CHOICE_H

#include "viewer/top/top_view.h"

/* Keys that are no characters; characters are themselves (Unicode). */
enum seep_top_key {
    SEEP_TOP_NO_KEY = 0,
    SEEP_TOP_ENTER = '\n',
    SEEP_TOP_ESCAPE = 27,
    SEEP_TOP_ERASE = 127,
    SEEP_TOP_UP = 0x110000,
    SEEP_TOP_DOWN,
    SEEP_TOP_PAGE_UP,
    SEEP_TOP_PAGE_DOWN,
    SEEP_TOP_FIRST,
    SEEP_TOP_LAST,
};

/* BY_FINDING: leaks first, then what is retained, each by its growth. */
enum seep_top_sort {
    SEEP_TOP_BY_FINDING,
    SEEP_TOP_BY_GROWTH,
    SEEP_TOP_BY_LIVE,
    SEEP_TOP_BY_PEAK,
    SEEP_TOP_N_SORTS
};
enum seep_top_page { SEEP_TOP_LIST, SEEP_TOP_DETAILS, SEEP_TOP_HELP };

struct seep_top_choice {
    enum seep_top_sort sort;
    enum seep_top_page page;
    char space[32];   /* only lines of this space; "": all */
    char search[128]; /* only lines that have this in their place, pattern or a stack; "": all */
    bool typing;      /* keys are added to `search` */
    bool paused, quit;
    size_t chosen; /* among the lines that are shown */
    uint64_t key;  /* of that line; 0: none is chosen */
    size_t first;  /* the first line on the screen */
    size_t scroll; /* lines of details above the screen */
    /* Set when the picture is drawn. */
    size_t page_rows;    /* lines that the screen has room for */
    size_t detail_lines; /* of the details or the help, all together */
};

/* Lines that leak or are retained, by their findings. */
size_t seep_top_n_leaking(const struct seep_top_view *view);

/* Writes the indices of the view's lines to show, in order, to `order`, which has room for all of
 * the view's lines. Returns their number. */
size_t seep_top_order(const struct seep_top_view *view, const struct seep_top_choice *choice,
                      size_t *order);

/* Carries the choice over to a new view: if the user had moved to a line, it stays chosen, and no
 * index lies beyond the end. Allocates for a moment; without memory the choice stays as it is. */
void seep_top_follow(struct seep_top_choice *choice, const struct seep_top_view *view);

/* Scrolls so that the chosen one of n lines is visible on a screen of page_rows. */
void seep_top_keep_shown(struct seep_top_choice *choice, size_t n);

/* One key. The view is the one on the screen. */
void seep_top_press(struct seep_top_choice *choice, const struct seep_top_view *view, long key);

/* The line that is chosen in the view; NULL where it is not there. */
const struct seep_line_view *seep_top_chosen(const struct seep_top_choice *choice,
                                             const struct seep_top_view *view);

#endif
