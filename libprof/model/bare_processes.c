#include "libprof/model/bare_processes.h"

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
                m->bares[m->n_bares++] = (struct seep_bare){&job->processes[k], job};
        }
    }
}

int seep_bares_find(struct seep_model *m)
{
    bool *has_profile = calloc(m->n_jobs + 1, SEEP_MAX_PROCESSES);

    free(m->bares);
    m->n_bares = 0;
    m->bares = calloc(count_entries(m) + 1, sizeof *m->bares);
    if (!has_profile || !m->bares) {
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

bool seep_bare_has_ended(const struct seep_bare *bare)
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

void seep_bares_add_spaces(struct seep_model *m)
{
    for (size_t i = 0; i < m->n_processes; i++) { /* a stand-in */
        const struct seep_model_process *p = &m->processes[i];
        if (p->entry && seep_bare_is_counted(p->entry))
            add_counts(m, p->entry->counts, p->gone);
    }
    for (size_t i = 0; i < m->n_bares; i++) {
        if (seep_bare_is_counted(m->bares[i].entry))
            add_counts(m, m->bares[i].entry->counts, seep_bare_has_ended(&m->bares[i]));
    }
    for (size_t i = 0; i < m->n_jobs; i++) {
        for (int k = 0; m->jobs[i] && k < SEEP_MAX_FOLDED; k++) {
            if (m->jobs[i]->folded[k].n)
                add_counts(m, m->jobs[i]->folded[k].counts, true);
        }
    }
}

/* ---- a job without any profile ------------------------------------------------------------- */

static void describe(struct seep_header *h, const struct seep_job *job,
                     const struct seep_process *entry)
{
    h->magic = SEEP_PROFILE_MAGIC;
    h->version = SEEP_FORMAT_VERSION;
    h->header_bytes = SEEP_HEADER_BYTES;
    h->chunk_bytes = SEEP_CHUNK_BYTES;
    h->pid = entry->pid;
    h->ppid = entry->ppid;
    h->start_ns = entry->start_ns;
    h->start_unix_ns = job->started_unix_ns;
    h->end_ns = job->ended_ns;
    h->last_ns = job->ended_ns ? job->ended_ns : entry->start_ns;
    h->inherited_end = SEEP_HEADER_BYTES;
    h->process_plus_1 = (uint32_t)(entry - job->processes) + 1;
    h->rank = -1;
    memcpy(h->host, job->host, sizeof h->host);
    memcpy(h->cwd, job->cwd, sizeof h->cwd);
    if (job->argv_bytes) {
        memcpy(h->argv, job->argv, job->argv_bytes);
        h->argv_bytes = job->argv_bytes;
    } else if (entry->name[0]) {
        memcpy(h->argv, entry->name, sizeof entry->name);
        h->argv_bytes = (uint32_t)strlen(entry->name) + 1;
    }
    h->check = seep_header_check(h);
}

int seep_bare_stand_in(const struct seep_job *job, struct seep_profile **out)
{
    uint32_t i = 0;

    *out = NULL;
    while (i < job->n_processes &&
           !(job->processes[i].pid && seep_bare_is_counted(&job->processes[i])))
        i++;
    if (i == job->n_processes)
        return 0;
    uint8_t *bytes = calloc(1, SEEP_HEADER_BYTES);
    if (!bytes)
        return -SEEP_ENOMEM;
    describe((struct seep_header *)bytes, job, &job->processes[i]);
    int rc =
        seep_profile_from_bytes("counted" SEEP_PROFILE_SUFFIX, bytes, SEEP_HEADER_BYTES, out, NULL);
    free(bytes);
    return rc == -SEEP_ENOMEM ? rc : 0;
}
