#include "libprof/verdict/messages.h"

#include "libprof/code/function_kinds.h"
#include "libprof/thresholds/thresholds.h"

#include <math.h>

static bool is_received(const struct seep_case *c, uint32_t stack)
{
    const struct seep_dictionary *d = &c->m->dict;

    for (uint32_t s = c->code->lines->is_own[stack] ? 0 : stack; s; s = d->stacks[s].parent) {
        if (seep_function_kinds_is(c->code->lines->kinds, d->stacks[s].frame,
                                   SEEP_FUNCTION_MESSAGE))
            return true;
    }
    return false;
}

/* Size of a site's blocks; of the largest one if known, since headers come along with it. */
static double block_bytes(const struct seep_model *m, const struct seep_model_site *site)
{
    const uint64_t largest = site->extra ? m->extras[site->extra - 1].max_bytes : 0;
    const struct seep_totals *t = &site->totals;

    return largest          ? (double)largest
           : t->allocations ? (double)t->allocated_bytes / (double)t->allocations
                            : 0;
}

static bool share_a_process(const struct seep_model *m, const struct seep_model_site *a,
                            const struct seep_model_site *b)
{
    for (uint32_t i = a->slots; i; i = m->slots[i - 1].next) {
        for (uint32_t k = b->slots; k; k = m->slots[k - 1].next) {
            if (m->slots[i - 1].process == m->slots[k - 1].process)
                return true;
        }
    }
    return false;
}

/* Whether the line of `s` is also one of the receiver's: a forked worker's stacks continue through
 * the line that started the worker. */
static bool is_receivers(const struct seep_case *c, const struct seep_model_site *s,
                         const struct seep_model_site *received)
{
    const uint32_t frame = c->code->lines->shown[s->stack];

    for (size_t i = 0; i < c->m->n_sites; i++) {
        const struct seep_model_site *other = &c->m->sites[i];
        if (c->code->lines->shown[other->stack] == frame && share_a_process(c->m, other, received))
            return true;
    }
    return false;
}

/* Of several lines that make such blocks, prefers the one that makes fewest, as others make them in
 * between; of equals the last one. */
static bool is_nearer(const struct seep_case *c, const struct seep_model_site *s,
                      const struct seep_model_site *than)
{
    const struct seep_dict_frame *frames = c->m->dict.frames;

    if (!than || s->totals.allocations != than->totals.allocations)
        return !than || s->totals.allocations < than->totals.allocations;
    return frames[c->code->lines->shown[s->stack]].where >
           frames[c->code->lines->shown[than->stack]].where;
}

uint32_t seep_message_sender(const struct seep_case *c, uint32_t site)
{
    const struct seep_model *m = c->m;
    const struct seep_model_site *received = &m->sites[site], *sender = NULL;
    const double size = block_bytes(m, received);
    const double n = (double)received->totals.allocated_bytes / size * SEEP_T_MOST;

    if (size < SEEP_T_SMALL_BYTES || !is_received(c, received->stack))
        return 0;
    for (size_t i = 0; i < m->n_sites; i++) {
        const struct seep_model_site *s = &m->sites[i];
        if (c->code->lines->is_own[s->stack] && s->space == received->space &&
            fabs(block_bytes(m, s) - size) <= size * SEEP_T_SAME_SIZE &&
            (double)s->totals.allocations >= n && is_nearer(c, s, sender) &&
            !is_receivers(c, s, received))
            sender = s;
    }
    return sender ? c->code->lines->shown[sender->stack] : 0;
}

/* The user's line in front of the function that gives a batch; 0: the stack has none. */
static uint32_t line_that_takes(const struct seep_case *c, uint32_t stack)
{
    const struct seep_dictionary *d = &c->m->dict;
    const struct seep_stack_lines *lines = c->code->lines;

    for (uint32_t s = stack; s; s = d->stacks[s].parent) {
        const uint32_t caller = d->stacks[s].parent;
        if (caller && lines->is_own[caller] &&
            seep_function_kinds_is(lines->kinds, d->stacks[s].frame, SEEP_FUNCTION_BATCH))
            return lines->shown[caller];
    }
    return 0;
}

uint32_t seep_batch_taker(const struct seep_case *c)
{
    uint64_t most = 0;
    uint32_t taker = 0;

    for (size_t i = 0; i < c->m->n_sites; i++) {
        const struct seep_model_site *site = &c->m->sites[i];
        if (site->totals.allocations <= most)
            continue;
        const uint32_t line = line_that_takes(c, site->stack);
        most = line ? site->totals.allocations : most;
        taker = line ? line : taker;
    }
    return taker;
}
