/* Builds profiles and job tables in memory, for the tests of everything that reads them. Records
 * are laid out as the shim lays them out. Running out of memory or chunks ends the program. */
#ifndef SEEP_TESTS_PROFILE_BUILDER_H
#define SEEP_TESTS_PROFILE_BUILDER_H

#include "libprof/format/profile_format.h"

#include <stdbool.h>
#include <stddef.h>

struct builder {
    uint8_t *bytes;
    size_t n_bytes, capacity;
    uint32_t used[SEEP_CHUNK_N_TYPES];  /* bytes taken of the chunk at hand */
    uint32_t chunk[SEEP_CHUNK_N_TYPES]; /* its index + 1 */
};

/* An empty profile of a process that has exited with 0; spaces host, mmap and shm are named. */
void builder_init(struct builder *b, uint32_t pid, uint64_t start_ns);
/* One that was forked from `parent`: begins where that ends, and refers to it by `parent_file`. */
void builder_init_fork(struct builder *b, const struct builder *parent, const char *parent_file,
                       uint32_t pid, uint64_t start_ns);
void builder_fini(struct builder *b);
struct seep_header *builder_header(struct builder *b); /* valid until the next record */
void builder_seal(struct builder *b);                  /* computes the header's check again */

/* All return refs. */
uint32_t builder_record(struct builder *b, enum seep_chunk_type type, const void *bytes, size_t n,
                        size_t align);
void *builder_at(struct builder *b, uint32_t ref);
uint32_t builder_string(struct builder *b, const char *text);
uint32_t builder_python(struct builder *b, const char *file, const char *function, unsigned line);
uint32_t builder_native(struct builder *b, const char *path, const char *build_id, uint64_t offset);
uint32_t builder_stack(struct builder *b, uint32_t parent, uint32_t frame);

/* A site with these totals, all in one period; change the record through builder_at(). */
uint32_t builder_site(struct builder *b, uint32_t stack, unsigned space, uint64_t allocations,
                      uint64_t allocated_bytes, uint64_t frees, uint64_t freed_bytes,
                      uint32_t period);
/* Gives the site a detail and a series of n ≤ SEEP_SERIES_LARGE points; *detail (may be NULL) is
 * its ref. The last point is the state before the site's own counters. */
uint32_t builder_detail(struct builder *b, uint32_t site, const struct seep_point *points,
                        unsigned n);

/* The site as a level that changes with the period: level(period) bytes in blocks of `each`, over
 * periods [0, last]; where the level falls, the oldest blocks are freed. */
uint32_t builder_level(struct builder *b, uint32_t stack, unsigned space, uint64_t each,
                       uint32_t last, uint64_t (*blocks)(uint32_t period, void *arg), void *arg);

/* Fills spaces[] (live, peak, timeline) and the timeline's rows from the sites: a row a period, 100
 * ms apart, at most SEEP_TIMELINE_ROWS. */
void builder_timeline(struct builder *b, uint32_t last_period, uint64_t rss_bytes);

/* A job table; entry 0 belongs to `pid`, steps counted from period `first`. Allocates; free(). */
struct seep_job *builder_job(uint32_t pid, uint64_t start_ns, uint32_t steps, uint32_t first);

/* Writes bytes to DIR/name; keeps holes. Returns 0 or -1. */
int builder_write(const struct builder *b, const char *dir, const char *name);
int builder_write_job(const struct seep_job *job, const char *dir);

#endif
