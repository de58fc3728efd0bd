/* The records of a loaded profile, by their places in its file. */
#include "libprof/read/profile_read.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { MAX_FORK_DEPTH = 1024 };

static uint64_t chunk_offset(uint32_t chunk)
{
    return SEEP_HEADER_BYTES + (uint64_t)chunk * SEEP_CHUNK_BYTES;
}

/* The profile of the fork chain whose own part holds `offset`. */
static struct seep_profile *holder(struct seep_profile *p, uint64_t offset)
{
    for (int depth = 0; p && depth < MAX_FORK_DEPTH; depth++, p = p->parent) {
        if (offset >= p->header->inherited_end)
            return p;
    }
    return NULL;
}

const void *seep_profile_at(struct seep_profile *profile, uint32_t ref, enum seep_chunk_type type,
                            uint64_t bytes, struct seep_profile **found_in)
{
    uint64_t offset = (uint64_t)ref * 8;

    if (offset < SEEP_HEADER_BYTES)
        return NULL;
    struct seep_profile *p = holder(profile, offset);
    if (!p || !p->loaded)
        return NULL;
    uint64_t chunk = (offset - SEEP_HEADER_BYTES) / SEEP_CHUNK_BYTES;
    if (chunk >= p->n_chunks || p->header->chunk_types[chunk] != type)
        return NULL;
    uint64_t left = chunk_offset((uint32_t)chunk + 1) - offset;
    if (bytes > left || offset + bytes > p->map_bytes)
        return NULL;
    if (found_in)
        *found_in = p;
    return p->base + offset;
}

const char *seep_profile_string(struct seep_profile *profile, uint32_t ref, uint32_t *n_bytes,
                                struct seep_profile **found_in)
{
    struct seep_profile *p;
    const struct seep_string *s =
        seep_profile_at(profile, ref, SEEP_CHUNK_STRINGS, sizeof(struct seep_string), &p);

    if (!s || !s->n_bytes)
        return NULL;
    uint32_t n = s->n_bytes;
    if (!seep_profile_at(p, ref, SEEP_CHUNK_STRINGS, sizeof *s + (uint64_t)n, NULL))
        return NULL;
    *n_bytes = n;
    if (found_in)
        *found_in = p;
    return s->text;
}

const struct seep_point *seep_profile_series(struct seep_profile *profile, uint32_t ref,
                                             uint32_t detail, uint32_t *n)
{
    const struct seep_series *s =
        seep_profile_at(profile, ref, SEEP_CHUNK_SERIES, sizeof(struct seep_series), NULL);

    if (!s || s->detail != detail || !s->capacity || s->capacity > SEEP_SERIES_LARGE)
        return NULL;
    if (!seep_profile_at(profile, ref, SEEP_CHUNK_SERIES,
                         sizeof *s + (uint64_t)s->capacity * sizeof(struct seep_point), NULL))
        return NULL;
    *n = s->n < s->capacity ? s->n : s->capacity;
    return s->points;
}

uint32_t *seep_profile_memo(struct seep_profile *p, uint32_t ref)
{
    uint64_t offset = (uint64_t)ref * 8;

    if (offset < SEEP_HEADER_BYTES || !p->memo)
        return NULL;
    uint64_t chunk = (offset - SEEP_HEADER_BYTES) / SEEP_CHUNK_BYTES;
    if (chunk >= p->n_chunks)
        return NULL;
    if (!p->memo[chunk])
        p->memo[chunk] = calloc(SEEP_CHUNK_BYTES / 8, sizeof **p->memo);
    return p->memo[chunk] ? &p->memo[chunk][(offset - SEEP_HEADER_BYTES) % SEEP_CHUNK_BYTES / 8]
                          : NULL;
}

void seep_profile_done(struct seep_profile *p, uint32_t ref, size_t bytes)
{
    const uint64_t chunk = ((uint64_t)ref * 8 - SEEP_HEADER_BYTES) / SEEP_CHUNK_BYTES;

    if (++p->n_done[chunk] == SEEP_CHUNK_BYTES / bytes)
        madvise(p->base + chunk_offset((uint32_t)chunk), SEEP_CHUNK_BYTES, MADV_DONTNEED);
}
