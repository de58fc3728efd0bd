/* What each process had as a whole: by measures, by spaces, and by its place in the job. */
#include "libprof/digest/fill/fill_parts.h"

#include "libprof/digest/digest_names.h"
#include "libprof/digest/digest_rows.h"
#include "libprof/digest/digest_words.h"

#include <stdio.h>
#include <stdlib.h>

static void add_measure(struct seep_digest_fill *f, uint32_t process,
                        enum seep_digest_measure measure, uint64_t value)
{
    const uint8_t role = seep_digest_fill_role(&f->code->model->processes[process]);
    const uint32_t subject = seep_digest_text(f->d, seep_digest_measures[measure]);
    const struct seep_digest_who who = seep_digest_fill_who(f, process, value);
    const struct seep_digest_key key = {
        .kind = SEEP_DIGEST_PROCESSES, .subject = subject, .bucket = seep_digest_bucket(value)};

    seep_digest_fill_row(f, key, process, value, NULL, NULL);
    seep_digest_add_top(f->d, role, subject, false, &who);
    seep_digest_add_top(f->d, role, subject, true, &who);
}

static void add_end(struct seep_digest_fill *f, uint32_t process)
{
    const struct seep_process_end *end = &f->code->model->processes[process].ended;
    char text[24];

    if (end->kind == SEEP_ENDED_EXIT)
        snprintf(text, sizeof text, "exit %d", end->value & 255);
    else if (end->kind == SEEP_ENDED_SIGNAL)
        snprintf(text, sizeof text, "signal %d", end->value & 127);
    else
        snprintf(text, sizeof text, end->kind == SEEP_ENDED_RUNNING ? "running" : "unknown");
    const struct seep_digest_key key = {.kind = SEEP_DIGEST_ENDS,
                                        .subject = seep_digest_text(f->d, text)};
    seep_digest_fill_row(f, key, process, 0, NULL, NULL);
}

/* ---- spaces ------------------------------------------------------------------------------ */

/* A row of the timeline holds until the next one. */
static void add_course(struct seep_digest_fill *f, const struct seep_model_process *p, int space,
                       uint64_t course[SEEP_DIGEST_COURSE])
{
    const struct seep_model *m = f->code->model;
    struct seep_digest_area area = {0};

    for (uint32_t i = 0; p->live && i < p->n_rows; i++) {
        const uint64_t bytes = p->live[(size_t)space * p->n_rows + i];
        const int64_t from = seep_model_step(m, p, p->row_period[i]);
        const int64_t end = p->gone ? p->end_step : INT32_MAX;
        const int64_t to =
            i + 1 < p->n_rows ? (int64_t)seep_model_step(m, p, p->row_period[i + 1]) - 1 : end;
        seep_digest_area_add(f, &area, from, to, bytes);
    }
    seep_digest_area_course(&area, course);
}

static void add_spaces(struct seep_digest_fill *f, uint32_t process)
{
    const struct seep_model *m = f->code->model;
    const struct seep_model_process *p = &m->processes[process];

    for (int i = 0; i < SEEP_MAX_SPACES && !f->d->failed; i++) {
        uint64_t course[SEEP_DIGEST_COURSE];
        if (!p->space_of[i])
            continue;
        const uint64_t peak = p->spaces[i].peak_bytes;
        const struct seep_digest_key key = {
            .kind = SEEP_DIGEST_SPACES,
            .subject = seep_digest_text(f->d, m->spaces[p->space_of[i] - 1].name.text),
            .bucket = seep_digest_bucket(peak)};
        add_course(f, p, i, course);
        seep_digest_fill_row(f, key, process, peak, course, NULL);
    }
}

/* What was taken of GPUs; without the driver's figures, what tensors took. */
static uint64_t gpu_peak(const struct seep_model *m, const struct seep_model_process *p)
{
    uint64_t devices = 0, tensors = 0;

    for (int i = 0; i < SEEP_MAX_SPACES; i++) {
        const enum seep_space_class class =
            p->space_of[i] ? m->spaces[p->space_of[i] - 1].name.class : SEEP_CLASS_OTHER;
        if (class == SEEP_CLASS_DEVICE)
            devices = seep_digest_sum(devices, p->spaces[i].peak_bytes);
        if (class == SEEP_CLASS_TENSOR)
            tensors = seep_digest_sum(tensors, p->spaces[i].peak_bytes);
    }
    return devices ? devices : tensors;
}

void seep_digest_fill_processes(struct seep_digest_fill *f)
{
    const struct seep_model *m = f->code->model;

    for (uint32_t i = 0; i < m->n_processes && !f->d->failed; i++) {
        const struct seep_model_process *p = &m->processes[i];
        const uint64_t gpu = gpu_peak(m, p);
        add_measure(f, i, SEEP_DIGEST_MEASURE_RSS, p->rss_peak_bytes);
        if (gpu)
            add_measure(f, i, SEEP_DIGEST_MEASURE_DEVICE, gpu);
        if (f->growth[i])
            add_measure(f, i, SEEP_DIGEST_MEASURE_GROWTH, f->growth[i]);
        if (f->collective[i])
            add_measure(f, i, SEEP_DIGEST_MEASURE_COLLECTIVE, f->collective[i]);
        if (p->steps)
            add_measure(f, i, SEEP_DIGEST_MEASURE_STEPS, p->steps);
        add_end(f, i);
        add_spaces(f, i);
        if (p->id.rank >= 0)
            seep_digest_add_rank(f->d, (uint64_t)p->id.rank);
        if (p->id.world_size > 0)
            seep_digest_add_to(f->d, SEEP_DIGEST_NUMBER_WORLD, (uint64_t)p->id.world_size);
    }
}

/* ---- nodes and local ranks --------------------------------------------------------------- */

/* Launchers give neighbouring ranks to a node. Without their word, each rank is a node. */
static struct seep_digest_cell place_of(const struct seep_process_identity *id)
{
    struct seep_digest_cell cell = {.node = (uint32_t)id->rank, .n = 1};

    if (id->local_rank < 0)
        return cell;
    if (id->node >= 0)
        cell.node = (uint32_t)id->node;
    else if (id->local_size > 0)
        cell.node = (uint32_t)(id->rank / id->local_size);
    else
        return cell;
    cell.local_rank = (uint32_t)id->local_rank;
    return cell;
}

static int by_rank(const void *a, const void *b, void *context)
{
    const struct seep_model *m = context;
    const int32_t p = m->processes[*(const uint32_t *)a].id.rank;
    const int32_t q = m->processes[*(const uint32_t *)b].id.rank;

    return (p > q) - (p < q);
}

static void count_in(struct seep_digest_fill *f, struct seep_digest_cell *cell, uint32_t process)
{
    const struct seep_model *m = f->code->model;
    const struct seep_model_process *p = &m->processes[process];
    uint64_t *sum = cell->sum;

    sum[SEEP_DIGEST_MEASURE_RSS] = seep_digest_sum(sum[SEEP_DIGEST_MEASURE_RSS], p->rss_peak_bytes);
    sum[SEEP_DIGEST_MEASURE_DEVICE] =
        seep_digest_sum(sum[SEEP_DIGEST_MEASURE_DEVICE], gpu_peak(m, p));
    sum[SEEP_DIGEST_MEASURE_GROWTH] =
        seep_digest_sum(sum[SEEP_DIGEST_MEASURE_GROWTH], f->growth[process]);
    sum[SEEP_DIGEST_MEASURE_COLLECTIVE] =
        seep_digest_sum(sum[SEEP_DIGEST_MEASURE_COLLECTIVE], f->collective[process]);
    if (p->steps > sum[SEEP_DIGEST_MEASURE_STEPS])
        sum[SEEP_DIGEST_MEASURE_STEPS] = p->steps;
}

void seep_digest_fill_cells(struct seep_digest_fill *f)
{
    const struct seep_model *m = f->code->model;
    uint32_t *list = calloc(m->n_processes + 1, sizeof *list);

    f->d->failed |= !list;
    for (uint32_t i = 0; list && i < m->n_processes; i++)
        list[i] = i;
    if (list)
        qsort_r(list, m->n_processes, sizeof *list, by_rank, (void *)m);
    for (size_t i = 0; i < m->n_processes && !f->d->failed;) {
        const int32_t rank = m->processes[list[i]].id.rank;
        struct seep_digest_cell cell = place_of(&m->processes[list[i]].id);
        for (; i < m->n_processes && m->processes[list[i]].id.rank == rank; i++)
            count_in(f, &cell, list[i]);
        for (int k = 0; k < SEEP_N_DIGEST_MEASURES; k++)
            cell.most[k] = cell.sum[k];
        if (rank >= 0)
            seep_digest_add_cell(f->d, &cell);
    }
    free(list);
}
