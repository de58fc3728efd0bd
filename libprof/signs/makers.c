#include "libprof/signs/sign_parts.h"

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

static bool begins_with_any(const char *name, const char *const *with, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strncmp(name, with[i], strlen(with[i])) == 0)
            return true;
    }
    return false;
}

/* Operators of libtorch and the C API of NumPy have no Python frame of their own. */
static bool joins(const char *name)
{
    static const char *const names[] = {"at::_ops::cat::", "at::_ops::concat", "at::_ops::hstack::",
                                        "at::_ops::vstack::", "PyArray_Concat"};

    return begins_with_any(name, names, sizeof names / sizeof *names);
}

static bool copies(const char *name)
{
    static const char *const names[] = {"at::_ops::_to_copy::", "at::_ops::to_",
                                        "torch::autograd::THPVariable_to(",
                                        "torch::autograd::THPVariable_cuda("};

    return begins_with_any(name, names, sizeof names / sizeof *names);
}

static void note(const struct seep_case *c, uint32_t frame, struct seep_makers *makers)
{
    const struct seep_function_kinds *kinds = c->code->lines->kinds;
    const struct seep_symbol *symbol;

    makers->joins |= seep_function_kinds_is(kinds, frame, SEEP_FUNCTION_JOIN);
    makers->loads |= seep_function_kinds_is(kinds, frame, SEEP_FUNCTION_LOAD);
    if (!seep_symbols_get(c->code->symbols, frame, &symbol) || !symbol[0].function)
        return;
    makers->named |= strncmp(symbol[0].function, "at::_ops::", 10) == 0;
    makers->joins |= joins(symbol[0].function);
    makers->copies |= copies(symbol[0].function);
}

int seep_makers_find(const struct seep_case *c, struct seep_makers *makers)
{
    enum { MOST = 64 };
    const struct seep_dictionary *d = &c->m->dict;
    const uint32_t stack = c->m->sites[largest_site(c)].stack;
    const uint32_t line = c->code->lines->shown[stack];
    uint32_t frames[MOST] = {0};
    size_t n = 0;

    for (uint32_t s = stack; s && n < MOST && d->stacks[s].frame != line; s = d->stacks[s].parent)
        frames[n++] = d->stacks[s].frame;
    *makers = (struct seep_makers){.known = true};
    if (seep_symbols_resolve(c->code->symbols, frames, n))
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < n; i++)
        note(c, frames[i], makers);
    return 0;
}
