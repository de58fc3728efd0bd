#include "libprof/patterns/state_use.h"

#include "libprof/thresholds/thresholds.h"

#include <math.h>

bool seep_stack_passes(const struct seep_case *c, uint32_t stack, enum seep_function_kind kind)
{
    const struct seep_dictionary *d = &c->m->dict;

    for (uint32_t s = stack; s; s = d->stacks[s].parent) {
        if (seep_function_kinds_is(c->code->lines->kinds, d->stacks[s].frame, kind))
            return true;
    }
    return false;
}

bool seep_state_became_parameters(const struct seep_case *c)
{
    const struct seep_dictionary *d = &c->m->dict;

    for (uint32_t i = 1; i < d->n_stacks; i++) {
        if (seep_function_kinds_is(c->code->lines->kinds, d->stacks[i].frame,
                                   SEEP_FUNCTION_PARAMETER) &&
            seep_stack_passes(c, d->stacks[i].parent, SEEP_FUNCTION_STATE_COPY))
            return true;
    }
    return false;
}

/* As large as what was loaded, block by block, and gone again: `p - start[name]`, for all names in
 * each step. Gradients come only from the network and the optimizer. */
static bool is_of_its_size(const struct seep_case *c, const struct seep_model_site *site,
                           struct seep_held loaded)
{
    const enum seep_part part = (enum seep_part)c->code->lines->part[site->stack];
    const struct seep_totals *t = &site->totals;
    const double times = (double)t->allocations / (double)loaded.blocks;

    return site->space == c->space && c->code->lines->is_own[site->stack] &&
           part != SEEP_PART_MODEL && part != SEEP_PART_BACKWARD && part != SEEP_PART_OPTIMIZER &&
           times * 2 >= (double)c->span->last && t->frees * 2 >= t->allocations &&
           t->allocations % loaded.blocks == 0 &&
           fabs((double)t->allocated_bytes - times * (double)loaded.bytes) <=
               SEEP_T_SAME_SIZE * (double)t->allocated_bytes;
}

static bool is_copied_again(const struct seep_case *c, const struct seep_model_site *site)
{
    int32_t loaded_at = 1;

    for (size_t i = 0; i < c->n_sites; i++) {
        const int32_t first = c->m->sites[c->sites[i]].first_step;
        loaded_at = first > loaded_at ? first : loaded_at;
    }
    return site->last_step > loaded_at && site->last_step <= c->span->last &&
           seep_stack_passes(c, site->stack, SEEP_FUNCTION_STATE_COPY);
}

bool seep_state_is_used(const struct seep_case *c, struct seep_held loaded)
{
    if (!loaded.blocks)
        return false;
    if (seep_state_became_parameters(c))
        return true;
    for (size_t i = 0; i < c->m->n_sites; i++) {
        const struct seep_model_site *site = &c->m->sites[i];
        if (is_of_its_size(c, site, loaded) || is_copied_again(c, site))
            return true;
    }
    return false;
}

static bool is_there(const struct seep_case *c, enum seep_function_kind kind)
{
    for (uint32_t i = 1; i < c->m->dict.n_frames; i++) {
        if (seep_function_kinds_is(c->code->lines->kinds, i, kind))
            return true;
    }
    return false;
}

bool seep_state_has_moments(const struct seep_case *c)
{
    return is_there(c, SEEP_FUNCTION_MOMENTS);
}

unsigned seep_state_moments(const struct seep_case *c, uint64_t copies)
{
    if (!copies || !seep_state_has_moments(c))
        return 0;
    return copies > 1 && is_there(c, SEEP_FUNCTION_TWO_MOMENTS) ? 2 : 1;
}
