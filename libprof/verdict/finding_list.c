#include "libprof/verdict/finding_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/text.h"
#include "libprof/measure/resident/memory_limit.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/finding.h"
#include "libprof/verdict/prospect.h"
#include "libprof/words/space.h"
#include "libprof/words/step_words.h"

/* ---- one graph, or one holder: one finding -------------------------------------------------- */

static bool same_processes(const struct seep_finding *a, const struct seep_finding *b)
{
    return a->n_processes == b->n_processes &&
           memcmp(a->processes, b->processes, a->n_processes * sizeof *a->processes) == 0;
}

/* Blocks per step; what a graph holds of one step comes in whole numbers. */
static double pace(const struct seep_finding *f)
{
    return f->live_bytes ? f->growth.value * (double)f->count / (double)f->live_bytes : 0;
}

static bool is_on_device(const struct seep_model *m, const struct seep_finding *f)
{
    const enum seep_space_class class = m->spaces[f->space].name.class;

    return class == SEEP_CLASS_DEVICE || class == SEEP_CLASS_TENSOR;
}

/* Segments belong to the tensor allocator: the tensors say what is kept in them. */
static bool is_kept_on_device(const struct seep_model *m, const struct seep_finding *f)
{
    uint16_t tensors;

    return is_on_device(m, f) && (m->spaces[f->space].name.class == SEEP_CLASS_TENSOR ||
                                  !seep_model_tensor_space(m, f->space, &tensors));
}

/* All host memory counts as one, each device's as another. */
static bool same_memory(const struct seep_model *m, const struct seep_finding *a,
                        const struct seep_finding *b)
{
    return is_on_device(m, a) ? a->space == b->space : !is_on_device(m, b);
}

/* What saved tensors of a graph look like: growth on a line of the same function, by whole blocks a
 * step. */
static bool is_saved_by(const struct seep_model *m, const struct seep_finding *graph,
                        const struct seep_finding *f)
{
    const double blocks = pace(f), whole = floor(blocks + 0.5);

    return f->severity == graph->severity && f->pattern == SEEP_PATTERN_UNBOUNDED_GROWTH &&
           seep_finding_same_function(m, graph->frame, f->frame) &&
           fabs(blocks - whole) < SEEP_T_SAME_SIZE && whole >= 1;
}

/* A full pool keeps equally many graphs on every line; on some lines that is little. */
static bool same_full_pool(const struct seep_finding *a, const struct seep_finding *b)
{
    return a->pattern == SEEP_PATTERN_GRAPH_RETENTION && b->pattern == a->pattern &&
           a->plateau_step && b->plateau_step;
}

static bool is_of_graph(const struct seep_model *m, const struct seep_finding *graph,
                        const struct seep_finding *f)
{
    if (graph->pattern != SEEP_PATTERN_GRAPH_RETENTION || !same_memory(m, graph, f) ||
        !same_processes(graph, f))
        return false;
    return is_saved_by(m, graph, f) ||
           (f->pattern == SEEP_PATTERN_GRAPH_RETENTION &&
            (f->severity == graph->severity || same_full_pool(f, graph)));
}

/* Nodes of a graph lie on the host, even if its tensors lie on a device. There, what may yet end by
 * itself does not: the nodes that stay say so. */
static bool has_nodes_on_host(const struct seep_model *m, const struct seep_finding *graph,
                              const struct seep_finding *f)
{
    if (!is_kept_on_device(m, f) || graph->pattern != SEEP_PATTERN_GRAPH_RETENTION ||
        is_on_device(m, graph) || !seep_finding_is_among(f, graph))
        return false;
    return is_saved_by(m, graph, f) ||
           (graph->severity == SEEP_LEAK && f->pattern == SEEP_PATTERN_UNDETERMINED &&
            seep_finding_same_function(m, graph->frame, f->frame));
}

/* Takes back what was open. */
static void close(struct seep_finding *f)
{
    size_t kept = 0;

    for (size_t i = 0; i < f->n_evidence; i++) {
        if (seep_prospect_is_open_text(f->evidence[i]))
            free(f->evidence[i]);
        else
            f->evidence[kept++] = f->evidence[i];
    }
    f->n_evidence = kept;
}

static int call_graph(const struct seep_model *m, struct seep_finding *graph,
                      struct seep_finding *f)
{
    (void)m;
    close(f);
    seep_finding_verdict(f, SEEP_PATTERN_GRAPH_RETENTION, graph->severity, SEEP_LIKELY);
    f->saving_bytes = f->live_bytes;
    seep_finding_note(f, "Autograd graph nodes from this function pile up in host memory, "
                         "and with them whole blocks a step on the GPU");
    return 0;
}

/* The table of the container whose small objects are a finding: it grows with them, in stairs. */
static bool is_table_of(const struct seep_model *m, const struct seep_finding *small,
                        const struct seep_finding *f)
{
    return small->is_small_objects && same_memory(m, small, f) &&
           (f->pattern == SEEP_PATTERN_UNDETERMINED || f->pattern == small->pattern);
}

/* What one container keeps from several lines; and arenas, whichever line asked for them. */
static bool same_holder(const struct seep_model *m, const struct seep_finding *larger,
                        const struct seep_finding *f)
{
    if (larger->of_arenas || f->of_arenas)
        return larger->of_arenas && f->of_arenas && same_processes(larger, f);
    if (!larger->keeper || !f->keeper || strcmp(larger->keeper, f->keeper) != 0 ||
        !same_processes(larger, f))
        return false;
    return is_table_of(m, larger, f) ||
           (larger->pattern == f->pattern && larger->severity == f->severity &&
            larger->space == f->space);
}

/* A graph that is kept shows on every line that contributed to it, and one container keeps what
 * several lines allocated: the line with most is the finding, the others are its evidence. */
static bool is_kept_with(const struct seep_model *m, const struct seep_finding *larger,
                         const struct seep_finding *f)
{
    return is_of_graph(m, larger, f) || same_holder(m, larger, f);
}

static int add_sites(struct seep_finding *to, const struct seep_finding *from)
{
    uint32_t *sites = reallocarray(to->sites, to->n_sites + from->n_sites, sizeof *sites);

    if (!sites)
        return -SEEP_ENOMEM;
    to->sites = sites;
    memcpy(sites + to->n_sites, from->sites, from->n_sites * sizeof *sites);
    to->n_sites += from->n_sites;
    return 0;
}

/* What of the sum is the other line's. Leaves room for later evidence. */
static void note_absorbed(const struct seep_model *m, const struct seep_finding *f,
                          struct seep_finding *graph)
{
    const struct seep_dict_frame *at = &m->dict.frames[f->frame];
    const char *what = graph->pattern == SEEP_PATTERN_GRAPH_RETENTION ? "graph" : "holder";
    const char *source = seep_dictionary_text(&m->dict, at->source);
    const char *unit = seep_step_unit(m->step_source == SEEP_STEP_TIME);
    const bool has_line = at->kind == SEEP_FRAME_PYTHON && !f->of_arenas;
    const bool grows = f->growth.value > 0 && graph->growth.value > 0;
    char each[SEEP_SIZE_TEXT];

    seep_text_size(f->growth.value, each);
    if (graph->n_evidence + 2 >= SEEP_MAX_EVIDENCE)
        return;
    if (has_line && grows)
        seep_finding_note(graph, "The same %s keeps what %s:%llu allocates, %s more each %s", what,
                          source, (unsigned long long)at->where, each, unit);
    else if (has_line)
        seep_finding_note(graph, "The same %s keeps what %s:%llu allocates", what, source,
                          (unsigned long long)at->where);
    else if (f->of_arenas && grows)
        seep_finding_note(graph,
                          "The same %s keeps small Python objects in arenas, %s more each %s", what,
                          each, unit);
}

static int absorb(const struct seep_model *m, struct seep_finding *graph, struct seep_finding *f)
{
    if (add_sites(graph, f))
        return -SEEP_ENOMEM;
    note_absorbed(m, f, graph);
    graph->live_bytes += f->live_bytes;
    graph->count += f->count;
    graph->saving_bytes += f->saving_bytes;
    graph->peak_bytes += f->peak_bytes;
    graph->growth.value += f->growth.value;
    graph->growth.low += f->growth.low;
    graph->growth.high += f->growth.high;
    seep_finding_renew_pace(graph, seep_step_unit(m->step_source == SEEP_STEP_TIME));
    return 0;
}

/* Whether a finding on a device and one on the host have one cause: a graph and its tensors, or
 * tensors and the objects that stand for them, of one line. */
static bool is_one_matter(const struct seep_model *m, const struct seep_finding *a,
                          const struct seep_finding *b)
{
    const struct seep_finding *there = is_on_device(m, a) ? a : b, *here = there == a ? b : a;

    if (!is_kept_on_device(m, there) || is_on_device(m, here) || a->pattern != b->pattern ||
        !seep_finding_is_among(there, here))
        return false;
    if (!same_full_pool(a, b) && (a->severity != b->severity || a->severity != SEEP_LEAK))
        return false;
    return a->pattern == SEEP_PATTERN_GRAPH_RETENTION ||
           (a->pattern == SEEP_PATTERN_UNBOUNDED_GROWTH && a->frame == b->frame);
}

static void swap(struct seep_finding *a, struct seep_finding *b)
{
    const struct seep_finding c = *a;

    *a = *b;
    *b = c;
}

static bool is_more(const struct seep_finding *a, const struct seep_finding *b)
{
    return same_full_pool(a, b) ? a->severity < b->severity ||
                                      (a->severity == b->severity && a->live_bytes > b->live_bytes)
                                : a->growth.value > b->growth.value;
}

/* The finding that grows more stays; of two that are full, the more severe or larger one. Bytes of
 * two memories are not added up. */
static int note_other_memory(const struct seep_model *m, struct seep_finding *larger,
                             struct seep_finding *f)
{
    char size[SEEP_SIZE_TEXT], space[SEEP_SPACE_WORDS];

    if (is_more(f, larger))
        swap(larger, f);
    if (add_sites(larger, f))
        return -SEEP_ENOMEM;
    seep_finding_note(larger, "It also keeps %s of %s", seep_text_size((double)f->live_bytes, size),
                      seep_space_words(m->spaces[f->space].name.text, space));
    return 0;
}

/* ---- what another finding explains better --------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
    const uint32_t *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

/* Whether a finding's sites are all among those of another, whose sites are sorted by id. */
static bool is_within(const struct seep_finding *one, const struct seep_finding *other)
{
    size_t k = 0;

    while (k < one->n_sites &&
           bsearch(&one->sites[k], other->sites, other->n_sites, sizeof *other->sites, by_id))
        k++;
    return k == one->n_sites;
}

/* If an allocator's cache takes up a device's memory, a line that only asks the driver for its
 * segments is not to blame for how much it asks for. */
static bool is_of_cache(const struct seep_model *m, const struct seep_finding *cache,
                        const struct seep_finding *one)
{
    return cache->pattern == SEEP_PATTERN_ALLOCATOR_CACHE && cache->space == one->space &&
           m->spaces[one->space].name.class == SEEP_CLASS_DEVICE &&
           one->pattern != SEEP_PATTERN_ALLOCATOR_CACHE &&
           one->pattern != SEEP_PATTERN_WRONG_DEVICE && is_within(one, cache);
}

/* Arenas are not items: the finding on objects that forked workers copy says what they cost. */
static bool is_of_copied(const struct seep_model *m, const struct seep_finding *copied,
                         const struct seep_finding *one)
{
    (void)m;
    return copied->pattern == SEEP_PATTERN_COW_GROWTH &&
           one->pattern == SEEP_PATTERN_EAGER_RETENTION && is_within(one, copied);
}

/* Small findings beside a large one of the same function and pattern have the same cause; so has
 * small growth that may yet end beside a leak. */
static bool is_little_beside(const struct seep_model *m, const struct seep_finding *large,
                             const struct seep_finding *small)
{
    return (large->pattern == small->pattern ||
            (large->severity == SEEP_LEAK && small->pattern == SEEP_PATTERN_UNDETERMINED)) &&
           seep_finding_same_function(m, large->frame, small->frame) &&
           small->live_bytes < large->live_bytes / SEEP_T_NEGLIGIBLE;
}

/* ---- their order ---------------------------------------------------------------------------- */

/* Graphs first, then what grows most. */
static int by_growth(const void *a, const void *b)
{
    const struct seep_finding *p = a, *q = b;
    bool graph_p = p->pattern == SEEP_PATTERN_GRAPH_RETENTION;
    bool graph_q = q->pattern == SEEP_PATTERN_GRAPH_RETENTION;

    if (graph_p != graph_q)
        return graph_p ? -1 : 1;
    if (p->is_small_objects != q->is_small_objects)
        return p->is_small_objects ? -1 : 1;
    if (p->growth.value > q->growth.value || p->growth.value < q->growth.value)
        return p->growth.value > q->growth.value ? -1 : 1;
    if (graph_p && !p->plateau_step != !q->plateau_step)
        return p->plateau_step ? 1 : -1;
    if (p->live_bytes != q->live_bytes && same_full_pool(p, q))
        return p->live_bytes > q->live_bytes ? -1 : 1;
    return (p->frame > q->frame) - (p->frame < q->frame);
}

static int sort_by_growth(const struct seep_code *code, struct seep_findings *f)
{
    (void)code;
    if (f->n)
        qsort(f->list, f->n, sizeof *f->list, by_growth);
    return 0;
}

/* Where no limit is known, bytes are compared. */
static double limit_of(const struct seep_model *m, const struct seep_finding *f)
{
    const char *kind;
    const uint64_t own = seep_memory_limit_of_space(m, f->space, 0).bytes;
    const uint64_t limit = own ? own : seep_memory_limit_of(m, &kind);

    return limit ? (double)limit : 1;
}

static double weight_of(const struct seep_model *m, const struct seep_finding *f)
{
    const double keeps = (double)(f->saving_bytes ? f->saving_bytes : f->live_bytes);
    const double adds = fmax(f->growth.value, 0) * m->n_steps;
    const double accused =
        f->severity == SEEP_LEAK || f->severity == SEEP_RETENTION ? SEEP_T_LARGE_SHARE : 1;

    return accused * (keeps + adds) / limit_of(m, f);
}

static int by_weight(const void *a, const void *b, void *model)
{
    const struct seep_finding *p = a, *q = b;
    const double of_p = weight_of(model, p), of_q = weight_of(model, q);

    if ((p->severity == SEEP_INFO) != (q->severity == SEEP_INFO))
        return p->severity == SEEP_INFO ? 1 : -1;
    if (of_p > of_q || of_p < of_q)
        return of_p > of_q ? -1 : 1;
    if (p->severity != q->severity)
        return p->severity < q->severity ? -1 : 1;
    return (p->frame > q->frame) - (p->frame < q->frame);
}

static int sort_by_weight(const struct seep_code *code, struct seep_findings *f)
{
    if (f->n)
        qsort_r(f->list, f->n, sizeof *f->list, by_weight, (void *)code->model);
    return 0;
}

static int cut(const struct seep_code *code, struct seep_findings *f)
{
    (void)code;
    while (f->n > SEEP_MAX_FINDINGS) {
        struct seep_finding *last = &f->list[--f->n];
        f->left_out[last->severity]++;
        seep_finding_fini(last);
    }
    return 0;
}

/* ---- the table ------------------------------------------------------------------------------ */

/* In the list; before it; before it, and not to be cut. */
enum others { ALL, EARLIER, SHOWN };

/* What is done, in this order: something to the whole list, or to each finding with the first of
 * the others that it has a relation to. Then the finding is dropped, unless it stays. */
static const struct step {
    int (*all)(const struct seep_code *, struct seep_findings *);

    bool (*relation)(const struct seep_model *, const struct seep_finding *other,
                     const struct seep_finding *f);
    enum others others;
    int (*then)(const struct seep_model *, struct seep_finding *other, struct seep_finding *f);
    bool stays;
} steps[] = {
    {.relation = has_nodes_on_host, .others = ALL, .then = call_graph, .stays = true},
    {.all = sort_by_growth},
    {.relation = is_kept_with, .others = EARLIER, .then = absorb},
    {.relation = is_one_matter, .others = EARLIER, .then = note_other_memory},
    {.all = sort_by_weight},
    {.relation = is_of_cache, .others = ALL},
    {.relation = is_of_copied, .others = ALL},
    {.all = seep_segments_join},
    {.relation = is_little_beside, .others = SHOWN},
    {.all = cut},
};

/* The first of the others that list[i] has the relation to; list[0, kept) stay. NULL: none. */
static struct seep_finding *find_other(const struct step *step, const struct seep_model *m,
                                       const struct seep_findings *f, size_t kept, size_t i)
{
    const size_t before =
        step->others == SHOWN && kept > SEEP_MAX_FINDINGS ? SEEP_MAX_FINDINGS : kept;

    for (size_t k = 0; k < before; k++) {
        if (step->relation(m, &f->list[k], &f->list[i]))
            return &f->list[k];
    }
    for (size_t k = i + 1; k < f->n && step->others == ALL; k++) {
        if (step->relation(m, &f->list[k], &f->list[i]))
            return &f->list[k];
    }
    return NULL;
}

static int relate(const struct step *step, const struct seep_model *m, struct seep_findings *f)
{
    size_t kept = 0;
    int rc = 0;

    for (size_t i = 0; i < f->n; i++) {
        struct seep_finding *its = &f->list[i];
        struct seep_finding *other = rc ? NULL : find_other(step, m, f, kept, i);
        if (other && step->then)
            rc = step->then(m, other, its);
        if (!other || step->stays || rc)
            f->list[kept++] = *its;
        else
            seep_finding_fini(its);
    }
    f->n = kept;
    return rc;
}

int seep_findings_relate(const struct seep_code *code, struct seep_findings *f)
{
    int rc = 0;

    for (size_t i = 0; i < sizeof steps / sizeof *steps && !rc; i++)
        rc = steps[i].all ? steps[i].all(code, f) : relate(&steps[i], code->model, f);
    return rc;
}
