/* Whether what is kept is freed and made anew: then a rising level means that things get larger,
 * not that they are never freed. */
#ifndef SEEP_LIBPROF_VERDICT_RENEWAL_H
#define SEEP_LIBPROF_VERDICT_RENEWAL_H

#include "libprof/verdict/case.h"

/* Each rise makes all of it anew, as in stages of a training that each have an optimizer and
 * gradients. Rises lie at most `gap` steps apart, the last one in step `until`: everything from
 * before is gone, whatever its size. */
bool seep_is_renewed(const struct seep_case *c, const struct seep_signs *signs, int32_t gap,
                     int32_t until);

/* A queue that is full by the middle of the judged steps: every item is live for as many steps as
 * any other, then gone, and their number stays. */
bool seep_is_queue(const struct seep_case *c, const struct seep_signs *signs);

/* Whether what is live at the ends of steps was made in them and is gone soon after, as a batch is,
 * or something computed from one: then a rising level means that sizes follow the input, and
 * nothing is kept. By the sites that gain: each freed all that it ever made within a step or two,
 * except what so many steps make. */
bool seep_is_replaced(const struct seep_case *c, const struct seep_signs *signs);

/* Whether what the line joins, and replaces in each step, is made of new pieces, as a batch is of
 * its items: some site makes smaller blocks for it, which add up to as many bytes, are all live
 * when it is joined, and gone soon after. The pieces of a history add up to its last size only. */
bool seep_is_joined_of_new(const struct seep_case *c, const struct seep_signs *signs);

#endif
