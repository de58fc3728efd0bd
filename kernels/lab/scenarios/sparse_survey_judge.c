/* What `seep-lab verify` holds of the survey: what one seed shows may be chance. */
#include "kernels/lab/scenarios/sparse_survey.h"

#include <stdio.h>

/* Of SEEP_SPARSE_SEEDS: "nearly all", and as few as to be nearly none. */
enum { NEARLY_ALL = 18, FEW = 2, SOON_STEPS = 20 };

static const struct seep_sparse_cure none,
    every_10 = {.empty_every = 10}, every_step = {.empty_every = 1},
    expandable = {.expandable = true}, padded = {.padded = true};

/* A GPU on which emptying every 10 steps is not enough, as a share of the default one. */
static const double small_share = 0.9;

static void add(struct seep_rows *rows, bool pass, const char *name, const char *expected,
                const struct seep_sparse_survey *s)
{
    seep_rows_add(rows, pass, name, expected,
                  "%u of %d out of memory, %u of them where the step fits, median step %zu of %d",
                  s->full, (int)SEEP_SPARSE_SEEDS, s->fit_alone, s->median, (int)SEEP_SPARSE_STEPS);
}

static void judge(const struct seep_sparse_survey *of_none,
                  const struct seep_sparse_survey *of_every_10,
                  const struct seep_sparse_survey *of_every_step, struct seep_rows *rows)
{
    add(rows, of_none->full >= NEARLY_ALL && of_none->fit_alone == of_none->full, "20 seeds: none",
        ">= 18 out of memory, all where the step fits", of_none);
    add(rows, of_every_10->full < of_none->full && of_every_10->median > 2 * of_none->median,
        "20 seeds: empty-every-10", "fewer, and more than twice as late", of_every_10);
    add(rows, of_every_step->full <= of_every_10->full, "20 seeds: empty-every-step",
        "no more than every 10 steps", of_every_step);
}

void seep_sparse_survey_judge(struct seep_rows *rows)
{
    struct seep_sparse_survey of[4], of_padded, of_small;
    const struct seep_sparse_cure *const cures[4] = {&none, &every_10, &every_step, &expandable};
    size_t bytes = seep_sparse_capacity_bytes;
    struct seep_error err = {0};
    int rc = 0;

    for (int i = 0; i < 4 && !rc; i++)
        rc = seep_sparse_survey_run(cures[i], bytes, &of[i], &err);
    if (!rc)
        rc = seep_sparse_survey_run(&padded, bytes, &of_padded, &err);
    if (!rc)
        rc = seep_sparse_survey_run(&every_10, (size_t)(small_share * (double)bytes), &of_small,
                                    &err);
    if (rc) {
        seep_rows_add(rows, false, "20 seeds", "trainings of the model", "%s", seep_error_name(rc));
        return;
    }
    judge(&of[0], &of[1], &of[2], rows);
    add(rows, of[3].full <= FEW && !of[3].fit_alone, "20 seeds: expandable",
        "at most 2 out of memory, where the step is too large", &of[3]);
    add(rows, of_padded.full == SEEP_SPARSE_SEEDS && of_padded.median < SOON_STEPS,
        "20 seeds: padded", "all out of memory, within 20 steps", &of_padded);
    add(rows, of_small.full >= NEARLY_ALL, "20 seeds: empty-every-10, on a GPU of 90 %",
        ">= 18 out of memory: it only delays", &of_small);
}
