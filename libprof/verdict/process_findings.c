/* Findings on processes as such: a process keeps starting children that do not end. */
#include "libprof/verdict/diagnosis.h"

#include "libprof/base/text.h"
#include "libprof/thresholds/thresholds.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS = 4 }; /* of the judged steps; a child must start in each of them */

/* The children that a process started after its warm-up. */
struct pile {
    uint32_t *stay; /* [n] those alive to the end */
    size_t n, n_ended;
    bool parts[PARTS];
    uint64_t bytes; /* their private pages */
    int32_t first;  /* step in which the first was started */
};

static bool is_child_of(const struct seep_model *m, uint32_t i, uint32_t parent)
{
    const struct seep_model_process *p = &m->processes[i], *q = &m->processes[parent];

    if (i == parent || p->folder != q->folder || p->execed)
        return false;
    return p->parent == parent + 1 || (!p->parent && p->id.ppid == q->id.pid);
}

static void add_child(const struct seep_model *m, const struct seep_span *span, uint32_t i,
                      struct pile *pile)
{
    const int32_t judged = span->last - span->warm;
    const int32_t begun = seep_model_step_at(m, m->processes[i].start_ns),
                  ended = seep_model_step_at(m, m->processes[i].end_ns);

    if (begun <= span->warm || begun > span->last)
        return;
    if (ended < span->last - judged / SEEP_T_ENDED) {
        pile->n_ended++;
        return;
    }
    if (!pile->n || begun < pile->first)
        pile->first = begun;
    pile->stay[pile->n++] = i;
    pile->parts[(int64_t)(begun - span->warm - 1) * PARTS / judged] = true;
    if (m->processes[i].entry) /* nobody sampled the most recent ones: they count as 0 bytes */
        pile->bytes = seep_sum(pile->bytes, m->processes[i].entry->private_last_bytes);
}

static bool piles_up(const struct pile *pile, const struct seep_job *job)
{
    for (int i = 0; i < PARTS; i++) {
        if (!pile->parts[i])
            return false;
    }
    return pile->n >= SEEP_T_MANY && pile->n_ended * PARTS <= pile->n &&
           pile->bytes >= SEEP_T_LARGE_BYTES && job &&
           pile->bytes * SEEP_T_LARGE_SHARE >= job->pss_peak_bytes;
}

static int add_finding(const struct seep_model *m, uint32_t parent, const struct pile *pile,
                       struct seep_findings *out)
{
    char each[SEEP_SIZE_TEXT], all[SEEP_SIZE_TEXT];
    struct seep_finding f = {
        .pattern = SEEP_PATTERN_UNDETERMINED,
        .severity = SEEP_INFO,
        .confidence = SEEP_CERTAIN,
        .part = SEEP_PART_OTHER,
        .space = m->host,
        .live_bytes = pile->bytes,
        .peak_bytes = pile->bytes,
        .saving_bytes = pile->bytes,
        .first_step = pile->first,
        .steps_to_limit = -1,
        .sites = calloc(1, sizeof *f.sites),
        .processes = calloc(pile->n + 1, sizeof *f.processes),
    };
    struct seep_finding *list = reallocarray(out->list, out->n + 1, sizeof *list);

    out->list = list ? list : out->list;
    if (!f.sites || !f.processes || !list) {
        seep_finding_fini(&f);
        return -SEEP_ENOMEM;
    }
    memcpy(f.processes, pile->stay, pile->n * sizeof *pile->stay);
    f.n_processes = pile->n;
    f.title = seep_text_format("Processes pile up: %zu were started and are still alive", pile->n);
    f.advice = strdup("End and join each process when its work is done: close() or shutdown() a "
                      "pool. Make a loader with persistent workers once, not for each evaluation.");
    seep_finding_note(&f,
                      "Process %u started %zu processes, from step %d to the end; %zu of them "
                      "ended before the job did",
                      m->processes[parent].id.pid, pile->n + pile->n_ended, (int)pile->first,
                      pile->n_ended);
    seep_finding_note(&f, "Each had %s of private pages: %s in all",
                      seep_text_size((double)pile->bytes / (double)pile->n, each),
                      seep_text_size((double)pile->bytes, all));
    out->list[out->n++] = f;
    return 0;
}

int seep_processes_judge(const struct seep_model *m, struct seep_findings *out)
{
    const struct seep_span *span = &out->span;
    uint32_t *stay = calloc(m->n_processes + 1, sizeof *stay);
    int rc = stay ? 0 : -SEEP_ENOMEM;

    for (uint32_t i = 0; i < m->n_processes && !rc && span->last > span->warm; i++) {
        struct pile pile = {.stay = stay};
        if (!m->processes[i].steps)
            continue;
        for (uint32_t k = 0; k < m->n_processes; k++) {
            if (is_child_of(m, k, i))
                add_child(m, span, k, &pile);
        }
        if (piles_up(&pile, m->processes[i].job))
            rc = add_finding(m, i, &pile, out);
    }
    free(stay);
    return rc;
}
