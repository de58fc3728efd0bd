/* Sites too small to be in a page one by one, grouped in boxes below their callers. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_BOXES_H
#define SEEP_LIBPROF_PAGE_PAGE_BOXES_H

#include "libprof/page/page_tables.h"

#define SEEP_PAGE_SMALL_BOX 1e-3 /* of a space: about one pixel in a picture of it */

/* One small thing with a stack, such as a site, and its two weights. */
struct seep_page_small {
    const json_t *what, *stack;
    double peak, allocated;
    uint32_t caller; /* that has its box; set by seep_page_boxes() */
};

struct seep_page_boxes {
    double peak, allocated; /* a caller gets a box if the sum below it reaches either */
    /* Takes a box of `n` small ones below a caller, given as the page's number; SEEP_HASH_NONE:
     * below no caller. */
    void (*take)(void *columns, const struct seep_page_small *first, size_t n, uint32_t caller,
                 struct seep_page_tables *tables, bool *failed);
    void *columns;
};

/* Puts each of the list into the box of its innermost caller that has one, and sorts the list by
 * boxes. */
void seep_page_boxes(struct seep_page_small *list, size_t n, const struct seep_page_boxes *boxes,
                     struct seep_page_tables *tables, bool *failed);

#endif
