/* A data set that goes to a device as a whole, in few blocks, of which each step uses a small
 * part. */
#include <string.h>

#include "libprof/base/text.h"
#include "libprof/patterns/pattern_judge.h"
#include "libprof/signs/graph_nodes.h"
#include "libprof/signs/prospect.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/words/findings/finding_words.h"
#include "libprof/words/space.h"

/* Growth that no line shows by itself: the same evidence, for many lines together. */

/* At a program's start much of what its lines allocate stays, and without steps libraries go on so
 * for longer: a few steps are enough to judge a line, but not a total. */
static bool is_too_early(const struct seep_case *c)
{
    const struct seep_signs *signs = c->signs;

    return !signs->enough_steps || (signs->timed && seep_prospect_is_open(signs->prospect) &&
                                    !c->code->lines->is_own[c->m->sites[c->sites[0]].stack]);
}

bool seep_case_judge_spread(const struct seep_case *c, struct seep_finding *f)
{
    const bool shared = seep_case_space(c)->class == SEEP_CLASS_SHM;

    if (is_too_early(c))
        return false;
    if (seep_prospect_is_endless(c->signs->prospect))
        seep_finding_verdict(f, shared ? SEEP_PATTERN_SHM_GROWTH : SEEP_PATTERN_UNBOUNDED_GROWTH,
                             SEEP_LEAK, seep_signs_confidence(c->signs));
    else if (seep_prospect_is_open(c->signs->prospect))
        seep_finding_verdict(f, SEEP_PATTERN_UNDETERMINED, SEEP_PRESSURE, SEEP_POSSIBLE);
    else
        return false;
    seep_case_note_growth(c, f);
    seep_case_note_prospect(c, f);
    return true;
}

/* ---- what a step takes of it ----------------------------------------------------------------- */

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

/* ---- the whole ------------------------------------------------------------------------------- */

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

bool seep_case_judge_whole(const struct seep_case *c, struct seep_finding *f)
{
    const double all = (double)c->space_peak;
    char size[SEEP_SIZE_TEXT], space[SEEP_SPACE_WORDS];
    uint32_t line = 0;
    uint64_t bytes = 0;

    if (seep_case_space(c)->class != SEEP_CLASS_TENSOR || c->signs->is_network ||
        !c->signs->makers.copies || c->signs->makers.loads || c->span->last < 2)
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
    seep_finding_note(f, "Copied to the GPU before step 1 ended, and still live in step %d",
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
