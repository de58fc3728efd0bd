#include "libprof/model/stages/model_stages.h"

#include "libprof/model/live_level.h"
#include "libprof/model/stages/process_tree.h"
#include "libprof/model/unprofiled_processes.h"

#include <stdlib.h>

/* A time in the step of the process's own peak: that of its largest row nearby. */
static uint64_t time_of_peak(const struct seep_model_process *p, int space)
{
    uint32_t best = 0;

    if (!p->n_rows)
        return p->end_ns;
    for (uint32_t i = 1; i < p->n_rows; i++) {
        const uint64_t *live = p->live + (size_t)space * p->n_rows;
        if (live[i] > live[best])
            best = i;
    }
    return p->row_t_ns[best];
}

static void raise_peak(struct seep_totals *t, uint64_t bytes, int32_t step)
{
    if (bytes > t->peak_bytes) {
        t->peak_bytes = bytes;
        t->peak_step = step;
    }
}

static uint64_t others_at(const struct seep_model *m, size_t but, uint16_t space, uint64_t t_ns)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < m->n_processes; i++)
        sum = seep_sum(sum, i == but ? 0 : seep_process_live_at(&m->processes[i], space, t_ns));
    return sum;
}

/* With more processes than this, their own peaks are not paired with what the others held then. */
enum { PEAK_POINTS = 256, PAIRED_PROCESSES = 256 };

static void find_peak(struct seep_model *m, uint16_t space)
{
    struct seep_totals *t = &m->spaces[space].totals;
    uint64_t span = m->end_ns - m->start_ns;
    bool paired = m->n_processes > 1 && m->n_processes <= PAIRED_PROCESSES;

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        for (int s = 0; s < SEEP_MAX_SPACES; s++) {
            if (p->space_of[s] != space + 1)
                continue;
            uint64_t other = paired ? others_at(m, i, space, time_of_peak(p, s)) : 0;
            raise_peak(t, seep_sum(p->spaces[s].peak_bytes, other), p->spaces[s].peak_step);
        }
        if (paired)
            raise_peak(t, others_at(m, SIZE_MAX, space, p->end_ns),
                       seep_model_step_at(m, p->end_ns));
    }
    for (unsigned i = 0; i <= PEAK_POINTS && m->n_processes > 1; i++) {
        uint64_t at = m->start_ns + (uint64_t)((double)span * i / PEAK_POINTS);
        raise_peak(t, others_at(m, SIZE_MAX, space, at), seep_model_step_at(m, at));
    }
}

/* Rows are only written when something happens: a waiting process has none. At the ends of steps
 * all processes can be added up. Returns 0 or -SEEP_ENOMEM. */
static int find_peak_by_step(struct seep_model *m, uint16_t space, uint32_t *sites)
{
    struct seep_level level = {0};
    size_t n = 0;

    for (uint32_t i = 0; i < m->n_sites; i++) {
        if (m->sites[i].space == space)
            sites[n++] = i;
    }
    int rc = seep_level_sum(m, sites, n, SEEP_LEVEL_ALL, &level);
    for (size_t i = 0; i < level.n && !rc; i++) {
        if (level.points[i].bytes > 0)
            raise_peak(&m->spaces[space].totals, (uint64_t)level.points[i].bytes,
                       level.points[i].step);
    }
    seep_level_fini(&level);
    return rc;
}

/* What a process still held when it was gone has been freed: only what lived to the end, and so was
 * live at once, is live in the job. */
static void add_totals(struct seep_totals *t, const struct seep_totals *its, bool gone)
{
    t->allocations = seep_sum(t->allocations, its->allocations);
    t->frees = seep_sum(t->frees, its->frees);
    t->allocated_bytes = seep_sum(t->allocated_bytes, its->allocated_bytes);
    t->freed_bytes =
        seep_sum(t->freed_bytes, its->allocated_bytes - (gone ? 0 : seep_totals_live(its)));
}

/* Findings may be about host memory even if none of it was recorded. */
static void find_host(struct seep_model *m)
{
    m->host = 0;
    while (m->host < m->n_spaces && m->spaces[m->host].name.class != SEEP_CLASS_HOST)
        m->host++;
    if (m->host == m->n_spaces)
        m->spaces[m->n_spaces++].name = seep_space_parse(seep_space_class_name(SEEP_CLASS_HOST));
}

int seep_job_spaces_add(struct seep_model *m)
{
    uint32_t *sites = malloc((m->n_sites + 1) * sizeof *sites);
    seep_model_begin(m, SEEP_MODEL_SUMMED);
    int rc = sites ? seep_unprofiled_find(m) : -SEEP_ENOMEM;
    if (!rc && m->only_pid)
        rc = seep_process_tree_keep_bares(m, m->only_pid);

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        for (int s = 0; s < SEEP_MAX_SPACES; s++) {
            if (p->space_of[s])
                add_totals(&m->spaces[p->space_of[s] - 1].totals, &p->spaces[s], p->gone);
        }
    }
    for (uint16_t i = 0; i < m->n_spaces && !rc; i++) {
        struct seep_totals *t = &m->spaces[i].totals;
        find_peak(m, i);
        if (m->n_processes > 1)
            rc = find_peak_by_step(m, i, sites);
        raise_peak(t, seep_totals_live(t), (int32_t)m->n_steps);
    }
    if (!rc)
        seep_unprofiled_add_spaces(m);
    find_host(m);
    free(sites);
    return rc;
}
