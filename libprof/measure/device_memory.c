#include "libprof/measure/device_memory.h"

#include <string.h>

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t beyond(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* What a process saw in use of the device that no process of the job's on that machine had. Those
 * that have ended count on: it is rather too little. */
static uint64_t others_seen_by(const struct seep_model *m, const struct seep_model_process *p,
                               int device)
{
    uint64_t ours = 0;

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *q = &m->processes[i];
        if (strcmp(p->id.host, q->id.host) == 0)
            ours = seep_sum(ours, q->recording.uses[device].used_bytes);
    }
    return beyond(p->recording.uses[device].all_used_bytes, ours);
}

static void add_use(const struct seep_model *m, const struct seep_model_process *p, int device,
                    struct seep_device_memory *d)
{
    const struct seep_device_use *its = &p->recording.uses[device];

    if (!its->looks)
        return;
    d->capacity_bytes = larger(d->capacity_bytes, its->capacity_bytes);
    d->used_bytes = seep_sum(d->used_bytes, its->used_bytes);
    d->used_peak_bytes = seep_sum(d->used_peak_bytes, its->used_peak_bytes);
    d->others_bytes = larger(d->others_bytes, others_seen_by(m, p, device));
}

struct seep_device_memory seep_device_memory_of(const struct seep_model *m, int device)
{
    struct seep_device_memory d = {0};

    if (device < 0 || device >= SEEP_MAX_DEVICES)
        return d;
    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        const struct seep_tensor_books *books = &p->recording.tensors[device];
        add_use(m, p, device, &d);
        if (books->reports || p->recording.uses[device].looks)
            d.settings |= p->recording.allocator_settings;
        d.reports = seep_sum(d.reports, books->reports);
        d.live_bytes = seep_sum(d.live_bytes, books->live_bytes);
        d.allocated_bytes = seep_sum(d.allocated_bytes, books->allocated_bytes);
        d.reserved_bytes = seep_sum(d.reserved_bytes, books->reserved_bytes);
        d.drift_bytes = larger(d.drift_bytes, books->drift_bytes);
    }
    return d;
}

bool seep_device_memory_is_known(const struct seep_device_memory *d)
{
    return d->reports || d->capacity_bytes || d->used_peak_bytes;
}

uint64_t seep_device_memory_cached(const struct seep_device_memory *d)
{
    return beyond(d->reserved_bytes, d->allocated_bytes);
}
