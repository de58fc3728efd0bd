/* The variants on a card of 8 GB: who runs out of memory, what seep says of it, and what else each
 * cure is worth. */
#include "kernels/lab/rows.h"
#include "kernels/lab/scenarios/splat_figures.h"

#include <math.h>
#include <stdio.h>

static double measured(const struct seep_outcome *outcomes, enum seep_splat_variant v,
                       const char *name)
{
    return seep_rows_number(outcomes[v].measured, name);
}

/* What seep's report says of the refused request, beside the job's own count. */
static void judge_refusal(const struct seep_outcome *outcome, struct seep_rows *rows)
{
    static const struct {
        const char *list, *reported, *measured, *text;
    } figures[] = {
        {"out_of_memory", "asked_bytes", "refused_bytes", "the refused request"},
        {"devices", "capacity_bytes", "capacity_bytes", "capacity"},
        {"out_of_memory", "reserved_bytes", "refused_reserved_bytes", "reserved then"},
        {"out_of_memory", "allocated_bytes", "refused_live_bytes", "live then"},
    };

    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const json_t *list = json_object_get(outcome->report, figures[i].list);
        double seen = seep_rows_number(json_array_get(list, 0), figures[i].reported);
        double own = seep_rows_number(outcome->measured, figures[i].measured);
        char name[96], expected[64];
        snprintf(name, sizeof name, "%s: %s, as seep reports it", outcome->variant->name,
                 figures[i].text);
        snprintf(expected, sizeof expected, "%.2f MB, as the job counted", own / 1e6);
        seep_rows_add(rows, isfinite(own) && seen == own, name, expected, "%.2f MB", seen / 1e6);
    }
}

static void judge_death(const struct seep_outcome *outcomes, enum seep_splat_variant v,
                        struct seep_rows *rows)
{
    const char *variant = outcomes[v].variant->name;
    double unused =
        measured(outcomes, v, "capacity_bytes") - measured(outcomes, v, "refused_live_bytes");
    double share =
        measured(outcomes, v, "gaussians_last") / measured(outcomes, v, "gaussians_wanted");
    char name[96];

    snprintf(name, sizeof name, "%s: unused memory of the card over the refused request", variant);
    seep_rows_add(rows, unused >= measured(outcomes, v, "refused_bytes"), name,
                  "at least 1: it would have fitted", "%.2f times",
                  unused / measured(outcomes, v, "refused_bytes"));
    snprintf(name, sizeof name, "%s: Gaussians there are when it fails", variant);
    seep_rows_add(rows, share >= 0.8 && share <= 1, name, "80 to 100 % of 4.4 million", "%.0f %%",
                  100 * share);
    judge_refusal(&outcomes[v], rows);
}

static void judge_end(const struct seep_outcome *outcomes, enum seep_splat_variant v,
                      struct seep_rows *rows)
{
    double reserved = measured(outcomes, v, "reserved_peak_bytes");
    double seen = seep_rows_number(outcomes[v].report, "spaces.device:0.peak_bytes");
    double live = seep_rows_number(outcomes[v].report, "spaces.tensor:0.peak_bytes");
    char name[96];

    snprintf(name, sizeof name, "%s: most reserved over most live, as seep sees them",
             outcomes[v].variant->name);
    seep_rows_add(rows, seen >= live && seen <= 1.1 * live, name, "1 to 1.1", "%.3f of %.2f GB",
                  seen / live, live / 1e9);
    snprintf(name, sizeof name, "%s: most reserved, seep over the job", outcomes[v].variant->name);
    seep_rows_add_near(rows, name, seen / reserved, 1, 0.01, "");
}

/* 3DGS densifies from step 500 to 15,000 every 100. A Gaussian is in about three tiles; of each
 * such pair two keys of 64 bits, two indices of 32 and four more bytes for sorting are kept. */
static void judge_course(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    enum seep_splat_variant v = SEEP_SPLAT_CAT_EXPANDABLE;

    seep_rows_add_near(rows, "cat-expandable: densifications, steps 500 to 15,000 by 100",
                       measured(outcomes, v, "densifications"), (15000 - 500) / 100, 0, "");
    seep_rows_add_near(rows, "cat-expandable: bytes of pairs for each Gaussian, 3 · 28",
                       measured(outcomes, v, "pair_bytes_a_gaussian"), 3 * 28, 0.02, "B");
}

void seep_splat_judge_card(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    double kept = measured(outcomes, SEEP_SPLAT_CAT, "reserved_at_half_bytes");
    double emptied = measured(outcomes, SEEP_SPLAT_CAT_EMPTIED, "reserved_at_half_bytes");

    judge_death(outcomes, SEEP_SPLAT_CAT, rows);
    judge_death(outcomes, SEEP_SPLAT_CAT_EMPTIED, rows);
    judge_course(outcomes, rows);
    judge_end(outcomes, SEEP_SPLAT_CAT_EXPANDABLE, rows);
    judge_end(outcomes, SEEP_SPLAT_PREALLOCATED, rows);
    seep_rows_add(rows, kept >= 2 * emptied, "reserved with half of the Gaussians: cat, emptied",
                  "at least twice as much", "%.2f and %.2f GB", kept / 1e9, emptied / 1e9);
}
