/* What loader workers keep, each for itself: copies that every worker holds, and what has been
 * sent. */
#include "libprof/base/text.h"
#include "libprof/patterns/pattern_judge.h"
#include "libprof/signs/prospect.h"
#include "libprof/signs/work_areas.h"
#include "libprof/thresholds/thresholds.h"

#include <math.h>

/* ---- aliased-cache: collate writes into what lives on ---------------------------------------- */

/* What a loader's worker made from several items and moved to shared memory. From then on it is the
 * trainer's, and the worker has no use for it. */
static bool is_sent_by_worker(const struct seep_case *c)
{
    return seep_case_space(c)->class == SEEP_CLASS_SHM && c->part == SEEP_PART_LOADER &&
           seep_dictionary_in_worker_loop(&c->m->dict, c->m->sites[c->sites[0]].stack);
}

/* Batches that wait to be fetched are as many from the first steps on. Workers that share out the
 * items anew in each epoch see their last ones only after several. */
static bool is_gathered_beyond_prefetch(const struct seep_case *c)
{
    const struct seep_growth *g = &c->signs->growth;
    const bool filled = !g->growing && g->plateau_gradual &&
                        g->plateau_rise >= SEEP_T_CACHE_BYTES && c->span->epoch_passed &&
                        g->plateau >= (1 - SEEP_T_PLATEAU_OFF) * c->span->epoch_steps;

    return (g->growing && seep_prospect_is_open(c->signs->prospect) && c->signs->enough_steps) ||
           c->signs->fading.fades || filled;
}

/* Whatever holds it in the worker, the line wrote it there. No second pass needs to be seen for
 * that: workers may live for one only. */
bool seep_case_judge_sent_and_kept(const struct seep_case *c, struct seep_finding *f)
{
    char each[SEEP_SIZE_TEXT];

    if (!is_sent_by_worker(c) || !is_gathered_beyond_prefetch(c))
        return false;
    seep_case_keep_retaining(c, f);
    if (f->count < SEEP_T_MANY || f->live_bytes < SEEP_T_CACHE_BYTES)
        return false;
    seep_finding_verdict(f, SEEP_PATTERN_ALIASED_CACHE, SEEP_RETENTION, SEEP_CERTAIN);
    if (c->signs->growth.growing)
        seep_case_note_growth(c, f);
    f->plateau_step = c->signs->growth.growing ? 0 : c->signs->growth.plateau;
    f->saving_bytes = f->live_bytes;
    seep_finding_note(f,
                      "Loader workers allocated %llu blocks of about %s, sent them to the trainer, "
                      "and still keep them",
                      (unsigned long long)f->count,
                      seep_text_size((double)f->live_bytes / (double)f->count, each));
    return true;
}

/* ---- worker-multiplication: what one worker holds, every worker holds ----------------------- */

/* Workers of one epoch are alive together, then those of the next replace them. */
static uint32_t at_a_time(const struct seep_case *c, const struct seep_worker_signs *w)
{
    const int64_t most = seep_level_highest(&c->signs->growth.level).bytes;
    double each = (double)w->sum_bytes / w->n;
    double n = floor((double)most / each + 0.5);
    return n < 1 ? 1 : n > w->n ? w->n : (uint32_t)n;
}

static void keep_held_sites(const struct seep_case *c, struct seep_finding *f)
{
    struct seep_held main = {0};

    for (size_t i = 0; i < c->n_sites; i++) {
        if (c->signs->sites[i].kept.bytes > main.bytes && !seep_is_work_area(c->m, c->sites[i]))
            main = c->signs->sites[i].kept;
    }
    for (size_t i = 0; i < c->n_sites; i++) {
        const struct seep_held its = c->signs->sites[i].kept;
        if (seep_case_is_alike(its, main) && !seep_is_work_area(c->m, c->sites[i]))
            seep_finding_keep(f, c->sites[i], its.bytes, its.blocks);
    }
}

bool seep_is_worker_multiplication(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_worker_signs *w = &c->signs->workers;
    char size[SEEP_SIZE_TEXT], each[SEEP_SIZE_TEXT];

    if (w->n < SEEP_T_AGAIN || w->each_bytes < SEEP_T_PEAK_BYTES ||
        w->others_bytes > w->each_bytes || (c->signs->growth.growing && !c->signs->fading.fades) ||
        is_sent_by_worker(c))
        return false;
    uint32_t together = at_a_time(c, w);
    uint64_t mean = w->sum_bytes / w->n, total = mean * together;
    if (together < SEEP_T_AGAIN || !seep_case_is_large(c, total, SEEP_T_WORKER_SHARE))
        return false;
    keep_held_sites(c, f);
    f->live_bytes = total;
    f->count = w->sum_blocks / w->n * together;
    f->saving_bytes = total - mean;
    seep_finding_verdict(f, SEEP_PATTERN_WORKER_MULTIPLICATION, SEEP_RETENTION, SEEP_CERTAIN);
    seep_finding_note(f, "%u loader workers at a time hold their own %s each: %s in total",
                      together, seep_text_size((double)mean, each),
                      seep_text_size((double)total, size));
    seep_finding_note(f, "%u worker processes did so over the whole run", w->n);
    return f->n_sites > 0;
}
