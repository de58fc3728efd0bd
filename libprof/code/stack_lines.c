#include "libprof/code/stack_lines.h"

#include "libprof/code/code_origin.h"
#include "libprof/code/function_kinds.h"
#include "libprof/code/part_rules.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_CLASSES = 256,
    RANK_OWN = 4, /* the lowest rank of a frame of the user's */
};

struct sweep {
    const struct seep_dictionary *d;
    const struct seep_part_rules *rules;
    const struct seep_function_kinds *kinds;
    const struct seep_symbols *symbols;
    struct seep_origins origins;
    uint8_t *frame_role; /* + 1 */
    uint64_t
        *calls; /* by string: rules on callers that apply to that library file; ~0: not asked */
    struct {    /* classes all of whose methods have a part */
        uint32_t file;
        const char *name; /* "Scenes." of "Scenes.__getitem__" */
        size_t n;
        enum seep_part part;
    } classes[MAX_CLASSES];
    size_t n_classes;
};

/* How good a frame is as the one to look at; of equals the innermost wins. Nobody can act on one of
 * a runtime or of an allocator. Generated code
 * ("<string>": dataclasses, namedtuples, torch.fx) was not written by the user, unless there is
 * nothing else (python -c). For a wrapper of malloc, its caller is the better line. */
static int rank_of(const struct sweep *w, uint32_t frame, enum seep_origin origin)
{
    const struct seep_dict_frame *f = &w->d->frames[frame];

    if (origin == SEEP_ORIGIN_USER) {
        if (f->kind != SEEP_FRAME_PYTHON)
            return seep_function_kinds_is(w->kinds, frame, SEEP_FUNCTION_ALLOCATOR) ? RANK_OWN
                                                                                    : RANK_OWN + 1;
        return seep_dictionary_text(w->d, f->source)[0] == '<' ? RANK_OWN + 2 : RANK_OWN + 3;
    }
    if (origin == SEEP_ORIGIN_SEEP || origin == SEEP_ORIGIN_IMPORT || f->pseudo)
        return 1;
    if (f->kind == SEEP_FRAME_PYTHON)
        return 3;
    return !f->source || seep_function_kinds_is(w->kinds, frame, SEEP_FUNCTION_ALLOCATOR) ||
                   seep_native_passes_on(seep_dictionary_text(w->d, w->d->modules[f->source].path))
               ? 1
               : 2;
}

/* ---- rules ----------------------------------------------------------------------------------- */

static struct seep_rule_frame rule_frame(const struct sweep *w, const struct seep_dict_frame *f,
                                         enum seep_origin origin)
{
    return (struct seep_rule_frame){.file = seep_dictionary_text(w->d, f->source),
                                    .function = seep_dictionary_text(w->d, f->function),
                                    .qualname = seep_dictionary_text(w->d, f->qualname),
                                    .own = origin == SEEP_ORIGIN_USER};
}

/* What the rules on callers say of a stack's innermost frame. */
static enum seep_part part_as_callee(struct sweep *w, const struct seep_dict_stack *s,
                                     bool *whole_class)
{
    const struct seep_dict_frame *f = &w->d->frames[s->frame];
    const struct seep_dict_frame *caller = &w->d->frames[w->d->stacks[s->parent].frame];

    *whole_class = false;
    if (!s->parent || f->kind != SEEP_FRAME_PYTHON || caller->kind != SEEP_FRAME_PYTHON ||
        seep_origin_of(&w->origins, caller) != SEEP_ORIGIN_LIBRARY)
        return SEEP_PART_OTHER;
    uint64_t *rules = &w->calls[caller->source];
    if (*rules == ~UINT64_C(0))
        *rules = seep_part_rules_of_caller(w->rules, seep_dictionary_text(w->d, caller->source));
    if (!*rules)
        return SEEP_PART_OTHER;
    struct seep_rule_frame asked = rule_frame(w, f, seep_origin_of(&w->origins, f));
    return seep_part_of_callee(w->rules, *rules, &asked, whole_class);
}

static void note_class(struct sweep *w, const struct seep_dict_frame *f, enum seep_part part)
{
    const char *name = seep_dictionary_text(w->d, f->qualname);
    const char *dot = strrchr(name, '.');
    size_t n = dot ? (size_t)(dot + 1 - name) : 0;

    if (!n || w->n_classes == MAX_CLASSES)
        return;
    for (size_t i = 0; i < w->n_classes; i++) {
        if (w->classes[i].file == f->source && w->classes[i].n == n &&
            memcmp(w->classes[i].name, name, n) == 0)
            return;
    }
    w->classes[w->n_classes].file = f->source;
    w->classes[w->n_classes].name = name;
    w->classes[w->n_classes].n = n;
    w->classes[w->n_classes++].part = part;
}

static void find_classes(struct sweep *w)
{
    for (size_t i = 1; i < w->d->n_stacks; i++) {
        bool whole_class;
        enum seep_part part = part_as_callee(w, &w->d->stacks[i], &whole_class);
        if (part && whole_class)
            note_class(w, &w->d->frames[w->d->stacks[i].frame], part);
    }
}

static enum seep_part part_by_class(const struct sweep *w, const struct seep_dict_frame *f)
{
    const char *name = seep_dictionary_text(w->d, f->qualname);

    for (size_t i = 0; i < w->n_classes; i++) {
        if (w->classes[i].file == f->source &&
            strncmp(w->classes[i].name, name, w->classes[i].n) == 0)
            return w->classes[i].part;
    }
    return SEEP_PART_OTHER;
}

/* Of the calls inlined at one address, the innermost that has a part decides. */
static enum seep_part part_of_native(const struct sweep *w, uint32_t frame, enum seep_origin origin)
{
    const struct seep_symbol *all;
    size_t n = origin == SEEP_ORIGIN_USER ? seep_symbols_get(w->symbols, frame, &all) : 0;
    enum seep_part part = SEEP_PART_OTHER;

    for (size_t i = 0; i < n && !part; i++) {
        struct seep_native_name name;
        seep_native_name_set(&name, &all[i]);
        struct seep_rule_frame asked = {name.file, name.function, name.qualname, true};
        part = seep_part_of_frame(w->rules, &asked);
    }
    return part;
}

static enum seep_part part_of(struct sweep *w, const struct seep_dict_stack *s,
                              enum seep_origin origin)
{
    const struct seep_dict_frame *f = &w->d->frames[s->frame];
    uint8_t *known = &w->frame_role[s->frame];
    bool whole_class;

    if (f->kind != SEEP_FRAME_PYTHON) {
        if (!*known)
            *known = (uint8_t)(1 + part_of_native(w, s->frame, origin));
        return (enum seep_part)(*known - 1);
    }
    enum seep_part part = part_as_callee(w, s, &whole_class);
    if (part)
        return part;
    if (!*known) {
        struct seep_rule_frame asked = rule_frame(w, f, origin);
        part = part_by_class(w, f);
        if (!part)
            part = seep_part_of_frame(w->rules, &asked);
        *known = (uint8_t)(1 + part);
    }
    return (enum seep_part)(*known - 1);
}

static void sweep_stack(struct sweep *w, struct seep_stack_lines *out, uint8_t *ranks, size_t i)
{
    const struct seep_dict_stack *s = &w->d->stacks[i];
    const struct seep_dict_frame *f = &w->d->frames[s->frame];
    enum seep_origin origin = seep_origin_of(&w->origins, f);
    int rank = rank_of(w, s->frame, origin);

    /* Parents are further out: at equal rank, this frame is the one to look at. */
    if (rank >= ranks[s->parent]) {
        out->shown[i] = s->frame;
        ranks[i] = (uint8_t)rank;
    } else {
        out->shown[i] = out->shown[s->parent];
        ranks[i] = ranks[s->parent];
    }
    out->is_own[i] = ranks[i] >= RANK_OWN;
    out->importing[i] = out->importing[s->parent] || origin == SEEP_ORIGIN_IMPORT;
    enum seep_part part = part_of(w, s, origin);
    out->parts[i] = (uint16_t)(out->parts[s->parent] | (part ? 1u << part : 0));
    out->part[i] = part ? (uint8_t)part : out->part[s->parent];
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Programs may be built from files of the same name in different folders. */
static bool same_file(const struct sweep *w, uint32_t frame, const char *file, uint32_t other,
                      const char *other_file)
{
    return same_text(file, other_file) &&
           (file[0] == '/' || w->d->frames[frame].source == w->d->frames[other].source);
}

/* Of libraries without lines all calls in one function are one line, and all functions without a
 * name: an address helps nobody. */
static bool is_without_lines(struct sweep *w, uint32_t frame, const struct seep_symbol *a)
{
    const struct seep_dict_frame *f = &w->d->frames[frame];

    return f->kind == SEEP_FRAME_NATIVE && !f->pseudo && f->source && (!a || !a->line) &&
           seep_origin_of(&w->origins, f) == SEEP_ORIGIN_LIBRARY;
}

static const struct seep_symbol *symbol_of(const struct sweep *w, uint32_t frame)
{
    return w->d->frames[frame].kind == SEEP_FRAME_NATIVE
               ? seep_function_kinds_symbol(w->kinds, w->symbols, frame)
               : NULL;
}

/* What two frames of one line have in common; 0: the frame is a line of its own. */
static uint64_t line_hash(struct sweep *w, uint32_t frame)
{
    const struct seep_symbol *a = symbol_of(w, frame);

    if (is_without_lines(w, frame, a))
        return seep_hash_two(w->d->frames[frame].source,
                             a && a->function ? seep_hash_bytes(a->function, strlen(a->function))
                                              : 1);
    return a && a->file && a->line
               ? seep_hash_two(seep_hash_bytes(a->file, strlen(a->file)), a->line)
               : 0;
}

static bool same_line(struct sweep *w, uint32_t frame, uint32_t other)
{
    static const struct seep_symbol nothing;
    const struct seep_symbol *a = symbol_of(w, frame), *b = symbol_of(w, other);
    const bool bare = is_without_lines(w, frame, a);

    if (bare != is_without_lines(w, other, b))
        return false;
    a = a ? a : &nothing;
    b = b ? b : &nothing;
    if (bare)
        return w->d->frames[frame].source == w->d->frames[other].source &&
               same_text(a->function, b->function);
    return a->line == b->line && same_file(w, frame, a->file, other, b->file) &&
           same_text(a->function, b->function);
}

/* Which frames whole stacks are shown by. Names of others may not have been asked for. */
static bool *find_asked(const struct seep_dictionary *d, const struct seep_stack_lines *lines)
{
    bool *asked = calloc(d->n_frames, 1), *has_callee = calloc(d->n_stacks, 1);

    for (size_t i = 1; i < d->n_stacks && has_callee; i++)
        has_callee[d->stacks[i].parent] = true;
    for (size_t i = 1; i < d->n_stacks && has_callee && asked; i++)
        asked[lines->shown[i]] |= !has_callee[i];
    if (!has_callee) {
        free(asked);
        asked = NULL;
    }
    free(has_callee);
    return asked;
}

static bool may_be_joined(const struct sweep *w, const bool *asked, uint32_t frame)
{
    const struct seep_symbol *a = symbol_of(w, frame);

    return asked[frame] || (a && (a->function || a->line));
}

/* A line of native code has an address for each call on it, and for each copy that the compiler
 * made: the first address stands for all. */
static int join_lines(struct sweep *w, struct seep_stack_lines *out)
{
    struct seep_hash_index index = {0};
    bool *asked = find_asked(w->d, out);
    int rc = asked ? 0 : -SEEP_ENOMEM;

    for (uint32_t i = 1; i < w->d->n_frames && !rc; i++) {
        const uint64_t hash = may_be_joined(w, asked, i) ? line_hash(w, i) : 0;
        uint32_t at, k;
        out->line_of[i] = i;
        if (!hash)
            continue;
        at = seep_hash_begin(&index, hash);
        while ((k = seep_hash_next(&index, hash, &at)) != SEEP_HASH_NONE && !same_line(w, i, k))
            ;
        if (k == SEEP_HASH_NONE)
            rc = seep_hash_add(&index, hash, i);
        else
            out->line_of[i] = k;
    }
    for (size_t i = 1; i < w->d->n_stacks && !rc; i++)
        out->shown[i] = out->line_of[out->shown[i]];
    seep_hash_fini(&index);
    free(asked);
    return rc;
}

int seep_stack_lines_init(struct seep_stack_lines *out, const struct seep_dictionary *d,
                          const struct seep_part_rules *rules,
                          const struct seep_function_kinds *kinds,
                          const struct seep_symbols *symbols)
{
    struct sweep w = {.d = d, .rules = rules, .kinds = kinds, .symbols = symbols};
    uint8_t *ranks = calloc(d->n_stacks, 1);
    int rc = seep_origins_init(&w.origins, d);

    *out = (struct seep_stack_lines){.n_stacks = d->n_stacks, .kinds = kinds};
    out->shown = calloc(d->n_stacks, sizeof *out->shown);
    out->is_own = calloc(d->n_stacks, sizeof *out->is_own);
    out->importing = calloc(d->n_stacks, sizeof *out->importing);
    out->part = calloc(d->n_stacks, sizeof *out->part);
    out->parts = calloc(d->n_stacks, sizeof *out->parts);
    out->line_of = calloc(d->n_frames, sizeof *out->line_of);
    w.frame_role = calloc(d->n_frames, 1);
    w.calls = malloc(d->n_strings * sizeof *w.calls);
    if (!out->shown || !out->is_own || !out->importing || !out->part || !out->parts ||
        !out->line_of || !w.frame_role || !w.calls || !ranks)
        rc = -SEEP_ENOMEM;
    if (!rc) {
        memset(w.calls, 0xff, d->n_strings * sizeof *w.calls);
        find_classes(&w);
        for (size_t i = 1; i < d->n_stacks; i++)
            sweep_stack(&w, out, ranks, i);
        for (size_t i = 0; i < d->n_stacks; i++) {
            if (out->part[i] == SEEP_PART_OTHER && !out->is_own[i])
                out->part[i] = SEEP_PART_LIBRARY;
        }
        rc = join_lines(&w, out);
    }
    seep_origins_fini(&w.origins);
    free(w.frame_role);
    free(w.calls);
    free(ranks);
    if (rc)
        seep_stack_lines_fini(out);
    return rc;
}

void seep_stack_lines_judged(struct seep_stack_lines *f)
{
    free(f->parts);
    f->parts = NULL;
}

void seep_stack_lines_fini(struct seep_stack_lines *f)
{
    seep_stack_lines_judged(f);
    free(f->shown);
    free(f->is_own);
    free(f->importing);
    free(f->part);
    free(f->line_of);
    *f = (struct seep_stack_lines){0};
}
