#include "libprof/signs/joins.h"

#include "libprof/code/function_kinds.h"

#include <string.h>

static uint32_t largest_site(const struct seep_case *c)
{
    uint32_t largest = c->sites[0];

    for (size_t i = 1; i < c->n_sites; i++) {
        if (c->m->sites[c->sites[i]].totals.peak_bytes > c->m->sites[largest].totals.peak_bytes)
            largest = c->sites[i];
    }
    return largest;
}

/* Operators of libtorch and the C API of NumPy have no Python frame of their own. */
static bool joins(const struct seep_case *c, uint32_t frame)
{
    static const char *const names[] = {"at::_ops::cat::", "at::_ops::concat", "at::_ops::hstack::",
                                        "at::_ops::vstack::", "PyArray_Concat"};
    const struct seep_symbol *symbol;

    if (seep_function_kinds_is(c->frames->kinds, frame, SEEP_FUNCTION_JOIN))
        return true;
    if (!seep_symbols_get(c->symbols, frame, &symbol) || !symbol[0].function)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strncmp(symbol[0].function, names[i], strlen(names[i])) == 0)
            return true;
    }
    return false;
}

int seep_joins_find(const struct seep_case *c, bool *is_joined)
{
    enum { MOST = 64 };
    const struct seep_dictionary *d = &c->m->dict;
    const uint32_t stack = c->m->sites[largest_site(c)].stack;
    const uint32_t line = c->frames->look_at[stack];
    uint32_t frames[MOST] = {0};
    size_t n = 0;

    for (uint32_t s = stack; s && n < MOST && d->stacks[s].frame != line; s = d->stacks[s].parent)
        frames[n++] = d->stacks[s].frame;
    *is_joined = false;
    if (seep_symbols_resolve(c->symbols, frames, n))
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < n; i++)
        *is_joined = *is_joined || joins(c, frames[i]);
    return 0;
}
