/* Whether what is kept is let go of and made anew: then a level that rises is of things that get
 * larger, and not of things that are never let go of. */
#ifndef SEEP_LIBPROF_SIGNS_RENEWAL_H
#define SEEP_LIBPROF_SIGNS_RENEWAL_H

#include "libprof/signs/case.h"

/* Each rise brings all of it anew: stages of a training, each with an optimizer and gradients of
 * its own. Rises lie `gap` steps apart at most, the last is in step `until`: what was there up to
 * it is gone, whatever its size. */
bool seep_is_renewed(const struct seep_case *c, const struct seep_signs *signs, int32_t gap,
                     int32_t until);

/* A queue that is full, by the middle of what is judged: each item is there for as many steps as
 * any other, and then gone, and their number stays. */
bool seep_is_queue(const struct seep_case *c, const struct seep_signs *signs);

/* Whether what is there at the ends of steps is made in these and gone soon after, as a batch is,
 * or what is computed of one: then a level that rises is of sizes that follow the input, and
 * nothing is kept. By the sites that gain: each freed all that it ever made within a step or two,
 * but for what so many steps make. */
bool seep_is_replaced(const struct seep_case *c, const struct seep_signs *signs);

/* Whether what the line joins, and replaces in each step, is made anew for that, as a batch is of
 * its items: some site makes smaller blocks for it, which come to as many bytes, are all there when
 * it is joined, and gone soon after. The pieces that a history is joined from come to its last size
 * alone. */
bool seep_is_joined_of_new(const struct seep_case *c, const struct seep_signs *signs);

#endif
