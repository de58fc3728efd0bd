/* What is too small to be in a page one by one, brought together below callers. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_BOXES_H
#define SEEP_LIBPROF_PAGE_PAGE_BOXES_H

#include "libprof/page/page_tables.h"

#define SEEP_PAGE_SMALL_BOX 1e-3 /* of a space: about as much as is a pixel in a picture of it */

/* One of them: a site, or what else has a stack; and what it weighs, in two ways. */
struct seep_page_small {
    const json_t *what, *stack;
    double peak, allocated;
    uint32_t caller; /* of the box, for seep_page_boxes() */
};

struct seep_page_boxes {
    double peak, allocated; /* a caller has a box where those below it come to one of them */
    /* Takes a box: `n` of them, below the page's number of a caller; SEEP_HASH_NONE: below none. */
    void (*take)(void *columns, const struct seep_page_small *first, size_t n, uint32_t caller,
                 struct seep_page_tables *tables, bool *failed);
    void *columns;
};

/* Each of the list is in the box of the innermost caller that has one. Puts the list in the order
 * of boxes. */
void seep_page_boxes(struct seep_page_small *list, size_t n, const struct seep_page_boxes *boxes,
                     struct seep_page_tables *tables, bool *failed);

#endif
