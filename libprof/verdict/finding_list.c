#include "libprof/verdict/finding_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/text.h"
#include "libprof/code/packages/blame.h"
#include "libprof/measure/resident/memory_limit.h"
#include "libprof/model/live_level.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/finding.h"
#include "libprof/verdict/prospect.h"
#include "libprof/who/merge/hops.h"
#include "libprof/words/findings/finding_words.h"
#include "libprof/words/findings/holder_advice.h"
#include "libprof/words/limit_kind.h"
#include "libprof/words/space.h"
#include "libprof/words/step_words.h"

/* Memory that was allocated and never freed. */
static char *advise_to_free(const struct seep_blame *blame)
{
    if (!*blame->package)
        return strdup("Free what this line allocates when you are done with it: nothing points to "
                      "it any more, so no other code can.");
    if (blame->is_own)
        return seep_text_format("%s allocates it and nobody frees it. Free it there, or call the "
                                "function that frees it when you are done with it.",
                                blame->package);
    return seep_text_format(
        "%s leaks this memory. Upgrade %s, or report it to its developers with these calls%s%s. "
        "Until then make the call in a process that you restart now and then.",
        blame->package, blame->package, *blame->calls ? ": " : "", blame->calls);
}

/* An object whose reference count is too high: the code that allocated it need not be the code that
 * took the reference. */
static char *advise_to_give_back(const struct seep_blame *blame)
{
    const bool library = *blame->package && !blame->is_own;

    return seep_text_format(
        "An extension took a reference to what this line allocates and never gave it back "
        "(Py_INCREF without Py_DECREF). Find out which extension gets it%s%s. Upgrade that "
        "extension, or report the leak to its developers.",
        library ? ", starting with " : "", library ? blame->package : "");
}

static bool is_about_growth(enum seep_pattern pattern)
{
    return pattern == SEEP_PATTERN_UNBOUNDED_GROWTH || pattern == SEEP_PATTERN_SHM_GROWTH ||
           pattern == SEEP_PATTERN_UNDETERMINED;
}

static int advise_on_lost(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_kept_by *k = &c->signs->kept_by;
    struct seep_blame blame;

    if (!f->n_sites || !is_about_growth(f->pattern))
        return 0;
    if (seep_blame_find(c->code, c->m->sites[f->sites[0]].stack, &blame))
        return -SEEP_ENOMEM;
    if (f->pattern == SEEP_PATTERN_UNDETERMINED)
        seep_finding_note(f, "%s", seep_kept_by_nobody_text(k));
    const bool through = strcmp(blame.made_in, blame.package) != 0;
    if (*blame.calls)
        seep_finding_note(f, "Allocated in %s%s%s: %s", blame.made_in, through ? " for " : "",
                          through ? blame.package : "", blame.calls);
    f->advice =
        k->state == SEEP_HOLDERS_LOST ? advise_to_free(&blame) : advise_to_give_back(&blame);
    return f->advice ? 0 : -SEEP_ENOMEM;
}

/* ---- what somebody holds ------------------------------------------------------------------------
 */

/* The installed package in whose own data it is; "": in none's. Who shares it with a variable is
 * not told by the path: the package that the line calls, then. */
static int name_owner(const struct seep_case *c, const struct seep_finding *f,
                      char owner[SEEP_BLAME_NAME])
{
    const struct seep_kept_by *k = &c->signs->kept_by;
    struct seep_blame blame = {0};

    owner[0] = '\0';
    if (!f->n_sites || (!*k->library && !k->is_shared))
        return 0;
    if (seep_blame_find(c->code, c->m->sites[f->sites[0]].stack, &blame))
        return -SEEP_ENOMEM;
    if (*k->library && seep_blame_is_library(k->library))
        seep_package_name(c->m, k->library, owner);
    else if (!*k->library && !blame.is_own)
        memcpy(owner, blame.package, SEEP_BLAME_NAME);
    return 0;
}

int seep_holder_advise(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_kept_by *k = &c->signs->kept_by;
    const bool cured_there =
        f->pattern == SEEP_PATTERN_UNBOUNDED_GROWTH || f->pattern == SEEP_PATTERN_UNDETERMINED ||
        f->pattern == SEEP_PATTERN_FIRST_TOUCH_CACHE || f->pattern == SEEP_PATTERN_GRAPH_RETENTION;
    const char *usual = cured_there && k->way
                            ? seep_holder_advice(k->way, seep_hops_have_type, seep_hops_have_name)
                            : NULL;
    char owner[SEEP_BLAME_NAME];

    if (seep_kept_by_nobody(k))
        return advise_on_lost(c, f);
    if (f->keeper || (!k->known && !k->is_shared))
        return 0;
    if (name_owner(c, f, owner))
        return -SEEP_ENOMEM;
    const char *name = *owner ? owner : k->name;
    if (*name && !(f->keeper = strdup(name)))
        return -SEEP_ENOMEM;
    if (usual)
        f->advice = strdup(usual);
    else if (f->pattern == SEEP_PATTERN_UNBOUNDED_GROWTH && *owner)
        f->advice = seep_text_format(
            "%s keeps it in data of its own, not in a variable of yours. Close or delete what this "
            "line opens or makes, or empty the library's cache. If there is nothing to close, "
            "upgrade %s, or report the growth to its developers.",
            owner, owner);
    else if (f->pattern == SEEP_PATTERN_UNBOUNDED_GROWTH && *name)
        f->advice =
            seep_text_format("Bound %s, which holds it, or remove what you no longer need.", name);
    else if (f->pattern == SEEP_PATTERN_UNDETERMINED && *name && !*owner && !f->advice)
        f->advice =
            seep_text_format("Bound %s, which holds it, if nothing ever empties it. In doubt run "
                             "longer, past one full epoch: a cache levels off, a leak does not.",
                             name);
    else
        return 0;
    return f->advice ? 0 : -SEEP_ENOMEM;
}

bool seep_finding_is_on_host(const struct seep_model *m, const struct seep_finding *f)
{
    const struct seep_space_name *space = &m->spaces[f->space].name;

    return space->host_like || space->class == SEEP_CLASS_SHM;
}

/* The limit that the growth reaches first; bytes 0: none is known. */
static struct seep_limit nearest_of(const struct seep_model *m, const struct seep_finding *f)
{
    return seep_finding_is_on_host(m, f)
               ? seep_memory_limit_nearest(m, f->growth.value, f->processes, f->n_processes)
               : seep_memory_limit_of_space(m, f->space, f->growth.value);
}

/* What seep takes itself, above a fiftieth of what the job does. */
static bool is_notable(const struct seep_limit *limit)
{
    enum { PARTS = 50 };
    return limit->own * PARTS >= limit->used && limit->own;
}

/* Where all of the job's memory grows faster than what the finding accounts for, it reaches the
 * limit. */
static void note_pace(const struct seep_model *m, const struct seep_resident_trend *resident,
                      struct seep_limit *limit, struct seep_finding *f)
{
    const double most = f->growth.value * (1 + 1.0 / SEEP_T_LARGE_SHARE);
    char each[SEEP_SIZE_TEXT];

    if (!seep_finding_is_on_host(m, f) || !resident->grows || resident->slope.value <= most)
        return;
    limit->growth = resident->slope.value;
    seep_finding_note(
        f, "All that is resident of the job grows by %s a %s: at that pace it reaches the limit",
        seep_text_size(resident->slope.value, each),
        seep_step_unit(m->step_source == SEEP_STEP_TIME));
}

void seep_finding_set_limit(const struct seep_model *m, const struct seep_resident_trend *resident,
                            struct seep_finding *f)
{
    char size[SEEP_SIZE_TEXT], used[SEEP_SIZE_TEXT], own[SEEP_SIZE_TEXT];
    const char *kind;

    f->steps_to_limit = -1;
    f->limit_bytes = seep_finding_is_on_host(m, f)
                         ? seep_memory_limit_of(m, &kind)
                         : seep_memory_limit_of_space(m, f->space, 0).bytes;
    if (f->growth.value <= 0 || f->returns)
        return;
    struct seep_limit nearest = nearest_of(m, f);
    if (!nearest.bytes)
        return;
    note_pace(m, resident, &nearest, f);
    f->limit_bytes = nearest.bytes;
    f->steps_to_limit = seep_memory_limit_steps(&nearest);
    seep_text_size((double)nearest.used, used);
    seep_text_size((double)nearest.bytes, size);
    if (is_notable(&nearest))
        seep_finding_note(f, "%s of %s %s in use, and %s by seep, which is not counted here", used,
                          size, seep_limit_words(nearest.kind),
                          seep_text_size((double)nearest.own, own));
    else
        seep_finding_note(f, SEEP_LINE_LIMIT_TEXT, used, size, seep_limit_words(nearest.kind));
}

/* `times`: how much was requested, as a share of what is resident. */
static void note_requested(const struct seep_model *m, double times, struct seep_finding *f)
{
    char all[SEEP_SIZE_TEXT], each[SEEP_SIZE_TEXT];

    seep_finding_note(f, times < 1
                             ? "Sizes are those of malloc's chunks, with headers and rounding"
                             : "Of large blocks only those pages count that the job has touched");
    seep_text_size(times * (double)f->live_bytes, all);
    if (f->growth.value > 0)
        seep_finding_note(f, "Requested: %s, %s more each %s", all,
                          seep_text_size(times * f->growth.value, each),
                          seep_step_unit(m->step_source == SEEP_STEP_TIME));
    else
        seep_finding_note(f, "Requested: %s", all);
}

int seep_finding_set_peak(const struct seep_model *m, struct seep_finding *f)
{
    struct seep_level level = {0};
    int rc = seep_level_sum(m, f->sites, f->n_sites, SEEP_LEVEL_ALL, &level);
    const double requested = (double)seep_level_highest(&level).bytes;

    if (!rc)
        rc = seep_level_resident(m, f->sites, f->n_sites, SEEP_LEVEL_ALL, &level);
    const double resident = (double)seep_level_highest(&level).bytes;
    seep_level_fini(&level);
    f->peak_bytes = (uint64_t)resident > f->live_bytes ? (uint64_t)resident : f->live_bytes;
    if (fmax(requested, resident) >= (1 + 1.0 / SEEP_T_LARGE_SHARE) * fmin(requested, resident) &&
        f->live_bytes >= SEEP_T_PEAK_BYTES)
        note_requested(m, requested / resident, f);
    return rc;
}

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
        seep_finding_note(its, "Autograd graph nodes from this function pile up in host memory, "
                               "and with them whole blocks a step on the GPU");
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
            seep_finding_note(larger, "It also keeps %s of %s",
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
