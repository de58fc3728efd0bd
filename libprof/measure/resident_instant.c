#include "libprof/measure/resident_instant.h"

#include <stdlib.h>

/* From then on a process has so much; 0 at its end. */
struct event {
    uint64_t t_ns;
    size_t process;
    uint64_t bytes;
    bool end;
};

struct events {
    size_t n;
    struct event *list;
};

/* What a process has at an instant counts also where another ends then. */
static int by_time(const void *a, const void *b)
{
    const struct event *p = a, *q = b;

    if (p->t_ns != q->t_ns)
        return p->t_ns < q->t_ns ? -1 : 1;
    if (p->end != q->end)
        return p->end ? 1 : -1;
    if (p->process != q->process)
        return p->process < q->process ? -1 : 1;
    return (p->bytes > q->bytes) - (p->bytes < q->bytes);
}

static void add_event(struct events *events, size_t process, uint64_t t_ns, uint64_t bytes)
{
    events->list[events->n++] = (struct event){t_ns, process, bytes, false};
}

/* What is known of one process from here on ends with it. */
static void add_end(struct events *events, size_t from, const struct seep_model_process *p,
                    size_t process)
{
    uint64_t end = p->end_ns;

    for (size_t i = from; i < events->n; i++)
        end = events->list[i].t_ns > end ? events->list[i].t_ns : end;
    if (events->n > from)
        events->list[events->n++] = (struct event){end, process, 0, true};
}

static void take_samples(struct events *events, const struct seep_model_process *p, size_t process)
{
    for (uint32_t i = 0; i < p->samples.n; i++)
        add_event(events, process, seep_model_ns(p, p->samples.list[i].t_ns),
                  p->samples.list[i].rss_bytes);
    if (p->samples.peak.t_ns)
        add_event(events, process, seep_model_ns(p, p->samples.peak.t_ns),
                  p->samples.peak.rss_bytes);
}

static void take_rows(struct events *events, const struct seep_model_process *p, size_t process)
{
    for (uint32_t i = 0; i < p->n_rows; i++)
        add_event(events, process, p->row_t_ns[i], p->row_rss[i]);
}

/* The most that the processes have together at an instant, and when that begins. */
static int find_most(const struct seep_model *m, bool samples, uint64_t *most, uint64_t *at_ns)
{
    struct events events = {0};
    size_t capacity = 1;
    uint64_t sum = 0;

    *most = *at_ns = 0;
    for (size_t i = 0; i < m->n_processes; i++)
        capacity += (samples ? m->processes[i].samples.n : m->processes[i].n_rows) + 2;
    uint64_t *now = calloc(m->n_processes + 1, sizeof *now);
    events.list = calloc(capacity, sizeof *events.list);
    for (size_t i = 0; i < m->n_processes && now && events.list; i++) {
        size_t from = events.n;
        (samples ? take_samples : take_rows)(&events, &m->processes[i], i);
        add_end(&events, from, &m->processes[i], i);
    }
    if (events.n)
        qsort(events.list, events.n, sizeof *events.list, by_time);
    for (size_t i = 0; i < events.n; i++) {
        const struct event *e = &events.list[i];
        sum -= now[e->process];
        now[e->process] = e->bytes < UINT64_MAX - sum ? e->bytes : UINT64_MAX - sum;
        sum += now[e->process];
        if (sum > *most) {
            *most = sum;
            *at_ns = e->t_ns;
        }
    }
    int rc = now && events.list ? 0 : -SEEP_ENOMEM;
    free(now);
    free(events.list);
    return rc;
}

/* The sample that tells what a process had then; NULL: it had not begun, or was gone. */
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

int seep_rss_find_instant(const struct seep_model *m, struct seep_rss_instant *out)
{
    uint64_t most, at_ns, of_rows, when, largest = 0;
    int rc = find_most(m, true, &most, &at_ns);

    if (!rc)
        rc = find_most(m, false, &of_rows, &when);
    if (rc)
        return rc;
    *out = (struct seep_rss_instant){.sum.t_ns = at_ns,
                                     .highest_bytes = most > of_rows ? most : of_rows};
    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        const struct seep_rss_sample *its = sample_at(p, at_ns);
        if (p->samples.peak.t_ns && p->rss_peak_bytes > out->highest_bytes)
            out->highest_bytes = p->rss_peak_bytes;
        if (!its)
            continue;
        add_sample(&out->sum, its);
        if (!out->known || its->rss_bytes > largest)
            out->step = seep_model_step(m, p, its->period);
        largest = its->rss_bytes > largest ? its->rss_bytes : largest;
        out->known = true;
    }
    return 0;
}
