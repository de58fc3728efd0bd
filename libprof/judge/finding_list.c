#include "libprof/judge/finding_list.h"

#include "libprof/base/text.h"
#include "libprof/patterns/finding_order.h"
#include "libprof/signs/prospect.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/words/findings/line_words.h"
#include "libprof/words/space.h"
#include "libprof/words/step_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one graph, one finding ------------------------------------------------------------------ */

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
static bool are_of_full_pool(const struct seep_finding *a, const struct seep_finding *b)
{
    return a->pattern == SEEP_PATTERN_GRAPH_RETENTION && b->pattern == a->pattern &&
           a->plateau_step && b->plateau_step;
}

static bool is_of_graph(const struct seep_model *m, const struct seep_finding *graph,
                        const struct seep_finding *f)
{
    if (!same_memory(m, graph, f) || !same_processes(graph, f))
        return false;
    return is_saved_by(m, graph, f) ||
           (f->pattern == SEEP_PATTERN_GRAPH_RETENTION &&
            (f->severity == graph->severity || are_of_full_pool(f, graph)));
}

/* On a device, what may yet end by itself does not: the nodes that stay say so. */
static bool is_kept_by_nodes(const struct seep_model *m, const struct seep_finding *graph,
                             const struct seep_finding *f)
{
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

/* Nodes of a graph lie on the host, even if its tensors lie on a device. */
static void find_graphs_on_devices(const struct seep_model *m, struct seep_findings *f)
{
    for (size_t i = 0; i < f->n; i++) {
        struct seep_finding *its = &f->list[i], *graph = NULL;
        for (size_t k = 0; k < f->n && is_kept_on_device(m, its) && !graph; k++) {
            if (f->list[k].pattern == SEEP_PATTERN_GRAPH_RETENTION &&
                !is_on_device(m, &f->list[k]) && seep_finding_is_among(its, &f->list[k]) &&
                is_kept_by_nodes(m, &f->list[k], its))
                graph = &f->list[k];
        }
        if (!graph)
            continue;
        close(its);
        seep_finding_verdict(its, SEEP_PATTERN_GRAPH_RETENTION, graph->severity, SEEP_LIKELY);
        its->saving_bytes = its->live_bytes;
        seep_finding_note(its, SEEP_LINE_NODES_ON_HOST_TEXT);
    }
}

/* The table of the container whose small objects are a finding: it grows with them, in stairs. */
static bool is_table_of(const struct seep_model *m, const struct seep_finding *small,
                        const struct seep_finding *f)
{
    return small->is_small_objects && same_memory(m, small, f) &&
           (f->pattern == SEEP_PATTERN_UNDETERMINED || f->pattern == small->pattern);
}

/* What one container keeps from several lines; and arenas, whichever line asked for them. */
static bool is_of_keeper(const struct seep_model *m, const struct seep_finding *larger,
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
        seep_finding_note(graph, SEEP_LINE_SAME_KEEPS_MORE_TEXT, what, source,
                          (unsigned long long)at->where, each, unit);
    else if (has_line)
        seep_finding_note(graph, SEEP_LINE_SAME_KEEPS_TEXT, what, source,
                          (unsigned long long)at->where);
    else if (f->of_arenas && grows)
        seep_finding_note(graph, SEEP_LINE_SAME_ARENAS_TEXT, what, each, unit);
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
    seep_finding_fini(f);
    return 0;
}

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
    if (p->live_bytes != q->live_bytes && are_of_full_pool(p, q))
        return p->live_bytes > q->live_bytes ? -1 : 1;
    return (p->frame > q->frame) - (p->frame < q->frame);
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
    if (!are_of_full_pool(a, b) && (a->severity != b->severity || a->severity != SEEP_LEAK))
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
    return are_of_full_pool(a, b) ? a->severity < b->severity || (a->severity == b->severity &&
                                                                  a->live_bytes > b->live_bytes)
                                  : a->growth.value > b->growth.value;
}

/* The finding that grows more stays; of two that are full, the more severe or larger one. Bytes of
 * two memories are not added up. */
static int join_host_and_device(const struct seep_model *m, struct seep_findings *f)
{
    char size[SEEP_SIZE_TEXT], space[SEEP_SPACE_WORDS];
    size_t kept = 0;
    int rc = 0;

    for (size_t i = 0; i < f->n; i++) {
        struct seep_finding *larger = NULL, *its = &f->list[i];
        for (size_t k = 0; k < kept && !larger && !rc; k++)
            larger = is_one_matter(m, &f->list[k], its) ? &f->list[k] : NULL;
        if (larger && is_more(its, larger))
            swap(larger, its);
        if (larger && !rc)
            rc = add_sites(larger, its);
        if (larger && !rc) {
            seep_finding_note(larger, SEEP_LINE_KEEPS_AS_WELL_TEXT,
                              seep_text_size((double)its->live_bytes, size),
                              seep_space_words(m->spaces[its->space].name.text, space));
            seep_finding_fini(its);
        } else {
            f->list[kept++] = *its;
        }
    }
    f->n = kept;
    return rc;
}

/* A graph that is kept shows on every line that contributed to it, and one container keeps what
 * several lines allocated: the line with most is the finding, the others are its evidence. */
static int join_lines(const struct seep_model *m, struct seep_findings *f)
{
    size_t kept = 0;
    int rc = 0;

    for (size_t i = 0; i < f->n; i++) {
        struct seep_finding *graph = NULL;
        for (size_t k = 0; k < kept && !graph && !rc; k++) {
            struct seep_finding *larger = &f->list[k];
            if ((larger->pattern == SEEP_PATTERN_GRAPH_RETENTION &&
                 is_of_graph(m, larger, &f->list[i])) ||
                is_of_keeper(m, larger, &f->list[i]))
                graph = larger;
        }
        if (graph && !rc)
            rc = absorb(m, graph, &f->list[i]);
        else
            f->list[kept++] = f->list[i];
    }
    f->n = kept;
    return rc;
}

int seep_findings_join(const struct seep_model *m, struct seep_findings *f)
{
    int rc;

    find_graphs_on_devices(m, f);
    if (f->n)
        qsort(f->list, f->n, sizeof *f->list, by_growth);
    rc = join_lines(m, f);
    return rc ? rc : join_host_and_device(m, f);
}

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
static bool is_of_cache(const struct seep_model *m, const struct seep_finding *one,
                        const struct seep_finding *cache)
{
    return cache->pattern == SEEP_PATTERN_ALLOCATOR_CACHE && cache->space == one->space &&
           m->spaces[one->space].name.class == SEEP_CLASS_DEVICE &&
           one->pattern != SEEP_PATTERN_ALLOCATOR_CACHE &&
           one->pattern != SEEP_PATTERN_WRONG_DEVICE && is_within(one, cache);
}

/* Arenas are not items: the finding on objects that forked workers copy says what they cost. */
static bool is_of_copied(const struct seep_finding *one, const struct seep_finding *copied)
{
    return copied->pattern == SEEP_PATTERN_COW_GROWTH &&
           one->pattern == SEEP_PATTERN_EAGER_RETENTION && is_within(one, copied);
}

/* Whether another finding explains this one better. */
static bool is_explained(const struct seep_model *m, const struct seep_finding *one,
                         const struct seep_finding *others, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (is_of_cache(m, one, &others[i]) || is_of_copied(one, &others[i]))
            return true;
    }
    return false;
}

/* A finding that explains others is never explained itself: it is among the kept, or still to
 * come. */
static void drop_explained(const struct seep_model *m, struct seep_findings *f)
{
    size_t kept = 0;

    for (size_t i = 0; i < f->n; i++) {
        struct seep_finding *its = &f->list[i];
        if (is_explained(m, its, f->list, kept) || is_explained(m, its, its + 1, f->n - i - 1))
            seep_finding_fini(its);
        else
            f->list[kept++] = *its;
    }
    f->n = kept;
}

/* Small findings beside a large one of the same function and pattern have the same cause; so has
 * small growth that may yet end beside a leak. */
static bool is_of_same_cause(const struct seep_finding *large, const struct seep_finding *small)
{
    return large->pattern == small->pattern ||
           (large->severity == SEEP_LEAK && small->pattern == SEEP_PATTERN_UNDETERMINED);
}

void seep_findings_cut(const struct seep_model *m, struct seep_findings *f)
{
    size_t kept = 0;

    for (size_t i = 0; i < f->n; i++) {
        bool drop = false;
        for (size_t k = 0; k < kept && !drop; k++)
            drop = is_of_same_cause(&f->list[k], &f->list[i]) &&
                   seep_finding_same_function(m, f->list[k].frame, f->list[i].frame) &&
                   f->list[i].live_bytes < f->list[k].live_bytes / SEEP_T_NEGLIGIBLE;
        if (!drop && kept >= SEEP_MAX_FINDINGS)
            f->left_out[f->list[i].severity]++;
        if (drop || kept >= SEEP_MAX_FINDINGS)
            seep_finding_fini(&f->list[i]);
        else
            f->list[kept++] = f->list[i];
    }
    f->n = kept;
}

void seep_findings_sort(const struct seep_model *m, struct seep_findings *f)
{
    seep_findings_order(m, f);
    drop_explained(m, f);
}
