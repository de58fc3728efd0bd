#include "libprof/measure/segments.h"

#include "libprof/code/function_kinds.h"

#include <stdlib.h>
#include <string.h>

size_t seep_sites_of_space(const struct seep_model *m, uint16_t space, uint32_t *sites)
{
    size_t n = 0;

    for (uint32_t i = 0; i < m->n_sites; i++) {
        if (m->sites[i].space == space)
            sites[n++] = i;
    }
    return n;
}

/* What stands for a frame that asks for memory: its line; in native code its function, since the
 * function's other calls have lines of their own; in a library without looked-up names, the whole
 * library. A native frame may be several functions, one inlined into the next: with `inner`, the
 * one that a rule knows; otherwise the one that was called. */
static uint64_t place_of(const struct seep_code *code, uint32_t frame, bool inner)
{
    const struct seep_model *m = code->model;
    const struct seep_dict_frame *f = &m->dict.frames[frame];
    const struct seep_symbol *s, *all;

    if (f->kind != SEEP_FRAME_NATIVE || f->pseudo)
        return seep_hash_two(code->lines->line_of[frame], f->kind);
    size_t n = seep_symbols_get(code->symbols, frame, &all);
    s = inner ? seep_function_kinds_symbol(code->lines->kinds, code->symbols, frame)
        : n   ? &all[n - 1]
              : NULL;
    const char *name = s && s->function ? s->function : "";
    return seep_hash_two(seep_hash_bytes(name, strlen(name)), f->source);
}

/* Of all frames of a dictionary. */
struct places {
    uint64_t *of, *called;
};

static int places_make(const struct seep_code *code, struct places *p)
{
    const struct seep_model *m = code->model;
    p->of = malloc((m->dict.n_frames + 1) * sizeof *p->of);
    p->called = malloc((m->dict.n_frames + 1) * sizeof *p->called);
    if (!p->of || !p->called)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < m->dict.n_frames; i++) {
        p->of[i] = place_of(code, i, true);
        p->called[i] = place_of(code, i, false);
    }
    return 0;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

/* Of the stack that requested a tensor: the place, and what that called; nothing where the stack
 * ends there. */
static uint64_t request_of(const struct seep_dictionary *d, const struct places *p, uint32_t stack,
                           uint32_t shown)
{
    uint64_t called = 0;

    for (uint32_t i = stack; i && p->of[d->stacks[i].frame] != p->of[shown];
         i = d->stacks[i].parent)
        called = p->called[d->stacks[i].frame];
    return seep_hash_two(p->of[shown], called);
}

static bool is_asked(const uint64_t *requests, size_t n, uint64_t place, uint64_t called)
{
    uint64_t request = seep_hash_two(place, called);

    return bsearch(&request, requests, n, sizeof *requests, by_value) != NULL;
}

/* By name, where symbols were looked up: on threads without any line of the user's, requests for
 * tensors and for segments have nothing else in common. */
static bool is_in_allocator(struct seep_symbols *symbols, uint32_t frame)
{
    static const char prefix[] = "c10::cuda::CUDACachingAllocator::";
    const struct seep_symbol *s;

    return seep_symbols_get(symbols, frame, &s) && s[0].function &&
           strncmp(s[0].function, prefix, sizeof prefix - 1) == 0;
}

int seep_segments_mark(const struct seep_code *code, const uint32_t *tensors, size_t n,
                       bool *marked)
{
    const struct seep_model *m = code->model;
    const struct seep_dictionary *d = &m->dict;
    struct places p = {0};
    uint64_t *requests = malloc((n + 1) * sizeof *requests);
    bool *within = calloc(d->n_stacks + 1, sizeof *within); /* what was called, and everything it
                                                             * calls */
    int rc = places_make(code, &p);

    if (!requests || !within)
        rc = -SEEP_ENOMEM;
    for (size_t i = 0; i < n && !rc; i++) {
        uint32_t stack = m->sites[tensors[i]].stack;
        requests[i] = request_of(d, &p, stack, code->lines->shown[stack]);
    }
    if (!rc)
        qsort(requests, n, sizeof *requests, by_value);
    /* Parents come before what they call. */
    for (size_t i = 1; i < d->n_stacks && !rc; i++) {
        uint32_t parent = d->stacks[i].parent, frame = d->stacks[i].frame;
        within[i] =
            within[parent] ||
            (parent && is_asked(requests, n, p.of[d->stacks[parent].frame], p.called[frame]));
        marked[i] = within[i] || is_asked(requests, n, p.of[frame], 0) ||
                    is_in_allocator(code->symbols, frame);
    }
    free(p.of);
    free(p.called);
    free(requests);
    free(within);
    return rc;
}

int seep_segments_mark_all(const struct seep_code *code, bool *marked)
{
    const struct seep_model *m = code->model;
    uint32_t *tensors = calloc(m->n_sites + 1, sizeof *tensors);
    size_t n = 0;
    int rc = tensors ? 0 : -SEEP_ENOMEM;

    for (uint32_t i = 0; tensors && i < m->n_sites; i++) {
        if (m->spaces[m->sites[i].space].name.class == SEEP_CLASS_TENSOR)
            tensors[n++] = i;
    }
    if (n)
        rc = seep_segments_mark(code, tensors, n, marked);
    free(tensors);
    return rc;
}
