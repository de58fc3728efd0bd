/* Sites too small to be in a page one by one, grouped in boxes below their callers. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_BOXES_H
#define SEEP_LIBPROF_PAGE_PAGE_BOXES_H

#include "libprof/page/page_tables.h"

#define SEEP_PAGE_SMALL_BOX 1e-3 /* of a space: about one pixel in a picture of it */

/* One small thing with a stack, such as a site, by its caller's number. */
struct seep_page_small {
    uint32_t caller; /* seep_page_boxes_put() makes it the one that has its box */
    uint32_t number; /* the user's own */
};

/* What is below a stack. */
enum seep_page_weight_of { SEEP_PAGE_PEAK, SEEP_PAGE_ALLOCATED, SEEP_PAGE_N_WEIGHTS };
struct seep_page_weight {
    double of[SEEP_PAGE_N_WEIGHTS];
};

/* All zero: empty. */
struct seep_page_boxes {
    struct seep_frames frames;       /* of the stacks */
    struct seep_page_stacks callers; /* stacks of small ones only: few get into the page */
    struct seep_page_small *list;
    size_t n, capacity;
};

/* Adds one small thing. Its stack is not kept, but its frames are known by address. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_page_boxes_add(struct seep_page_boxes *boxes, const json_t *stack,
                                        uint32_t number);

/* What one small thing weighs. */
typedef struct seep_page_weight seep_page_boxes_weigher(const void *context, uint32_t number);

/* Takes a box of `n` small ones below a caller, given as the page's number; SEEP_HASH_NONE: below
 * no caller. */
typedef void seep_page_boxes_taker(const void *context, const struct seep_page_small *first,
                                   size_t n, uint32_t caller, struct seep_page_tables *tables,
                                   bool *failed);

/* Puts each into the box of its innermost caller that has one, and lets `take` have the boxes. A
 * caller gets a box if the sum below it reaches either of `limits`. Once. */
void seep_page_boxes_put(struct seep_page_boxes *boxes, struct seep_page_weight limits,
                         seep_page_boxes_weigher *weigh, seep_page_boxes_taker *take,
                         const void *context, struct seep_page_tables *tables, bool *failed);

void seep_page_boxes_fini(struct seep_page_boxes *boxes);

#endif
