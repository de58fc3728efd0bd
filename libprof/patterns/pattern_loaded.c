/* A checkpoint that is loaded to the device it was saved from and then kept, although
 * load_state_dict() copies it. */
#include "libprof/base/text.h"
#include "libprof/code/function_kinds.h"
#include "libprof/patterns/pattern_judge.h"
#include "libprof/patterns/state_use.h"
#include "libprof/thresholds/thresholds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what it is held against ----------------------------------------------------------------- */

/* How many times what was loaded contains the network's blocks and bytes. */
static uint64_t times(struct seep_held loaded, struct seep_held network)
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
static uint64_t times_with_moments(struct seep_held loaded, struct seep_held network)
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
static uint64_t copies_of_network(const struct seep_case *c, struct seep_held loaded)
{
    const struct seep_model *m = c->m;
    struct seep_held *of_line = calloc(m->dict.n_frames + 1, sizeof *of_line);
    const bool has_moments = seep_state_has_moments(c);
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
        n = times(loaded, of_line[i]);
        if (!n && has_moments)
            n = times_with_moments(loaded, of_line[i]);
    }
    free(of_line);
    return n;
}

/* ---- what a file's content is ---------------------------------------------------------------- */

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

static bool was_copied(const struct seep_case *c)
{
    for (uint32_t i = 1; i < c->m->dict.n_frames; i++) {
        if (seep_function_kinds_is(c->code->lines->kinds, i, SEEP_FUNCTION_STATE_COPY))
            return true;
    }
    return false;
}

/* Weights alone may be another network's, unless they were copied into one. If an optimizer
 * continues with them, nothing was left over. */
static bool is_second_copy(const struct seep_case *c, uint64_t n, unsigned moments)
{
    return n > moments && (n >= SEEP_T_LOADED_TIMES || (n == 1 && was_copied(c) && !is_module(c)));
}

bool seep_case_judge_loaded(const struct seep_case *c, struct seep_finding *f)
{
    char size[SEEP_SIZE_TEXT];
    struct seep_held loaded = {0};

    if (!c->signs->makers.loads || seep_case_space(c)->device < 0 || c->span->last < 2)
        return false;
    for (size_t i = 0; i < c->n_sites; i++) {
        const struct seep_held its = c->signs->sites[i].last;
        if (!its.bytes || !seep_stack_passes(c, c->m->sites[c->sites[i]].stack, SEEP_FUNCTION_LOAD))
            continue;
        add(&loaded, its);
        seep_finding_keep(f, c->sites[i], its.bytes, its.blocks);
    }
    const uint64_t n = loaded.bytes ? copies_of_network(c, loaded) : 0;
    const unsigned moments = seep_state_moments(c, n);
    if (!is_second_copy(c, n, moments) || seep_state_is_used(c, loaded))
        return false;
    const bool large =
        f->live_bytes >= SEEP_T_LARGE_BYTES || f->live_bytes * SEEP_T_LARGE_SHARE >= c->space_peak;
    seep_finding_verdict(f, SEEP_PATTERN_EAGER_RETENTION, large ? SEEP_RETENTION : SEEP_INFO,
                         n > 1 ? SEEP_CERTAIN : SEEP_LIKELY);
    f->saving_bytes = f->live_bytes / n * (n - moments);
    f->title =
        seep_text_format("%s loaded from a file stays on GPU %d",
                         seep_text_size((double)loaded.bytes, size), seep_case_space(c)->device);
    f->advice = strdup("Load checkpoints with map_location=\"cpu\", and del them once "
                       "load_state_dict() has copied them.");
    if (n > 1)
        seep_finding_note(f,
                          "It is still live in %s %d: block by block, %llu times what the network "
                          "holds, beside the network itself",
                          seep_case_unit(c), (int)c->span->last, (unsigned long long)n);
    if (moments)
        seep_finding_note(f, "The optimizer keeps using the moments in it; the rest is left over");
    if (n == 1)
        seep_finding_note(
            f,
            "It is still live in %s %d: %llu blocks, together as large as the network. "
            "load_state_dict() has copied weights into the network, so this is a second copy",
            seep_case_unit(c), (int)c->span->last, (unsigned long long)f->count);
    return true;
}
