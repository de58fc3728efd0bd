/* eager-retention: memory that is loaded up front and kept for good. Items of a data set; a file
 * that was loaded to a device; a data set that was copied there as a whole. */
#include "libprof/base/text.h"
#include "libprof/code/function_kinds.h"
#include "libprof/measure/resident/memory_limit.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/graph_nodes.h"
#include "libprof/verdict/pattern_judge.h"
#include "libprof/verdict/prospect.h"
#include "libprof/verdict/work_areas.h"
#include "libprof/words/findings/finding_words.h"
#include "libprof/words/limit_kind.h"
#include "libprof/words/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- loaded from a file: whether it is in use ----------------------------------------------- */

/* Whether a stack passes through a function of a kind. */
static bool passes(const struct seep_case *c, uint32_t stack, enum seep_function_kind kind)
{
    const struct seep_dictionary *d = &c->m->dict;

    for (uint32_t s = stack; s; s = d->stacks[s].parent) {
        if (seep_function_kinds_is(c->code->lines->kinds, d->stacks[s].frame, kind))
            return true;
    }
    return false;
}

/* Whether parameters of a network were made from a loaded state. */
static bool became_parameters(const struct seep_case *c)
{
    const struct seep_dictionary *d = &c->m->dict;

    for (uint32_t i = 1; i < d->n_stacks; i++) {
        if (seep_function_kinds_is(c->code->lines->kinds, d->stacks[i].frame,
                                   SEEP_FUNCTION_PARAMETER) &&
            passes(c, d->stacks[i].parent, SEEP_FUNCTION_STATE_COPY))
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
           passes(c, site->stack, SEEP_FUNCTION_STATE_COPY);
}

/* Whether what the case's line has loaded is in use: parameters were made from it (assign=True, a
 * base for adapters); or the job's own code makes temporaries of its size in each step (a penalty
 * that pulls towards it); or a state is copied into a network in later steps, too. */
static bool state_is_used(const struct seep_case *c, struct seep_held loaded)
{
    if (!loaded.blocks)
        return false;
    if (became_parameters(c))
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

/* How many of the `copies` of the network's size that were loaded an optimizer goes on using: it
 * takes over the tensors of a file. */
static unsigned moments_used(const struct seep_case *c, uint64_t copies)
{
    if (!copies || !is_there(c, SEEP_FUNCTION_MOMENTS))
        return 0;
    return copies > 1 && is_there(c, SEEP_FUNCTION_TWO_MOMENTS) ? 2 : 1;
}

/* ---- loaded from a file: what it is held against -------------------------------------------- */

/* How many times what was loaded contains the network's blocks and bytes. */
static uint64_t copies_in(struct seep_held loaded, struct seep_held network)
{
    const uint64_t n = network.blocks ? loaded.blocks / network.blocks : 0;
    const double off = fabs((double)loaded.bytes - (double)n * (double)network.bytes);

    return n && loaded.blocks == n * network.blocks &&
                   off <= SEEP_T_SAME_SIZE * (double)loaded.bytes
               ? n
               : 0;
}

/* The same for a file that also has an optimizer's state: moments of parameters (not of buffers),
 * and a few bytes for each, such as Adam's steps. */
static uint64_t copies_with_moments(struct seep_held loaded, struct seep_held network)
{
    const uint64_t n = network.bytes ? (loaded.bytes + network.bytes / 2) / network.bytes : 0;
    const double off = fabs((double)loaded.bytes - (double)n * (double)network.bytes);

    return n >= 2 && n <= SEEP_T_LOADED_COPIES && loaded.blocks > network.blocks &&
                   loaded.blocks <= (n + 1) * network.blocks &&
                   off <= SEEP_T_SAME_SIZE * (double)network.bytes
               ? n
               : 0;
}

/* By its last step: teardown frees all at the job's end. */
static struct seep_held held_by(const struct seep_case *c, const struct seep_model_site *site)
{
    struct seep_held held = {0};

    for (uint32_t k = site->slots; k; k = c->m->slots[k - 1].next) {
        const struct seep_model_slot *slot = &c->m->slots[k - 1];
        const struct seep_model_point *last = NULL;
        for (uint32_t i = 0; i < slot->n_points; i++) {
            const struct seep_model_point *p = &c->m->points[slot->points_at + i];
            last = p->step <= c->span->last ? p : last;
        }
        held.bytes += last ? last->bytes : 0;
        held.blocks += last ? last->blocks : 0;
    }
    return held;
}

static void add(struct seep_held *to, struct seep_held held)
{
    to->bytes += held.bytes;
    to->blocks += held.blocks;
}

/* How many copies this is of what some line of the network holds in the case's space; 0: none. A
 * line has a site for each depth of nested modules. */
static uint64_t copies_of_network(const struct seep_case *c, struct seep_held loaded,
                                  bool with_moments)
{
    const struct seep_model *m = c->m;
    struct seep_held *of_line = calloc(m->dict.n_frames + 1, sizeof *of_line);
    uint64_t n = 0;

    for (size_t i = 0; i < m->n_sites && of_line; i++) {
        const struct seep_model_site *site = &m->sites[i];
        if (site->space == c->space &&
            c->code->lines->part[site->stack] == (uint8_t)SEEP_PART_MODEL)
            add(&of_line[c->code->lines->line_of[c->code->lines->shown[site->stack]]],
                held_by(c, site));
    }
    for (uint32_t i = 0; i < m->dict.n_frames && of_line && !n; i++) {
        if (of_line[i].bytes < SEEP_T_PEAK_BYTES)
            continue;
        n = copies_in(loaded, of_line[i]);
        if (!n && with_moments)
            n = copies_with_moments(loaded, of_line[i]);
    }
    free(of_line);
    return n;
}

/* ---- loaded from a file: what its content is ------------------------------------------------ */

/* A network that a file holds as a whole, as a teacher is, is used as it is. */
static bool is_module(const struct seep_case *c)
{
    const struct seep_dictionary *d = &c->m->dict;
    const uint32_t line = c->code->lines->line_of[c->frame];

    for (uint32_t i = 1; i < d->n_stacks; i++) {
        if (c->code->lines->line_of[c->code->lines->shown[i]] == line &&
            seep_function_kinds_is(c->code->lines->kinds, d->stacks[i].frame,
                                   SEEP_FUNCTION_MODULE_LOAD))
            return true;
    }
    return false;
}

/* Weights alone may be another network's, unless they were copied into one. If an optimizer
 * continues with them, nothing was left over. */
static bool is_second_copy(const struct seep_case *c, uint64_t n, unsigned moments)
{
    return n > moments && (n >= SEEP_T_LOADED_TIMES ||
                           (n == 1 && is_there(c, SEEP_FUNCTION_STATE_COPY) && !is_module(c)));
}

/* What was loaded, held against the network. */
struct copies {
    uint64_t n;
    unsigned moments; /* of these, that an optimizer uses */
    bool is_seen;     /* that something is left over */
};

/* A snapshot of PyTorch's does not show calls that allocate nothing, as of load_state_dict(). */
static struct copies find_copies(const struct seep_case *c, struct seep_held loaded)
{
    struct copies copies = {.n = copies_of_network(c, loaded, is_there(c, SEEP_FUNCTION_MOMENTS))};

    copies.moments = moments_used(c, copies.n);
    copies.is_seen = is_second_copy(c, copies.n, copies.moments);
    if (!copies.is_seen)
        copies.n =
            seep_case_is_of_torch(c) && !is_module(c) ? copies_of_network(c, loaded, true) : 0;
    return copies;
}

static void note_copies(const struct seep_case *c, const struct copies *copies,
                        struct seep_finding *f)
{
    if (copies->n > 1)
        seep_finding_note(f,
                          "It is still live in %s %d: block by block, %llu times what the network "
                          "holds, beside the network itself",
                          seep_case_unit(c), (int)c->span->last, (unsigned long long)copies->n);
    if (copies->moments)
        seep_finding_note(f, "The optimizer keeps using the moments in it; the rest is left over");
    if (!copies->is_seen)
        seep_finding_note(f,
                          "Whether it is in use, a snapshot does not say: an optimizer may go on "
                          "with the moments in it");
    else if (copies->n == 1)
        seep_finding_note(
            f,
            "It is still live in %s %d: %llu blocks, together as large as the network. "
            "load_state_dict() has copied weights into the network, so this is a second copy",
            seep_case_unit(c), (int)c->span->last, (unsigned long long)f->count);
}

/* A checkpoint that is loaded to the device it was saved from and then kept, although
 * load_state_dict() copies it. */
static bool judge_loaded(const struct seep_case *c, bool is_seen, struct seep_finding *f)
{
    char size[SEEP_SIZE_TEXT];
    struct seep_held loaded = {0};

    if (!c->signs->makers.loads || seep_case_space(c)->device < 0 || c->span->last < 2)
        return false;
    for (size_t i = 0; i < c->n_sites; i++) {
        const struct seep_held its = c->signs->sites[i].last;
        if (!its.bytes || !passes(c, c->m->sites[c->sites[i]].stack, SEEP_FUNCTION_LOAD))
            continue;
        add(&loaded, its);
        seep_finding_keep(f, c->sites[i], its.bytes, its.blocks);
    }
    const struct copies copies = loaded.bytes ? find_copies(c, loaded) : (struct copies){0};
    if (!copies.n || copies.is_seen != is_seen || state_is_used(c, loaded))
        return false;
    const bool large =
        f->live_bytes >= SEEP_T_LARGE_BYTES || f->live_bytes * SEEP_T_LARGE_SHARE >= c->space_peak;
    seep_finding_verdict(f, SEEP_PATTERN_EAGER_RETENTION,
                         large && copies.is_seen ? SEEP_RETENTION : SEEP_INFO,
                         !copies.is_seen ? SEEP_POSSIBLE
                         : copies.n > 1  ? SEEP_CERTAIN
                                         : SEEP_LIKELY);
    f->saving_bytes = f->live_bytes / copies.n * (copies.n - copies.moments);
    f->title =
        seep_text_format("%s loaded from a file stays on GPU %d",
                         seep_text_size((double)loaded.bytes, size), seep_case_space(c)->device);
    f->advice = strdup("Load checkpoints with map_location=\"cpu\", and del them once "
                       "load_state_dict() has copied them.");
    note_copies(c, &copies, f);
    return true;
}

/* ---- few large blocks: what a step takes of them -------------------------------------------- */

/* Operators that make a batch from rows of existing data. A slice makes nothing, and is not
 * seen. */
static bool draws(const struct seep_case *c, uint32_t stack)
{
    static const char *const names[] = {
        "at::_ops::index_Tensor::", "at::_ops::index_select::", "at::_ops::gather::",
        "at::_ops::take::", "at::_ops::stack::"};
    const struct seep_dictionary *d = &c->m->dict;
    const struct seep_symbol *symbol;

    for (uint32_t s = stack; s; s = d->stacks[s].parent) {
        const uint32_t frame = d->stacks[s].frame;
        if (d->frames[frame].kind != SEEP_FRAME_NATIVE)
            return false;
        if (!seep_symbols_get(c->code->symbols, frame, &symbol) || !symbol[0].function)
            continue;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            if (strncmp(symbol[0].function, names[i], strlen(names[i])) == 0)
                return true;
        }
    }
    return false;
}

/* Whether graph nodes are made where a line draws something: then it is an output, not data. */
static int draws_outputs(const struct seep_case *c, uint32_t frame, bool *outputs)
{
    const uint32_t line = c->code->lines->line_of[frame];
    int rc = 0;

    *outputs = false;
    for (uint32_t i = 0; i < c->m->n_sites && !rc && !*outputs; i++) {
        const uint32_t stack = c->m->sites[i].stack;
        if (!c->m->spaces[c->m->sites[i].space].name.host_like ||
            c->code->lines->line_of[c->code->lines->shown[stack]] != line)
            continue;
        rc = seep_graph_names(c, &i, 1);
        *outputs = !rc && draws(c, stack) && seep_graph_makes_node(c, stack);
    }
    return rc;
}

/* The mean of what a site allocated in at least half of the steps, if it keeps none of it; else
 * 0. */
static uint64_t part_taken(const struct seep_case *c, const struct seep_model_site *site)
{
    const struct seep_totals *t = &site->totals;
    const enum seep_part part = (enum seep_part)c->code->lines->part[site->stack];
    const bool networks =
        part == SEEP_PART_MODEL || part == SEEP_PART_BACKWARD || part == SEEP_PART_OPTIMIZER;

    if (site->space != c->space || networks || !c->code->lines->is_own[site->stack] ||
        t->allocations * 2 < (uint64_t)c->span->last || t->frees * 2 < t->allocations)
        return 0;
    return t->allocated_bytes / t->allocations;
}

/* The line that draws most from the `whole` bytes, in each step and not by a network, which would
 * leave a graph node there; *bytes is what it takes at a time. Returns 0 or -SEEP_ENOMEM. */
static int find_draw(const struct seep_case *c, uint64_t whole, uint32_t *line, uint64_t *bytes)
{
    int rc = 0;

    *line = 0;
    *bytes = 0;
    for (uint32_t i = 0; i < c->m->n_sites && !rc; i++) {
        const struct seep_model_site *site = &c->m->sites[i];
        const uint64_t its = part_taken(c, site);
        bool outputs = false;
        if (its < SEEP_T_DRAWN_BYTES || its * SEEP_T_DRAWN_SHARE > whole || its <= *bytes)
            continue;
        rc = seep_graph_names(c, &i, 1);
        if (!rc && draws(c, site->stack))
            rc = draws_outputs(c, c->code->lines->shown[site->stack], &outputs);
        if (rc || outputs || !draws(c, site->stack))
            continue;
        *line = c->code->lines->shown[site->stack];
        *bytes = its;
    }
    return rc;
}

/* ---- few large blocks: the whole ------------------------------------------------------------ */

/* Made before step 1 was over, from something on the host, and still there at the end. */
static void keep_whole(const struct seep_case *c, struct seep_finding *f)
{
    for (size_t i = 0; i < c->n_sites; i++) {
        const struct seep_model_site *site = &c->m->sites[c->sites[i]];
        const struct seep_site_signs *its = &c->signs->sites[i];
        if (site->first_step <= 1 && !its->is_network && its->last.blocks &&
            its->last.bytes == its->first.bytes && its->last.blocks == its->first.blocks &&
            (double)site->totals.allocations <= SEEP_T_MADE_ONCE * (double)its->last.blocks)
            seep_finding_keep(f, c->sites[i], its->last.bytes, its->last.blocks);
    }
}

static void note_draw(const struct seep_case *c, uint32_t line, uint64_t bytes,
                      struct seep_finding *f)
{
    const struct seep_dict_frame *at = &c->m->dict.frames[line];
    char size[SEEP_SIZE_TEXT];

    seep_finding_note(f, "Each step uses about %s of it, at %s:%llu",
                      seep_text_size((double)bytes, size),
                      seep_dictionary_text(&c->m->dict, at->source), (unsigned long long)at->where);
}

/* A data set that goes to a device as a whole, in few blocks, of which each step uses a small
 * part. */
static bool judge_whole(const struct seep_case *c, struct seep_finding *f)
{
    const double all = (double)c->space_peak;
    char size[SEEP_SIZE_TEXT], space[SEEP_SPACE_WORDS];
    uint32_t line = 0;
    uint64_t bytes = 0;

    if (seep_case_space(c)->class != SEEP_CLASS_TENSOR || c->signs->is_network ||
        (!c->signs->makers.copies && !seep_case_is_of_torch(c)) || c->signs->makers.loads ||
        c->span->last < 2)
        return false;
    keep_whole(c, f);
    if (f->live_bytes < SEEP_T_LARGE_BYTES || f->live_bytes * SEEP_T_LARGE_SHARE < c->space_peak ||
        find_draw(c, f->live_bytes, &line, &bytes))
        return false;
    const bool fills = (double)f->live_bytes >= SEEP_T_WHOLE_SHARE * all;
    seep_finding_verdict(f, SEEP_PATTERN_EAGER_RETENTION,
                         fills && line ? SEEP_RETENTION : SEEP_INFO,
                         line ? SEEP_LIKELY : SEEP_POSSIBLE);
    f->saving_bytes = line ? f->live_bytes - bytes : 0;
    seep_finding_note(f, "%s before step 1 ended, and still live in step %d",
                      seep_case_is_of_torch(c) ? "Made on the GPU, or copied there,"
                                               : "Copied to the GPU",
                      (int)c->span->last);
    seep_finding_note(f, SEEP_KEPT_SHARE_TEXT, seep_text_size((double)f->live_bytes, size),
                      100.0 * (double)f->live_bytes / all,
                      seep_space_words(seep_case_space(c)->text, space));
    if (line)
        note_draw(c, line, bytes, f);
    else
        f->advice = strdup("If each step reads all of it, ignore this. Otherwise keep it in host "
                           "memory (pin_memory) and move one batch at a time to the GPU.");
    return true;
}

/* ---- items, all there before step 1 ended --------------------------------------------------- */

/* Whether a site's blocks look like items of one kind: of the data's side, whatever their sizes; of
 * others, if they have one size. Only a detail record knows sizes one by one; where the blocks came
 * before it was made, an even division says the same with good odds. */
static bool is_of_items(const struct seep_case *c, const struct seep_model_site *site)
{
    const struct seep_totals *t = &site->totals;
    const struct seep_model_extra *e = site->extra ? &c->m->extras[site->extra - 1] : NULL;

    if (!t->allocations || c->signs->is_data)
        return t->allocations != 0;
    if (e && e->max_bytes)
        return e->max_bytes - e->min_bytes <= e->max_bytes / SEEP_T_ITEM_SPREAD &&
               fabs((double)t->allocated_bytes / (double)t->allocations - (double)e->max_bytes) <=
                   (double)e->max_bytes / SEEP_T_ITEM_SPREAD;
    return t->allocated_bytes % t->allocations == 0;
}

/* A line that calls a trainer makes everything: the network is not data. */
static bool is_eager_site(const struct seep_case *c, size_t i)
{
    const struct seep_model_site *site = &c->m->sites[c->sites[i]];
    const struct seep_held first = c->signs->sites[i].first, last = c->signs->sites[i].last;

    return site->first_step <= 1 && !c->signs->sites[i].is_network && last.blocks &&
           last.bytes == first.bytes && last.blocks == first.blocks &&
           !seep_is_work_area(c->m, c->sites[i]) &&
           (double)site->totals.allocations <= SEEP_T_MADE_ONCE * (double)last.blocks &&
           is_of_items(c, site);
}

/* The line's site that holds the items. What every worker has one of (a buffer, an arena of
 * Python's) is not a series of items, however many workers there are. */
static struct seep_held find_items(const struct seep_case *c)
{
    struct seep_held most = {0};

    for (size_t i = 0; i < c->n_sites; i++) {
        const struct seep_held its = c->signs->sites[i].last;
        const uint32_t processes = seep_site_processes(c->m, &c->m->sites[c->sites[i]]);
        if (its.blocks >= (uint64_t)SEEP_T_MANY * processes && its.bytes > most.bytes &&
            is_eager_site(c, i))
            most = its;
    }
    return most;
}

/* What a library pins, as a loader's thread does with batches, goes into a pool that reuses it: it
 * is nobody's items. */
static bool is_pool_of_pinned(const struct seep_case *c)
{
    return seep_case_space(c)->class == SEEP_CLASS_PINNED &&
           !c->code->lines->is_own[c->m->sites[c->sites[0]].stack];
}

/* What is on a device from the start and is not data may be any table, as long as it was made
 * there; data come from the host. */
static bool is_made_there(const struct seep_case *c)
{
    const struct seep_makers *by = &c->signs->makers;

    return !seep_case_space(c)->host_like && !c->signs->is_data &&
           (by->named || seep_case_is_of_torch(c)) && !by->copies && !by->loads;
}

static void note_little(const struct seep_case *c, struct seep_finding *f)
{
    const char *kind;
    const uint64_t limit = seep_memory_limit_of(c->m, &kind);
    char size[SEEP_SIZE_TEXT];

    seep_finding_note(f, "It takes %.1f %% of %s %s: that matters only if the data set grows",
                      100.0 * (double)f->live_bytes / (double)limit,
                      seep_text_size((double)limit, size), seep_limit_words(kind));
}

static bool judge_items(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_held items = find_items(c);

    if (!items.bytes)
        return judge_whole(c, f);
    for (size_t i = 0; i < c->n_sites; i++) {
        const struct seep_held its = c->signs->sites[i].last;
        if (is_eager_site(c, i) && seep_case_is_alike(its, items))
            seep_finding_keep(f, c->sites[i], its.bytes, its.blocks);
    }
    if (!seep_case_is_large(c, f->live_bytes, SEEP_T_LARGE_SHARE) ||
        f->live_bytes < SEEP_T_CACHE_BYTES)
        return false;
    const bool matters = seep_case_has_consequences(c, f->live_bytes);
    char size[SEEP_SIZE_TEXT], each[SEEP_SIZE_TEXT], space[SEEP_SPACE_WORDS];
    seep_finding_verdict(f, SEEP_PATTERN_EAGER_RETENTION, matters ? SEEP_RETENTION : SEEP_INFO,
                         c->signs->is_data ? SEEP_CERTAIN : SEEP_LIKELY);
    f->saving_bytes = f->live_bytes - f->live_bytes / f->count;
    seep_finding_note(f, "%llu blocks of %s, all allocated before step 1 ended",
                      (unsigned long long)f->count,
                      seep_text_size((double)f->live_bytes / (double)f->count, each));
    seep_finding_note(f, "None was freed and none was added up to step %d", (int)c->span->last);
    seep_finding_note(f, SEEP_KEPT_SHARE_TEXT, seep_text_size((double)f->live_bytes, size),
                      100.0 * (double)f->live_bytes / (double)c->space_peak,
                      seep_space_words(seep_case_space(c)->text, space));
    if (!matters)
        note_little(c, f);
    return true;
}

bool seep_is_eager_retention(const struct seep_case *c, struct seep_finding *f)
{
    if (judge_loaded(c, true, f))
        return true;
    seep_finding_blank(f);
    if (c->signs->makers.loads && !seep_case_space(c)->host_like && became_parameters(c))
        return false;

    /* Iterations and tasks are counted only from when they were recognised as the job's steps. */
    if (c->span->last < 2 || c->signs->timed || c->signs->is_network ||
        c->m->step_source == SEEP_STEP_LOOP || c->m->step_source == SEEP_STEP_TASK ||
        is_pool_of_pinned(c))
        return false;
    if (!is_made_there(c) && judge_items(c, f))
        return true;
    seep_finding_blank(f);
    return seep_case_is_of_torch(c) && (judge_whole(c, f) || judge_loaded(c, false, f));
}
