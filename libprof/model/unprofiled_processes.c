#include "libprof/model/unprofiled_processes.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)SEEP_CLASS_HOST == (int)SEEP_SPACE_HOST &&
                   (int)SEEP_CLASS_MMAP == (int)SEEP_SPACE_MMAP &&
                   (int)SEEP_CLASS_SHM == (int)SEEP_SPACE_SHM,
               "what is counted of a process is by class");

/* ---- which they are ------------------------------------------------------------------------ */

static size_t count_entries(const struct seep_model *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_jobs; i++)
        n += m->jobs[i] ? m->jobs[i]->n_processes : 0;
    return n;
}

static void list_bares(struct seep_model *m, const bool *has_profile)
{
    for (size_t i = 0; i < m->n_jobs; i++) {
        const struct seep_job *job = m->jobs[i];
        for (uint32_t k = 0; job && k < job->n_processes; k++) {
            if (job->processes[k].pid && !has_profile[i * SEEP_MAX_PROCESSES + k])
                m->unprofiled[m->n_unprofiled++] =
                    (struct seep_unprofiled_process){&job->processes[k], job};
        }
    }
}

int seep_unprofiled_find(struct seep_model *m)
{
    bool *has_profile = calloc(m->n_jobs + 1, SEEP_MAX_PROCESSES);

    free(m->unprofiled);
    m->n_unprofiled = 0;
    m->unprofiled = calloc(count_entries(m) + 1, sizeof *m->unprofiled);
    if (!has_profile || !m->unprofiled) {
        free(has_profile);
        return -SEEP_ENOMEM;
    }
    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        if (p->entry)
            has_profile[p->folder * (size_t)SEEP_MAX_PROCESSES +
                        (size_t)(p->entry - p->job->processes)] = true;
    }
    list_bares(m, has_profile);
    free(has_profile);
    return 0;
}

bool seep_unprofiled_has_ended(const struct seep_unprofiled_process *bare)
{
    return bare->entry->has_status || bare->job->ended_ns;
}

/* ---- what they held ------------------------------------------------------------------------ */

struct seep_totals seep_count_totals(const struct seep_count *count, bool gone)
{
    uint64_t live =
        count->live_bytes < count->allocated_bytes ? count->live_bytes : count->allocated_bytes;

    return (struct seep_totals){
        .allocations = count->allocations,
        .frees = count->frees,
        .allocated_bytes = count->allocated_bytes,
        .freed_bytes = count->allocated_bytes - (gone ? 0 : live),
        .peak_bytes = count->peak_bytes > live ? count->peak_bytes : live,
    };
}

static void add_counts(struct seep_model *m, const struct seep_count *counts, bool gone)
{
    uint16_t space;

    for (int i = 0; i < SEEP_COUNTED_SPACES; i++) {
        if (!counts[i].allocations && !counts[i].allocated_bytes)
            continue;
        struct seep_totals its = seep_count_totals(&counts[i], gone);
        if (!seep_model_add_space(m, seep_space_class_name((enum seep_space_class)i), &space))
            continue;
        struct seep_totals *t = &m->spaces[space].totals;
        t->allocations = seep_sum(t->allocations, its.allocations);
        t->frees = seep_sum(t->frees, its.frees);
        t->allocated_bytes = seep_sum(t->allocated_bytes, its.allocated_bytes);
        t->freed_bytes = seep_sum(t->freed_bytes, its.freed_bytes);
        uint64_t live = seep_totals_live(t);
        t->peak_bytes = its.peak_bytes > t->peak_bytes ? its.peak_bytes : t->peak_bytes;
        t->peak_bytes = live > t->peak_bytes ? live : t->peak_bytes;
    }
}

void seep_unprofiled_add_spaces(struct seep_model *m)
{
    for (size_t i = 0; i < m->n_processes; i++) { /* of a job without any profile */
        const struct seep_model_process *p = &m->processes[i];
        if (p->entry && seep_unprofiled_is_counted(p->entry))
            add_counts(m, p->entry->counts, p->gone);
    }
    for (size_t i = 0; i < m->n_unprofiled; i++) {
        if (seep_unprofiled_is_counted(m->unprofiled[i].entry))
            add_counts(m, m->unprofiled[i].entry->counts,
                       seep_unprofiled_has_ended(&m->unprofiled[i]));
    }
    for (size_t i = 0; i < m->n_jobs; i++) {
        for (int k = 0; m->jobs[i] && k < SEEP_MAX_FOLDED; k++) {
            if (m->jobs[i]->folded[k].n)
                add_counts(m, m->jobs[i]->folded[k].counts, true);
        }
    }
}

/* ---- a job without any profile ------------------------------------------------------------- */

bool seep_unprofiled_first(const struct seep_job *job, uint32_t *entry)
{
    *entry = 0;
    while (*entry < job->n_processes &&
           !(job->processes[*entry].pid && seep_unprofiled_is_counted(&job->processes[*entry])))
        ++*entry;
    return *entry < job->n_processes;
}
