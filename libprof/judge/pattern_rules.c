/* The rules in their order, and what they share. Patterns are told apart by, in this order: the
 * space; who owns the line; whether the level ends (and when, against the first epoch); ages of
 * frees; and, of what does not stay, the peak. A further pattern is a further function in the
 * table. */
#include "libprof/judge/pattern_rules.h"

#include "libprof/base/text.h"

#include <stdlib.h>
#include <string.h>

static const unsigned data_roles =
    1u << SEEP_PART_DATASET | 1u << SEEP_PART_LOADER | 1u << SEEP_PART_CAMERA;
static const unsigned network_roles = 1u << SEEP_PART_MODEL | 1u << SEEP_PART_OPTIMIZER |
                                      1u << SEEP_PART_BACKWARD | 1u << SEEP_PART_CHECKPOINT |
                                      1u << SEEP_PART_COLLECTIVE;

typedef bool (*rule_fn)(const struct seep_case *, struct seep_finding *);

bool seep_rules_judge(const struct seep_case *c, struct seep_finding *finding)
{
    static const rule_fn rules[] = {
        seep_rule_wrong_device,          seep_rule_pinned_pool,       seep_rule_legitimate_growth,
        seep_rule_worker_multiplication, seep_rule_eager_retention,   seep_rule_cache,
        seep_rule_reference_cycle,       seep_rule_graph_retention,   seep_rule_unbounded_growth,
        seep_rule_undetermined,          seep_rule_collective_buffer, seep_rule_size_spike,
    };

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        finding->n_sites = 0;
        finding->live_bytes = finding->count = 0;
        if (rules[i](c, finding))
            return true;
        while (finding->n_evidence)
            free(finding->evidence[--finding->n_evidence]);
    }
    return false;
}

bool seep_rules_judge_job(struct seep_case *c, unsigned which, struct seep_finding *finding)
{
    static bool (*const rules[SEEP_JOB_RULES])(struct seep_case *, struct seep_finding *) = {
        seep_rule_allocator_cache, seep_rule_cow_growth, seep_rule_carry_over};

    return which < SEEP_JOB_RULES && !seep_rule_is_timed(c) && rules[which](c, finding);
}

bool seep_rule_is_data(const struct seep_case *c)
{
    return (data_roles >> c->part) & 1;
}

bool seep_rule_is_network(const struct seep_case *c)
{
    return (c->parts & network_roles) && !seep_rule_is_data(c);
}

bool seep_rule_is_timed(const struct seep_case *c)
{
    return c->m->step_source == SEEP_STEP_TIME;
}

bool seep_rule_has_enough_steps(const struct seep_case *c)
{
    return c->growth->to - c->growth->from >=
           (seep_rule_is_timed(c) ? SEEP_RULE_SLICES : SEEP_RULE_STEPS);
}

const struct seep_space_name *seep_rule_space(const struct seep_case *c)
{
    return &c->m->spaces[c->space].name;
}

uint64_t seep_rule_live_at(const struct seep_case *c, uint32_t site, int32_t step, uint64_t *blocks)
{
    struct seep_level level = {0};
    struct seep_level_point p = {0};

    if (!seep_level_sum(c->m, &site, 1, SEEP_LEVEL_ALL, &level))
        p = seep_level_at(&level, step);
    seep_level_fini(&level);
    *blocks = p.blocks > 0 ? (uint64_t)p.blocks : 0;
    return p.bytes > 0 ? (uint64_t)p.bytes : 0;
}

uint64_t seep_rule_kept_by(const struct seep_case *c, uint32_t site, uint64_t *blocks)
{
    struct seep_level level = {0};
    struct seep_level_point p = {0};

    if (!c->growth->by_process)
        return seep_rule_live_at(c, site, c->growth->to, blocks);
    if (!seep_level_sum(c->m, &site, 1, SEEP_LEVEL_ALL, &level)) {
        for (size_t i = 0; i < level.n; i++) {
            if (level.points[i].bytes > p.bytes)
                p = level.points[i];
        }
    }
    seep_level_fini(&level);
    *blocks = p.blocks > 0 ? (uint64_t)p.blocks : 0;
    return (uint64_t)p.bytes;
}

bool seep_rule_is_alike(uint64_t bytes, uint64_t blocks, uint64_t main_bytes, uint64_t main_blocks)
{
    if (!bytes || !blocks)
        return false;
    double size = (double)bytes / (double)blocks;
    double main_size = main_blocks ? (double)main_bytes / (double)main_blocks : 0;
    return bytes >= main_bytes / 4 || (size >= main_size / 2 && size <= main_size * 2);
}

void seep_rule_keep_site(struct seep_finding *f, uint32_t site, uint64_t bytes, uint64_t blocks)
{
    f->sites[f->n_sites++] = site;
    f->live_bytes += bytes;
    f->count += blocks;
}

/* What the last steps add lies in the period that the job ended in, together with its teardown: the
 * peak of that period tells. */
static void add_last_step(const struct seep_case *c, uint32_t site, uint64_t *bytes,
                          uint64_t *blocks)
{
    const struct seep_model_site *s = &c->m->sites[site];
    uint64_t peak = s->totals.peak_bytes;

    if (s->n_slots != 1 || s->totals.peak_step <= c->span->last || peak <= *bytes || !*blocks)
        return;
    if ((double)(peak - *bytes) > 3 * c->growth->slope.value)
        return;
    *blocks += (uint64_t)((double)(peak - *bytes) / ((double)*bytes / (double)*blocks) + 0.5);
    if (*blocks > s->totals.allocations)
        *blocks = s->totals.allocations;
    *bytes = peak;
}

void seep_rule_keep_retaining_sites(const struct seep_case *c, struct seep_finding *f)
{
    uint64_t largest = 0, its_blocks = 0, blocks, before;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < c->n_sites; i++) {
            uint64_t bytes = seep_rule_kept_by(c, c->sites[i], &blocks);
            add_last_step(c, c->sites[i], &bytes, &blocks);
            uint64_t start = seep_rule_live_at(c, c->sites[i], 0, &before);
            uint64_t kept = bytes > start ? bytes - start : 0;
            uint64_t fresh = blocks > before ? blocks - before : blocks;
            if (pass == 0 && kept > largest) {
                largest = kept;
                its_blocks = fresh;
            }
            if (pass == 1 && seep_rule_is_alike(kept, fresh, largest, its_blocks))
                seep_rule_keep_site(f, c->sites[i], bytes, blocks);
        }
    }
}

uint64_t seep_rule_short_frees(const struct seep_case *c, const struct seep_model_site *site)
{
    if (!site->extra)
        return site->first_step == site->last_step ? site->totals.frees : 0;
    const struct seep_model_extra *e = &c->m->extras[site->extra - 1];
    return e->lifetimes[0] + e->lifetimes[1];
}

void seep_rule_verdict(struct seep_finding *f, enum seep_pattern pattern,
                       enum seep_severity severity, double confidence)
{
    f->pattern = pattern;
    f->severity = severity;
    f->confidence = confidence < 1 ? confidence : 1;
}

void seep_rule_note_growth(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_growth *g = c->growth;
    char value[SEEP_SIZE_TEXT], low[SEEP_SIZE_TEXT], high[SEEP_SIZE_TEXT];

    f->growth = g->slope;
    f->returns = g->by_process && !(g->past_epoch && c->span->epochs_known);
    seep_finding_note(f, "grows by %s a step (95 %% interval %s to %s), steps %d to %d",
                      seep_text_size(g->slope.value, value), seep_text_size(g->slope.low, low),
                      seep_text_size(g->slope.high, high), (int)g->from, (int)g->to);
    seep_finding_note(f, "rises in %u of %u windows, no plateau, trend z = %.1f", g->shape.rising,
                      g->shape.windows, g->z);
    if (g->by_process)
        seep_finding_note(f, "measured within each process: some ended before the job did");
}
