/* Below the streams, which announce what they give to seep: a segment is announced by the allocator
 * that asked for it. */
#include "kernels/lab/scenarios/segment_driver.h"

#include "kernels/compute/stream_cuda.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A growing segment gets a range of its own, larger than the device, for it has holes; others
 * follow each other, from the begin on again at the range's end, around those that are still out.
 */
enum { RANGES = 64, GROWING_RANGES = 4, RANGE_CAPACITIES = 2 };

struct part { /* of the range */
    size_t at, bytes;
};

struct seep_segment_driver {
    struct seep_stream *stream; /* NULL: the stand-in */
    size_t capacity, taken, range_bytes;
    size_t growing_bytes; /* of a growing segment's range */
    char *range;
    struct part *out; /* whole segments, by their place */
    size_t n_out, out_capacity;
    size_t next;    /* in the range, for whole segments */
    size_t growing; /* ranges given to growing segments, from the end of the range */
};

/* The first gap of that size from `from` on: its place, and in *index where it goes in out[].
 * SIZE_MAX: there is none. */
static size_t find_gap(const struct seep_segment_driver *d, size_t from, size_t bytes,
                       size_t *index)
{
    size_t end = d->range_bytes - GROWING_RANGES * d->growing_bytes, i = 0;

    while (i < d->n_out && d->out[i].at + d->out[i].bytes <= from)
        i++;
    for (; i < d->n_out && d->out[i].at < from + bytes; i++)
        from = d->out[i].at + d->out[i].bytes;
    *index = i;
    return from + bytes <= end ? from : SIZE_MAX;
}

static int take_part(struct seep_segment_driver *d, size_t bytes, uintptr_t *address)
{
    size_t index;

    if (d->n_out == d->out_capacity) {
        size_t capacity = 2 * d->out_capacity + 64;
        struct part *list = realloc(d->out, capacity * sizeof *list);
        if (!list)
            return -SEEP_ENOMEM;
        d->out = list;
        d->out_capacity = capacity;
    }
    size_t at = find_gap(d, d->next, bytes, &index);
    if (at == SIZE_MAX)
        at = find_gap(d, 0, bytes, &index);
    if (at == SIZE_MAX)
        return -SEEP_ENOMEM;
    memmove(d->out + index + 1, d->out + index, (d->n_out++ - index) * sizeof *d->out);
    d->out[index] = (struct part){at, bytes};
    d->next = at + bytes;
    d->taken += bytes;
    *address = (uintptr_t)(d->range + at);
    return 0;
}

static void give_part(struct seep_segment_driver *d, uintptr_t address)
{
    size_t i = 0;

    while (i < d->n_out && (uintptr_t)(d->range + d->out[i].at) != address)
        i++;
    if (i == d->n_out)
        return;
    d->taken -= d->out[i].bytes;
    memmove(d->out + i, d->out + i + 1, (--d->n_out - i) * sizeof *d->out);
}

static int take(void *context, size_t bytes, uintptr_t *address)
{
    struct seep_segment_driver *d = context;
    void *block = NULL;

    if (bytes > d->capacity - d->taken)
        return -SEEP_ENOMEM;
    if (d->stream) {
        (void)seep_stream_cuda(d->stream); /* its device is this thread's now */
        int rc = seep_cuda_alloc(bytes, &block);
        *address = rc ? 0 : (uintptr_t)block;
        d->taken += rc ? 0 : bytes;
        return rc;
    }
    return take_part(d, bytes, address);
}

static void give(void *context, uintptr_t address, size_t bytes)
{
    struct seep_segment_driver *d = context;

    if (d->stream) {
        (void)seep_stream_cuda(d->stream);
        seep_cuda_free((void *)address);
        d->taken -= bytes;
    } else if (address >= (uintptr_t)d->range + d->range_bytes - d->growing * d->growing_bytes) {
        d->taken -= bytes; /* a growing segment; its range is not used again */
    } else {
        give_part(d, address);
    }
}

static int grow(void *context, size_t bytes, size_t more_bytes, uintptr_t *address)
{
    struct seep_segment_driver *d = context;

    if (more_bytes > d->capacity - d->taken || bytes > d->growing_bytes ||
        (!*address && d->growing == GROWING_RANGES))
        return -SEEP_ENOMEM;
    if (!*address)
        *address = (uintptr_t)(d->range + d->range_bytes - ++d->growing * d->growing_bytes);
    d->taken += more_bytes;
    return 0;
}

int seep_segment_driver_create(struct seep_stream *stream, size_t capacity_bytes,
                               struct seep_segment_driver **out)
{
    struct seep_segment_driver *d = calloc(1, sizeof *d);

    if (!d)
        return -SEEP_ENOMEM;
    d->stream = stream;
    d->capacity = capacity_bytes;
    d->range_bytes = RANGES * capacity_bytes;
    d->growing_bytes = RANGE_CAPACITIES * capacity_bytes;
    if (!stream) {
        d->range = mmap(NULL, d->range_bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (d->range == MAP_FAILED) {
            free(d);
            return -SEEP_ENOMEM;
        }
    }
    *out = d;
    return 0;
}

void seep_segment_driver_destroy(struct seep_segment_driver *d)
{
    if (d && d->range)
        munmap(d->range, d->range_bytes);
    if (d)
        free(d->out);
    free(d);
}

struct seep_caching_driver seep_segment_driver_calls(struct seep_segment_driver *d)
{
    return (struct seep_caching_driver){
        .context = d, .take = take, .give = give, .grow = d->stream ? NULL : grow};
}
