#include "libprof/measure/resident/resident_instant.h"

#include <stdlib.h>

/* Samples describe an instant if at most 1/NEAR has changed since they were taken, and describe the
 * peak if it is at most that much above them. */
enum { NEAR = 10 };

/* In the order in which they apply at one time: a process's last values still count when another
 * one ends at that time. */
enum kind { ROW, SAMPLE, END };

struct event {
    uint64_t t_ns;
    size_t process;
    enum kind kind;
    uint64_t bytes;
    uint64_t free_bytes; /* of a sample: free in malloc's arenas, part of `bytes` */
    bool in_step;        /* of a sample: before the training is over */
};

/* What is known of a process as time goes on. */
struct now {
    uint64_t row, sample; /* RSS by the last row and the last sample */
    uint64_t free;        /* of the sample */
    uint64_t row_then;    /* the row when the sample was taken */
    bool has_row, has_sample;
};

struct sweep {
    const struct seep_model *m;
    size_t n_events;
    struct event *events;
    struct now *now;                       /* [n_processes] */
    uint64_t rows, samples, free, changed; /* sums over live processes */
    uint64_t highest;                      /* of rows and samples */
    uint64_t best_used, best_ns;           /* of samples near that */
};

/* ---- events -------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct event *p = a, *q = b;

    if (p->t_ns != q->t_ns)
        return p->t_ns < q->t_ns ? -1 : 1;
    if (p->kind != q->kind)
        return p->kind < q->kind ? -1 : 1;
    if (p->process != q->process)
        return p->process < q->process ? -1 : 1;
    return (p->bytes > q->bytes) - (p->bytes < q->bytes);
}

int32_t seep_rss_last_step(const struct seep_model *m, const struct seep_model_process *p)
{
    const struct seep_model_run *run = p->axis_steps && m->n_runs ? &m->runs[p->run] : NULL;

    if (m->step_source == SEEP_STEP_TIME)
        return INT32_MAX;
    return run ? run->base + (int32_t)m->processes[run->leader].steps : (int32_t)m->n_steps;
}

static void add_samples(struct sweep *s, size_t process)
{
    const struct seep_model_process *p = &s->m->processes[process];
    const int32_t last = seep_rss_last_step(s->m, p);

    for (uint32_t i = 0; i <= p->samples.n; i++) {
        const struct seep_rss_sample *its =
            i < p->samples.n ? &p->samples.list[i] : &p->samples.peak;
        if (its->t_ns)
            s->events[s->n_events++] =
                (struct event){.t_ns = seep_model_ns(p, its->t_ns),
                               .process = process,
                               .kind = SAMPLE,
                               .bytes = its->rss_bytes,
                               .free_bytes = its->heap_free_bytes,
                               .in_step = seep_model_step(s->m, p, its->period) <= last};
    }
}

/* After a process ends, nothing of it counts. */
static void add_process(struct sweep *s, size_t process)
{
    const struct seep_model_process *p = &s->m->processes[process];
    const size_t from = s->n_events;
    uint64_t end = p->end_ns;

    for (uint32_t i = 0; i < p->n_rows; i++)
        s->events[s->n_events++] =
            (struct event){.t_ns = p->row_t_ns[i], .process = process, .bytes = p->row_rss[i]};
    add_samples(s, process);
    for (size_t i = from; i < s->n_events; i++)
        end = s->events[i].t_ns > end ? s->events[i].t_ns : end;
    if (s->n_events > from)
        s->events[s->n_events++] = (struct event){.t_ns = end, .process = process, .kind = END};
}

/* ---- as time goes on ----------------------------------------------------------------------- */

/* How far a process's memory may be from what its sample says. */
static uint64_t change_of(const struct now *now)
{
    if (!now->has_sample)
        return now->row;
    return now->row > now->row_then ? now->row - now->row_then : now->row_then - now->row;
}

static void take(struct sweep *s, const struct event *e)
{
    struct now *now = &s->now[e->process];

    s->rows -= now->row;
    s->samples -= now->sample;
    s->free -= now->free;
    s->changed -= change_of(now);
    if (e->kind == END) {
        *now = (struct now){0};
    } else if (e->kind == ROW) {
        now->row = e->bytes;
        now->row_then = now->has_row || !now->has_sample ? now->row_then : now->row;
        now->has_row = true;
    } else {
        now->sample = e->bytes;
        now->free = e->free_bytes;
        now->row_then = now->row;
        now->has_sample = true;
    }
    s->rows += now->row;
    s->samples += now->sample;
    s->free += now->free;
    s->changed += change_of(now);
}

static bool is_of_one_instant(const struct sweep *s, const struct event *e)
{
    return e->kind == SAMPLE && s->changed <= s->samples / NEAR;
}

static void find_highest(struct sweep *s)
{
    for (size_t i = 0; i < s->n_events; i++) {
        take(s, &s->events[i]);
        const uint64_t its =
            is_of_one_instant(s, &s->events[i]) && s->samples > s->rows ? s->samples : s->rows;
        s->highest = its > s->highest ? its : s->highest;
    }
}

/* Of samples near the peak, the ones with most in use. What a process frees as it tears itself down
 * stays resident, free in malloc's arenas: samples taken after the training are the second choice,
 * and count only if as much is in use. */
static void find_best(struct sweep *s, bool in_step)
{
    const uint64_t near = s->highest - s->highest / NEAR;

    for (size_t i = 0; i < s->n_events; i++) {
        const struct event *e = &s->events[i];
        take(s, e);
        const uint64_t used = s->samples > s->free ? s->samples - s->free : 0;
        if (is_of_one_instant(s, e) && (in_step ? e->in_step : used >= near) &&
            used > s->best_used && s->samples >= near) {
            s->best_used = used;
            s->best_ns = e->t_ns;
        }
    }
}

/* ---- at that instant ------------------------------------------------------------------------- */

/* The sample that applies to a process at that time; NULL: it had not begun, or was gone. */
static const struct seep_rss_sample *sample_at(const struct seep_model_process *p, uint64_t t_ns)
{
    const struct seep_rss_sample *best = NULL;
    uint64_t last_ns = p->end_ns;

    for (uint32_t i = 0; i <= p->samples.n; i++) {
        const struct seep_rss_sample *s = i < p->samples.n ? &p->samples.list[i] : &p->samples.peak;
        uint64_t its_ns = seep_model_ns(p, s->t_ns);
        if (!s->t_ns)
            continue;
        last_ns = its_ns > last_ns ? its_ns : last_ns;
        if (its_ns <= t_ns &&
            (!best || its_ns > seep_model_ns(p, best->t_ns) ||
             (its_ns == seep_model_ns(p, best->t_ns) && s->rss_bytes > best->rss_bytes)))
            best = s;
    }
    return last_ns >= t_ns ? best : NULL;
}

static void add_sample(struct seep_rss_sample *sum, const struct seep_rss_sample *its)
{
    sum->rss_bytes = seep_sum(sum->rss_bytes, its->rss_bytes);
    sum->heap_live_bytes = seep_sum(sum->heap_live_bytes, its->heap_live_bytes);
    sum->heap_free_bytes = seep_sum(sum->heap_free_bytes, its->heap_free_bytes);
    sum->maps_bytes = seep_sum(sum->maps_bytes, its->maps_bytes);
    sum->shm_bytes = seep_sum(sum->shm_bytes, its->shm_bytes);
    sum->stacks_bytes = seep_sum(sum->stacks_bytes, its->stacks_bytes);
    sum->files_bytes = seep_sum(sum->files_bytes, its->files_bytes);
    sum->seep_bytes = seep_sum(sum->seep_bytes, its->seep_bytes);
    sum->unexplained_bytes = seep_sum(sum->unexplained_bytes, its->unexplained_bytes);
}

static void add_up(const struct seep_model *m, size_t first, size_t n, struct seep_rss_instant *out)
{
    uint64_t largest = 0;

    for (size_t i = first; i < first + n; i++) {
        const struct seep_rss_sample *its = sample_at(&m->processes[i], out->sum.t_ns);
        if (!its)
            continue;
        add_sample(&out->sum, its);
        if (its->rss_bytes >= largest) {
            largest = its->rss_bytes;
            out->step = seep_model_step(m, &m->processes[i], its->period);
        }
    }
}

int seep_rss_find_instant(const struct seep_model *m, size_t first, size_t n,
                          struct seep_rss_instant *out)
{
    struct sweep s = {.m = m, .now = calloc(m->n_processes + 1, sizeof *s.now)};
    size_t capacity = 1;

    *out = (struct seep_rss_instant){0};
    for (size_t i = first; i < first + n; i++)
        capacity += m->processes[i].samples.n + m->processes[i].n_rows + 2;
    s.events = calloc(capacity, sizeof *s.events);
    const int rc = s.now && s.events ? 0 : -SEEP_ENOMEM;
    for (size_t i = first; i < first + n && !rc; i++) {
        const struct seep_model_process *p = &m->processes[i];
        add_process(&s, i);
        out->known |= p->samples.peak.t_ns != 0;
        s.highest = p->rss_peak_bytes > s.highest ? p->rss_peak_bytes : s.highest;
    }
    if (!rc && s.n_events) {
        qsort(s.events, s.n_events, sizeof *s.events, by_time);
        find_highest(&s);
        find_best(&s, true);
        if (!s.best_used)
            find_best(&s, false);
    }
    out->highest_bytes = s.highest;
    out->parts_known = s.best_used > 0;
    out->sum.t_ns = s.best_ns;
    if (out->parts_known)
        add_up(m, first, n, out);
    free(s.now);
    free(s.events);
    return rc;
}
