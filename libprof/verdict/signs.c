#include "libprof/verdict/case.h"

#include <stdlib.h>
#include <string.h>

#include "libprof/code/function_kinds.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/graph_nodes.h"
#include "libprof/verdict/library_sites.h"
#include "libprof/verdict/prospect.h"
#include "libprof/verdict/renewal.h"
#include "libprof/verdict/work_areas.h"
#include "libprof/who/merge/site_holders.h"

/* Signs of a case that have a file of their own. */

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

/* What kinds of functions made a line's memory: those between the line and the allocation, for the
 * line's largest site. Returns 0 or -SEEP_ENOMEM. */
static int makers_find(const struct seep_case *c, struct seep_makers *makers)
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

static bool is_streamed(const struct seep_case *c)
{
    const struct seep_dictionary *d = &c->m->dict;

    for (size_t i = 0; i < c->n_sites; i++) {
        for (uint32_t s = c->m->sites[c->sites[i]].stack; s; s = d->stacks[s].parent) {
            if (seep_function_kinds_is(c->code->lines->kinds, d->stacks[s].frame,
                                       SEEP_FUNCTION_STREAM))
                return true;
        }
    }
    return false;
}

/* The sum of the processes' own peaks. */
static int sum_of_heights(const struct seep_model *m, const uint32_t *sites, size_t n, double *sum)
{
    struct seep_level level = {0};
    int rc = 0;

    *sum = 0;
    for (uint32_t p = 0; p < m->n_processes && !rc; p++) {
        rc = seep_level_sum(m, sites, n, p, &level);
        *sum += rc ? 0 : (double)seep_level_highest(&level).bytes;
    }
    seep_level_fini(&level);
    return rc;
}

/* Sites that keep a notable amount: kept[0, n). */
static size_t find_keeping(const struct seep_case *c, const struct seep_site_signs *sites,
                           uint32_t *kept)
{
    uint64_t most = 0;
    size_t n = 0;

    for (size_t i = 0; i < c->n_sites; i++)
        most = sites[i].kept.bytes > most ? sites[i].kept.bytes : most;
    for (size_t i = 0; i < c->n_sites; i++) {
        if (sites[i].kept.bytes * SEEP_T_ALIKE_SHARE >= most)
            kept[n++] = c->sites[i];
    }
    return n;
}

/* Whether the line makes something of what it draws from a stream, which has no pass that ends, and
 * each process keeps nearly all of it while it lives. A buffer that fills gives some away
 * meanwhile; what is only needed to make an item does not count. `sites`: what each of the line's
 * sites holds. Returns 0 or -SEEP_ENOMEM. */
static int stream_is_kept(const struct seep_case *c, const struct seep_site_signs *sites,
                          bool *is_kept)
{
    double made = 0, held = 0;

    *is_kept = false;
    if (!is_streamed(c))
        return 0;
    uint32_t *keeping = malloc((c->n_sites + 1) * sizeof *keeping);
    if (!keeping)
        return -SEEP_ENOMEM;
    const size_t n = find_keeping(c, sites, keeping);
    int rc = sum_of_heights(c->m, keeping, n, &held);
    for (size_t i = 0; i < n; i++)
        made += (double)c->m->sites[keeping[i]].totals.allocated_bytes;
    free(keeping);
    *is_kept = held > 0 && held >= SEEP_T_NEARLY_ALL * made;
    return rc;
}

static const unsigned data_parts =
    1u << SEEP_PART_DATASET | 1u << SEEP_PART_LOADER | 1u << SEEP_PART_CAMERA;
static const unsigned network_parts = 1u << SEEP_PART_MODEL | 1u << SEEP_PART_OPTIMIZER |
                                      1u << SEEP_PART_BACKWARD | 1u << SEEP_PART_CHECKPOINT |
                                      1u << SEEP_PART_COLLECTIVE;

/* ---- what each site holds -------------------------------------------------------------------- */

static struct seep_held held(struct seep_level_point p)
{
    return (struct seep_held){p.bytes > 0 ? (uint64_t)p.bytes : 0,
                              p.blocks > 0 ? (uint64_t)p.blocks : 0};
}

static bool is_of_network(unsigned part, unsigned parts)
{
    return (parts & network_parts) && !((data_parts >> part) & 1);
}

static int compute_sites(const struct seep_case *c, struct seep_signs *signs)
{
    struct seep_level level = {0};
    int rc = seep_grow(&signs->sites, &signs->capacity, c->n_sites + 1, sizeof *signs->sites);

    for (size_t i = 0; i < c->n_sites && !rc; i++) {
        rc = seep_level_resident(c->m, &c->sites[i], 1, SEEP_LEVEL_ALL, &level);
        if (rc)
            break;
        const struct seep_growth *g = &signs->growth;
        const uint32_t stack = c->m->sites[c->sites[i]].stack;
        signs->sites[i] = (struct seep_site_signs){
            .start = held(seep_level_at(&level, 0)),
            .first = held(seep_level_at(&level, c->span->first)),
            .last = held(seep_level_at(&level, c->span->last)),
            .from = held(seep_level_at(&level, g->from)),
            .kept = held(g->by_process ? seep_level_highest(&level) : seep_level_at(&level, g->to)),
            .is_network = is_of_network(c->code->lines->part[stack], c->code->lines->parts[stack]),
        };
    }
    seep_level_fini(&level);
    return rc;
}

static bool is_of_arenas(const struct seep_case *c, const struct seep_signs *signs)
{
    uint64_t kept = 0, gained = 0, kept_arenas = 0, gained_arenas = 0;

    for (size_t i = 0; i < c->n_sites; i++) {
        const struct seep_site_signs *its = &signs->sites[i];
        const bool arena = seep_is_arena(c->m, c->sites[i]);
        const uint64_t more =
            its->kept.bytes > its->first.bytes ? its->kept.bytes - its->first.bytes : 0;
        kept += its->kept.bytes;
        gained += more;
        kept_arenas += arena ? its->kept.bytes : 0;
        gained_arenas += arena ? more : 0;
    }
    return gained >= SEEP_T_SHOWN_BYTES
               ? (double)gained_arenas >= SEEP_T_HALF * (double)gained
               : kept_arenas && (double)kept_arenas >= SEEP_T_HALF * (double)kept;
}

/* ---- the level's shape ----------------------------------------------------------------------- */

/* Blocks of many sizes in a queue also go up and down: a level that falls back, at once or bit by
 * bit, is no staircase. */
static struct seep_staircase climb(const struct seep_span *span, const struct seep_level *level)
{
    const struct seep_level_point from = seep_level_at(level, span->warm < 1 ? 1 : span->warm);
    struct seep_staircase s = {
        .start = from.bytes, .least_blocks = from.blocks, .most_blocks = from.blocks};
    int64_t before = from.bytes, most = from.bytes;

    for (size_t i = 0; i < level->n && level->points[i].step <= span->last; i++) {
        const struct seep_level_point *p = &level->points[i];
        if (p->step <= span->warm)
            continue;
        if (p->bytes < most - most / SEEP_T_STAIR_FALL)
            return s;
        most = p->bytes > most ? p->bytes : most;
        if (p->bytes > before + before / SEEP_T_STAIR_JUMP) {
            s.jumps++;
            s.jumped += p->bytes - before;
            s.last_jump = p->step;
        }
        before = p->bytes;
        s.least_blocks = p->blocks < s.least_blocks ? p->blocks : s.least_blocks;
        s.most_blocks = p->blocks > s.most_blocks ? p->blocks : s.most_blocks;
    }
    s.end = before;
    s.climbs = true;
    return s;
}

static struct seep_fading fade(const struct seep_model *m, const struct seep_span *span,
                               const struct seep_level *level)
{
    struct seep_fading f = {0};
    int64_t before = 0;
    size_t epochs = 0;

    for (size_t e = 0; e + 1 <= m->n_epoch_starts; e++) {
        /* What was there before the end of step 1 is no epoch's gain. */
        int32_t from = m->epoch_starts[e] > 2 ? m->epoch_starts[e] - 1 : 1;
        int32_t to = e + 1 < m->n_epoch_starts ? m->epoch_starts[e + 1] - 1 : span->last;
        if (to - from < (int32_t)(span->epoch_steps * SEEP_T_NEARLY_ALL))
            break;
        int64_t gained = seep_level_at(level, to).bytes - seep_level_at(level, from).bytes;
        if (epochs++ && (double)gained > SEEP_T_SLOWING * (double)before)
            return f;
        if (!f.first)
            f.first = gained;
        f.last = before = gained;
    }
    f.fades = epochs >= SEEP_T_SERIES && f.first > 0;
    return f;
}

/* ---- loader workers -------------------------------------------------------------------------- */

/* What a process holds as it ends; nothing if most of that came in the second half of its life. */
static int held_by(const struct seep_case *c, const uint32_t *sites, size_t n_sites,
                   uint32_t process, struct seep_level *level, struct seep_held *out)
{
    *out = (struct seep_held){0};
    if (seep_level_resident(c->m, sites, n_sites, process, level))
        return -SEEP_ENOMEM;
    if (!level->n)
        return 0;
    int32_t from = level->points[0].step, end = c->m->processes[process].end_step;
    int32_t to = end > c->span->last ? c->span->last : end - 1;
    if (to <= from)
        return 0;
    struct seep_level_point middle = seep_level_at(level, from + (to - from) / 2);
    struct seep_level_point last = seep_level_at(level, to);
    if (middle.bytes > 0 && (double)middle.bytes >= SEEP_T_WORKER_EARLY * (double)last.bytes)
        *out = held(last);
    return 0;
}

static int weigh_workers(const struct seep_case *c, struct seep_worker_signs *w)
{
    struct seep_held *of = calloc(c->m->n_processes + 1, sizeof *of);
    uint32_t *sites = malloc((c->n_sites + 1) * sizeof *sites);
    struct seep_level level = {0};
    uint64_t most = 0;
    size_t n = 0;
    int rc = of && sites ? 0 : -SEEP_ENOMEM;

    for (size_t i = 0; i < c->n_sites && !rc; i++) {
        if (!seep_is_work_area(c->m, c->sites[i]))
            sites[n++] = c->sites[i];
    }
    for (uint32_t p = 0; p < c->m->n_processes && !rc; p++) {
        rc = held_by(c, sites, n, p, &level, &of[p]);
        if (c->m->processes[p].role != SEEP_ROLE_WORKER)
            w->others_bytes += of[p].bytes;
        else if (of[p].bytes > most)
            most = of[p].bytes;
    }
    for (uint32_t p = 0; p < c->m->n_processes && !rc; p++) {
        if (c->m->processes[p].role != SEEP_ROLE_WORKER || !of[p].bytes ||
            of[p].bytes * SEEP_T_WORKER_ALIKE < most)
            continue;
        w->each_bytes = !w->n || of[p].bytes < w->each_bytes ? of[p].bytes : w->each_bytes;
        w->n++;
        w->sum_bytes += of[p].bytes;
        w->sum_blocks += of[p].blocks;
    }
    seep_level_fini(&level);
    free(sites);
    free(of);
    return rc;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool is_of_device(const struct seep_case *c)
{
    const enum seep_space_class class = c->m->spaces[c->space].name.class;

    return class == SEEP_CLASS_TENSOR || class == SEEP_CLASS_DEVICE;
}

static bool piles_up(const struct seep_signs *signs)
{
    return (signs->growth.growing && signs->enough_steps) || signs->sawtooth.falls >= SEEP_T_AGAIN;
}

/* It came bit by bit and has stayed level since: a container that is full. */
static bool is_full(const struct seep_signs *signs)
{
    const struct seep_growth *g = &signs->growth;

    return !signs->timed && !signs->is_data && !g->growing && !g->by_process &&
           g->plateau_gradual && g->plateau >= SEEP_T_MANY && g->plateau_rise >= SEEP_T_CACHE_BYTES;
}

/* Its observed holder keeps it without a graph in between, and there is none beside it: the names
 * of its makers add nothing. */
static bool is_kept_without_graph(const struct seep_signs *signs)
{
    const struct seep_kept_by *k = &signs->kept_by;

    return k->by_python && !k->in_graph && !k->has_graph;
}

/* Where nothing goes backward, as in serving, layers keep what they mean to keep. */
static bool is_training(const struct seep_case *c)
{
    bool learns = c->m->step_source == SEEP_STEP_OPTIMIZER || c->m->step_why == SEEP_WHY_BACKWARD;

    for (uint32_t i = 0; i < c->m->n_sites && c->m->step_source == SEEP_STEP_API && !learns; i++)
        learns = c->code->lines->parts[c->m->sites[i].stack] >> SEEP_PART_BACKWARD & 1;
    return learns;
}

/* What can be said of graphs where only PyTorch's snapshot is known. */
static int find_results(const struct seep_case *c, struct seep_signs *signs)
{
    uint64_t graphs;

    if (!seep_case_is_of_torch(c) || !is_training(c) || signs->is_data ||
        !(c->parts >> SEEP_PART_MODEL & 1) || !(piles_up(signs) || is_full(signs)))
        return 0;
    const int rc = seep_graph_results_count(c, &signs->growth, &signs->graph_results, &graphs);
    if (is_full(signs))
        signs->graphs = graphs;
    return rc;
}

/* A library's pool may be most of a line's memory and hold nothing of what grows there: then
 * nothing is known of who holds that. */
static int judge_holder(const struct seep_case *c, struct seep_signs *signs)
{
    const json_t *answer = seep_line_holders_of(c->holders, c->code, c->space, c->frame);
    uint32_t *sites = malloc((c->n_sites + 1) * sizeof *sites);
    struct seep_level level = {0};
    size_t n = 0;

    if (!sites)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < c->n_sites; i++)
        if (!signs->growth.growing || seep_site_grew(&signs->sites[i]))
            sites[n++] = c->sites[i];
    const int rc =
        seep_held_may_be_of_others(c->m, answer, sites, n, &level, &signs->holder_is_of_others);
    if (!rc && signs->holder_is_of_others)
        signs->kept_by = seep_kept_by_of(NULL);
    seep_level_fini(&level);
    free(sites);
    return rc;
}

static int compute(const struct seep_case *c, struct seep_signs *signs)
{
    *signs = (struct seep_signs){
        .growth = signs->growth, .sites = signs->sites, .capacity = signs->capacity};
    if (seep_growth_measure(c->m, c->span, c->sites, c->n_sites, &signs->growth))
        return -SEEP_ENOMEM;
    const struct seep_growth *g = &signs->growth;
    signs->timed = c->m->step_source == SEEP_STEP_TIME;
    signs->enough_steps = g->to - g->from >= seep_span_steps_needed(c->m);
    signs->is_data = (data_parts >> c->part) & 1;
    signs->is_network = is_of_network(c->part, c->parts);
    signs->sawtooth = seep_sawtooth_find(c->m, c->span, &g->level);
    signs->staircase = climb(c->span, &g->level);
    signs->fading = fade(c->m, c->span, &g->level);
    signs->kept_by =
        c->is_small_objects
            ? seep_kept_by_of_small(c->holders->small)
            : seep_kept_by_of(seep_line_holders_of(c->holders, c->code, c->space, c->frame));
    int rc = compute_sites(c, signs);
    if (!rc && !c->is_small_objects)
        rc = judge_holder(c, signs);
    if (!rc && c->has_workers && !signs->timed)
        rc = weigh_workers(c, &signs->workers);
    if (!rc && !signs->is_data && piles_up(signs) && !is_kept_without_graph(signs))
        rc = seep_graph_nodes_count(c, signs->sites, &signs->graph_nodes);
    signs->of_arenas = !rc && is_of_arenas(c, signs);
    signs->is_replaced = !rc && !signs->timed && seep_is_replaced(c, signs);
    signs->cache = rc ? NULL : c->cache ? c->cache : seep_library_holder(c, signs);
    if (!rc && ((signs->staircase.climbs && signs->staircase.jumps) || is_of_device(c) ||
                signs->is_replaced))
        rc = makers_find(c, &signs->makers);
    if (!rc && !signs->timed && g->growing)
        rc = stream_is_kept(c, signs->sites, &signs->is_kept_stream);
    signs->prospect = seep_prospect_of(c, signs);
    if (!rc && !is_kept_without_graph(signs) &&
        (is_full(signs) || (signs->prospect == SEEP_ENDS_BY_HOLDER && !signs->is_data)))
        rc = seep_graphs_count(c, g, &signs->graphs);
    if (!rc && !signs->graphs && signs->kept_by.in_graph &&
        signs->prospect == SEEP_ENDS_BY_HOLDER && !signs->is_data)
        signs->graphs = signs->kept_by.length;
    return rc ? rc : find_results(c, signs);
}

int seep_signs_compute(struct seep_case *c, struct seep_signs *signs)
{
    c->span = c->whole;
    int rc = compute(c, signs);
    if (!rc && signs->growth.after_training && c->after->last) {
        c->span = c->after;
        rc = compute(c, signs);
    }
    return rc;
}

void seep_signs_fini(struct seep_signs *signs)
{
    seep_growth_fini(&signs->growth);
    free(signs->sites);
    *signs = (struct seep_signs){0};
}
