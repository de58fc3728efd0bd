#include "kernels/scenarios/segment_driver.h"

#include <stdlib.h>
#include <sys/mman.h>

/* A growing segment gets a range of its own, as large as the device; others follow each other, from
 * the begin on again at the range's end. */
enum { RANGES = 64, GROWING_RANGES = 4 };

struct seep_segment_driver {
    struct seep_stream *stream; /* NULL: the stand-in */
    size_t capacity, taken, range_bytes;
    char *range;
    size_t next;    /* in the range, for whole segments */
    size_t growing; /* ranges given to growing segments, from the end of the range */
};

static int take(void *context, size_t bytes, uintptr_t *address)
{
    struct seep_segment_driver *d = context;
    void *block;

    if (d->stream) {
        int rc = seep_stream_alloc(d->stream, bytes, &block);
        *address = rc ? 0 : (uintptr_t)block;
        return rc;
    }
    if (bytes > d->capacity - d->taken)
        return -SEEP_ENOMEM;
    /* What is live is a fraction of the range: by the time it wraps, its begin is free again. Were
     * it not, two segments would share addresses and nothing else: nobody touches them. */
    if (d->next + bytes > d->range_bytes - GROWING_RANGES * d->capacity)
        d->next = 0;
    *address = (uintptr_t)(d->range + d->next);
    d->next += bytes;
    d->taken += bytes;
    return 0;
}

static void give(void *context, uintptr_t address, size_t bytes)
{
    struct seep_segment_driver *d = context;

    if (d->stream)
        seep_stream_free(d->stream, (void *)address);
    else
        d->taken -= bytes;
}

static int grow(void *context, size_t old_bytes, size_t bytes, uintptr_t *address)
{
    struct seep_segment_driver *d = context;

    if (bytes - old_bytes > d->capacity - d->taken || (!*address && d->growing == GROWING_RANGES))
        return -SEEP_ENOMEM;
    if (!*address)
        *address = (uintptr_t)(d->range + d->range_bytes - ++d->growing * d->capacity);
    d->taken += bytes - old_bytes;
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
    free(d);
}

struct seep_caching_driver seep_segment_driver_calls(struct seep_segment_driver *d)
{
    return (struct seep_caching_driver){
        .context = d, .take = take, .give = give, .grow = d->stream ? NULL : grow};
}
