#include "libprof/model/model.h"

#include <stdlib.h>
#include <string.h>

const char *seep_process_role_name(enum seep_process_role role)
{
    static const char *const names[] = {
#define SEEP_PROCESS_ROLE(id, name) name,
#include "libprof/contract.h"
#include "libprof/words/process_roles.def"
#undef SEEP_PROCESS_ROLE
    };

    return names[role];
}

void seep_process_close(struct seep_model_process *p)
{
    seep_profile_close(p->profile);
    p->profile = NULL;
}

void seep_process_fini(struct seep_model_process *p)
{
    seep_process_close(p);
    free(p->texts);
    free(p->samples.list);
    free(p->looks.list);
    free(p->threads.list);
    free(p->epoch_periods);
    free(p->row_t_ns);
    free(p->row_rss);
    free(p->row_anonymous);
    free(p->row_period);
    free(p->live);
}

void seep_model_fini(struct seep_model *m)
{
    for (size_t i = 0; i < m->n_processes; i++)
        seep_process_fini(&m->processes[i]);
    for (size_t i = 0; i < m->n_jobs; i++)
        free(m->jobs[i]);
    for (size_t i = 0; i < m->n_not_read; i++) {
        free(m->not_read[i].name);
        free(m->not_read[i].reason);
    }
    free(m->processes);
    free(m->unprofiled);
    free(m->jobs);
    free(m->not_read);
    free(m->ooms);
    free(m->what_ifs);
    for (size_t i = 0; i < m->n_layouts; i++)
        free(m->layouts[i].blocks);
    free(m->layouts);
    free(m->sites);
    free(m->slots);
    for (size_t i = 0; i < m->n_extras; i++)
        seep_site_counts_fini(&m->extras[i].counts);
    free(m->extras);
    free(m->points);
    free(m->epoch_starts);
    free(m->runs);
    seep_hash_fini(&m->site_index);
    seep_dictionary_fini(&m->dict);
    memset(m, 0, sizeof *m);
}

void seep_model_begin(struct seep_model *m, enum seep_model_stage stage)
{
    SEEP_CHECK(m->stage + 1 == stage);
    m->stage = stage;
}

void seep_model_not_read(struct seep_model *m, const char *name, int code, const char *reason)
{
    struct seep_not_read *grown = realloc(m->not_read, (m->n_not_read + 1) * sizeof *grown);

    if (!grown)
        return;
    m->not_read = grown;
    grown[m->n_not_read].name = strdup(name);
    grown[m->n_not_read].reason = strdup(reason);
    grown[m->n_not_read].code = code < 0 ? -code : code;
    if (grown[m->n_not_read].name && grown[m->n_not_read].reason) {
        m->n_not_read++;
    } else {
        free(grown[m->n_not_read].name);
        free(grown[m->n_not_read].reason);
    }
}

bool seep_model_add_space(struct seep_model *m, const char *name, uint16_t *space)
{
    struct seep_space_name parsed = seep_space_parse(name);

    for (*space = 0; *space < m->n_spaces; ++*space) {
        if (strcmp(m->spaces[*space].name.text, parsed.text) == 0)
            return true;
    }
    if (m->n_spaces == SEEP_MODEL_MAX_SPACES)
        return false;
    m->spaces[m->n_spaces++] = (struct seep_model_space){.name = parsed, .recorded = true};
    return true;
}

bool seep_model_tensor_space(const struct seep_model *m, uint16_t device, uint16_t *tensors)
{
    for (*tensors = 0; *tensors < m->n_spaces; ++*tensors) {
        if (seep_space_is_tensors_of(&m->spaces[*tensors].name, &m->spaces[device].name))
            return true;
    }
    return false;
}

uint32_t seep_model_find_site(const struct seep_model *m, uint32_t stack, uint16_t space)
{
    const uint64_t hash = seep_hash_two(stack, space);
    uint32_t at = seep_hash_begin(&m->site_index, hash), id;

    while ((id = seep_hash_next(&m->site_index, hash, &at)) != SEEP_HASH_NONE) {
        if (m->sites[id].stack == stack && m->sites[id].space == space)
            break;
    }
    return id;
}

static int32_t clamp_step(int64_t step)
{
    const int64_t bound = INT32_MAX / 2;

    return (int32_t)(step > bound ? bound : step < -bound ? -bound : step);
}

/* Steps counted in hindsight are spread evenly over the periods in which they passed. */
static int64_t own_step(const struct seep_model_process *p, int64_t period)
{
    const int64_t first = p->axis_first, last = p->axis_last, back = p->axis_back;

    if (period < first)
        return period - first + 1;
    if (period >= last)
        return period - last + back;
    return 1 + (period - first) * (back - 1) / (last - first);
}

static int32_t step_in_run(const struct seep_model_run *run, const struct seep_model_process *p,
                           int64_t period)
{
    int64_t step = own_step(p, period);

    if (run) {
        step += run->base;
        step = step < run->low ? run->low : step > run->high ? run->high : step;
    }
    return clamp_step(step);
}

static const struct seep_model_run *run_at(const struct seep_model *m, uint64_t t_ns)
{
    size_t low = 0, high = m->n_runs;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (m->runs[middle].start_ns <= t_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return m->n_runs ? &m->runs[low ? low - 1 : 0] : NULL;
}

/* How many rows of a process's timeline are no later than a time. */
static uint32_t rows_until(const struct seep_model_process *p, uint64_t t_ns)
{
    uint32_t low = 0, high = p->n_rows;

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (p->row_t_ns[middle] <= t_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Steps of a run by its leader's timeline: its rows say which period it was in when. */
static int32_t step_by_clock(const struct seep_model *m, uint64_t t_ns)
{
    const struct seep_model_run *run = run_at(m, t_ns);
    const struct seep_model_process *p = &m->processes[run ? run->leader : m->main];
    const uint32_t low = rows_until(p, t_ns);

    if (low == 0)
        return step_in_run(run, p, 0);
    const uint64_t *row_ns = &p->row_t_ns[low - 1];
    const uint32_t *row = &p->row_period[low - 1];
    double period = row[0];
    if (low < p->n_rows && row_ns[1] > row_ns[0] && row[1] > row[0])
        period += (double)(t_ns - row_ns[0]) / (double)(row_ns[1] - row_ns[0]) * (row[1] - row[0]);
    return step_in_run(run, p, (int64_t)period);
}

int32_t seep_model_step_at(const struct seep_model *m, uint64_t t_ns)
{
    if (m->step_source != SEEP_STEP_TIME)
        return step_by_clock(m, t_ns);
    uint64_t since = t_ns > m->start_ns ? t_ns - m->start_ns : 0;
    return clamp_step((int64_t)(since / (SEEP_TIME_SLICE_MS * UINT64_C(1000000))) + 1);
}

int32_t seep_model_step(const struct seep_model *m, const struct seep_model_process *p,
                        uint32_t period)
{
    if (p->axis_steps)
        return step_in_run(m->n_runs ? &m->runs[p->run] : NULL, p, period);
    uint64_t t = p->axis_start_ns + (uint64_t)period * SEEP_TIME_SLICE_MS * UINT64_C(1000000);
    return seep_model_step_at(m, t);
}

int32_t seep_model_first_step(const struct seep_model *m, const struct seep_model_process *p,
                              uint32_t period)
{
    const int32_t step = seep_model_step(m, p, period);
    const int32_t begun = period ? seep_model_step(m, p, period - 1) + 1 : step;

    return begun < step ? begun : step;
}

/* ---- what a process held when ---------------------------------------------------------------- */

/* Index of the latest row no later than t, or -1. */
static int64_t row_at(const struct seep_model_process *p, uint64_t t_ns)
{
    if (t_ns < p->start_ns || (p->gone && t_ns > p->end_ns))
        return -1;
    return (int64_t)rows_until(p, t_ns) - 1;
}

uint64_t seep_process_live_at(const struct seep_model_process *p, uint16_t space, uint64_t t_ns)
{
    int64_t row = row_at(p, t_ns);
    bool at_end = t_ns == p->end_ns || (t_ns > p->end_ns && !p->gone);
    uint64_t sum = 0;

    /* A process too short for a row of its own had its final state throughout. */
    if (t_ns >= p->start_ns && t_ns <= p->end_ns && !p->n_rows)
        at_end = true;
    for (int s = 0; s < SEEP_MAX_SPACES; s++) {
        if (p->space_of[s] != space + 1)
            continue;
        if (at_end)
            sum = seep_sum(sum, seep_totals_live(&p->spaces[s]));
        else if (row >= 0)
            sum = seep_sum(sum, p->live[(size_t)s * p->n_rows + (size_t)row]);
    }
    return sum;
}

uint64_t seep_process_rss_at(const struct seep_model_process *p, uint64_t t_ns)
{
    int64_t row = row_at(p, t_ns);

    return row < 0 ? 0 : p->row_rss[row];
}

bool seep_process_used_at(const struct seep_model_process *p, unsigned device, uint64_t t_ns,
                          uint64_t *bytes)
{
    const struct seep_device_look *last = NULL;

    for (uint32_t i = 0; i < p->looks.n; i++) {
        const struct seep_device_look *look = &p->looks.list[i];
        if (look->device == device && look->t_ns <= t_ns)
            last = look;
    }
    *bytes = last && !(p->gone && t_ns > p->end_ns) ? last->used_bytes : 0;
    return last != NULL;
}
