#include "preload/steps/passes.h"

#include <string.h>

/* ---- sets of passes ------------------------------------------------------------------------ */

static bool has(const struct seep_feeding *set, uint32_t number)
{
    for (uint32_t i = 0; i < set->n; i++)
        if (set->numbers[i] == number)
            return true;
    return false;
}

static void remove_one(struct seep_feeding *set, uint32_t number)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < set->n; i++)
        if (set->numbers[i] != number)
            set->numbers[kept++] = set->numbers[i];
    set->n = kept;
}

/* Adds it at the end: the last is the one drawn from last. If full, drops the one drawn from
 * first. */
static void add(struct seep_feeding *set, uint32_t number)
{
    remove_one(set, number);
    if (set->n == SEEP_FEEDING)
        remove_one(set, set->numbers[0]);
    set->numbers[set->n++] = number;
}

static void keep_common(struct seep_feeding *set, const struct seep_feeding *other)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < set->n; i++)
        if (has(other, set->numbers[i]))
            set->numbers[kept++] = set->numbers[i];
    set->n = kept;
}

static uint32_t oldest(const struct seep_feeding *set)
{
    uint32_t found = set->numbers[0];
    for (uint32_t i = 1; i < set->n; i++)
        if (set->numbers[i] < found)
            found = set->numbers[i];
    return found;
}

/* ---- passes -------------------------------------------------------------------------------- */

static struct seep_pass *by_number(struct seep_passes *passes, uint32_t number)
{
    for (uint32_t i = 0; number && i < SEEP_PASSES; i++)
        if (passes->passes[i].number == number)
            return &passes->passes[i];
    return NULL;
}

/* The newest pass of an iterator: an earlier iterator may have had its address. */
static struct seep_pass *by_iterator(struct seep_passes *passes, uintptr_t iterator)
{
    struct seep_pass *found = NULL;
    for (uint32_t i = 0; i < SEEP_PASSES; i++) {
        struct seep_pass *pass = &passes->passes[i];
        if (pass->number && pass->iterator == iterator && (!found || pass->number > found->number))
            found = pass;
    }
    return found;
}

/* The oldest pass that has begun but was never drawn from: iterators are used in the order in which
 * they were made. */
static struct seep_pass *waiting(struct seep_passes *passes)
{
    struct seep_pass *found = NULL;
    for (uint32_t i = 0; i < SEEP_PASSES; i++) {
        struct seep_pass *pass = &passes->passes[i];
        if (pass->number && !pass->iterator && (!found || pass->number < found->number))
            found = pass;
    }
    return found;
}

static struct seep_pass *begin(struct seep_passes *passes, uintptr_t loader, uint64_t t_ns,
                               uint32_t period)
{
    struct seep_pass *pass = passes->passes;
    for (uint32_t i = 1; i < SEEP_PASSES; i++) /* the one unused for longest */
        if (passes->passes[i].used < pass->used)
            pass = &passes->passes[i];
    *pass = (struct seep_pass){.number = ++passes->n_begun,
                               .loader = loader,
                               .t_ns = t_ns,
                               .period = period ? period : 1,
                               .used = ++passes->n_uses};
    return pass;
}

void seep_passes_began(struct seep_passes *passes, uintptr_t loader, uint64_t t_ns, uint32_t period)
{
    for (uint32_t i = 0; i < SEEP_PASSES; i++) {
        struct seep_pass *pass = &passes->passes[i];
        if (!pass->number || pass->loader != loader)
            continue;
        remove_one(&passes->drawn, pass->number); /* it is over */
        if (!pass->iterator)
            pass->number = 0;
    }
    (void)begin(passes, loader, t_ns, period);
}

bool seep_passes_asked(struct seep_passes *passes, uintptr_t iterator, uint64_t t_ns,
                       uint32_t period)
{
    struct seep_pass *pass = by_iterator(passes, iterator), *next = waiting(passes);
    /* A pass that began after this iterator's last one is its next, or belongs to a new iterator at
     * the same address. */
    if (next && (!pass || next->number > pass->number))
        pass = next;
    if (!pass)
        pass = begin(passes, 0, t_ns, period);
    pass->iterator = iterator;
    pass->used = ++passes->n_uses;
    add(&passes->drawn, pass->number);
    return pass->batches++ > 0;
}

void seep_passes_sampled(struct seep_passes *passes, uintptr_t iterator, uintptr_t code,
                         intptr_t position, uint64_t t_ns, uint32_t period)
{
    struct seep_pass *pass =
        iterator ? by_iterator(passes, iterator) : by_number(passes, passes->n_begun);
    if (!pass || (pass->sampled && pass->sampler_code != code))
        return;
    if (pass->sampled && position < pass->sampler) {
        uint64_t batches = pass->batches;
        remove_one(&passes->drawn, pass->number);
        pass = begin(passes, pass->loader, t_ns, period);
        pass->iterator = iterator;
        pass->batches = batches;
        add(&passes->drawn, pass->number);
    }
    pass->sampled = true;
    pass->sampler_code = code;
    pass->sampler = position;
}

/* ---- epochs -------------------------------------------------------------------------------- */

const struct seep_pass *seep_passes_fed(struct seep_passes *passes)
{
    const struct seep_feeding drawn = passes->drawn;
    passes->drawn.n = 0;
    if (!drawn.n)
        return NULL;
    bool goes_on = has(&drawn, passes->epoch);
    if (passes->epoch)
        keep_common(&passes->alike, &drawn);
    if (goes_on)
        return NULL;
    if (passes->epoch && passes->alike.n) { /* another one has fed all along */
        passes->epoch = oldest(&passes->alike);
        return NULL;
    }
    uint32_t last = drawn.numbers[drawn.n - 1];
    bool is_new = last > passes->newest;
    passes->epoch = last;
    passes->alike = drawn;
    if (!is_new)
        return NULL;
    passes->newest = last;
    return by_number(passes, last);
}

void seep_passes_restart(struct seep_passes *passes)
{
    passes->epoch = passes->newest = 0;
    passes->alike.n = 0;
}
