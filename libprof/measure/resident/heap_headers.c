#include "libprof/measure/resident/heap_headers.h"

#include "libprof/model/live_level.h"

#include <stdlib.h>

/* The samples of one process, with its peak's behind the others, by step. */
struct headers {
    struct place {
        int32_t step;
        struct seep_rss_sample *sample;
    } * list;
    size_t n;
    int64_t *bytes; /* [n + 1] by how many headers have more from each place on */
};

/* By how many bytes a block's chunk is larger, for the mean size of the site's. */
static uint64_t beyond(const struct seep_model *m, const struct seep_model_site *site)
{
    const struct seep_totals *t = &site->totals;
    const uint64_t mean = t->allocations ? t->allocated_bytes / t->allocations : 0;
    const bool is_sane = mean >> 48 == 0; /* a damaged file may have any number */

    return is_sane && m->spaces[site->space].name.class == SEEP_CLASS_HOST
               ? seep_chunk_bytes(mean) - mean
               : 0;
}

static int by_step(const void *a, const void *b)
{
    const struct place *p = a, *q = b;

    return (p->step > q->step) - (p->step < q->step);
}

static int list_samples(const struct seep_model *m, struct seep_model_process *p,
                        struct headers *out)
{
    struct seep_process_samples *samples = &p->samples;

    *out = (struct headers){0};
    if (*p->id.allocator || !samples->peak.t_ns)
        return 0;
    out->list = calloc(samples->n + 1u, sizeof *out->list);
    out->bytes = calloc(samples->n + 2u, sizeof *out->bytes);
    if (!out->list || !out->bytes)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i <= samples->n; i++) {
        struct seep_rss_sample *s = i < samples->n ? &samples->list[i] : &samples->peak;
        out->list[out->n++] = (struct place){seep_model_step(m, p, s->period), s};
    }
    qsort(out->list, out->n, sizeof *out->list, by_step);
    return 0;
}

/* The first sample that was taken when a step had ended: while its period counts the next one. */
static size_t place_after(const struct headers *h, int32_t step)
{
    size_t low = 0, high = h->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (h->list[middle].step > step)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void add_slot(const struct seep_model *m, const struct seep_model_slot *slot, uint64_t each,
                     struct headers *h)
{
    int64_t blocks = 0;

    for (uint32_t i = 0; i < slot->n_points; i++) {
        const struct seep_model_point *p = &m->points[slot->points_at + i];
        h->bytes[place_after(h, p->step)] += (int64_t)each * ((int64_t)p->blocks - blocks);
        blocks = p->blocks;
    }
}

static void add_sites(const struct seep_model *m, struct headers *of_process)
{
    for (size_t i = 0; i < m->n_sites; i++) {
        const uint64_t each = beyond(m, &m->sites[i]);
        for (uint32_t k = each ? m->sites[i].slots : 0; k; k = m->slots[k - 1].next) {
            const struct seep_model_slot *slot = &m->slots[k - 1];
            if (of_process[slot->process].n)
                add_slot(m, slot, each, &of_process[slot->process]);
        }
    }
}

static void move(const struct headers *h)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < h->n; i++) {
        struct seep_rss_sample *s = h->list[i].sample;
        bytes += h->bytes[i];
        const uint64_t moved = bytes <= 0                             ? 0
                               : (uint64_t)bytes < s->heap_free_bytes ? (uint64_t)bytes
                                                                      : s->heap_free_bytes;
        s->heap_live_bytes += moved;
        s->heap_free_bytes -= moved;
    }
}

int seep_heap_headers_add(struct seep_model *m)
{
    struct headers *of_process = calloc(m->n_processes + 1, sizeof *of_process);
    int rc = of_process ? 0 : -SEEP_ENOMEM;

    for (size_t i = 0; i < m->n_processes && !rc; i++)
        rc = list_samples(m, &m->processes[i], &of_process[i]);
    if (!rc)
        add_sites(m, of_process);
    for (size_t i = 0; i < m->n_processes && of_process; i++) {
        if (!rc)
            move(&of_process[i]);
        free(of_process[i].list);
        free(of_process[i].bytes);
    }
    free(of_process);
    return rc;
}
