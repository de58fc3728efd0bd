/* Groups the points of each voxel, with all threads of a CPU stream. A key assigns each point to a
 * partition, small enough for a hash table in cache; a partition keeps its points in order. */
#ifndef SEEP_KERNELS_VOXEL_GROUPS_H
#define SEEP_KERNELS_VOXEL_GROUPS_H

#include "kernels/voxels/voxel_keys.h"

#include <stdatomic.h>

enum { SEEP_VOXEL_MAX_CHUNKS = 64, SEEP_VOXEL_BLOCK = 128 };

/* The threads of one seep_stream_run() may wait for each other, because all of them are running. */
struct seep_voxel_barrier {
    atomic_uint arrived, asleep;
    _Atomic uint32_t turn;
};

/* What a thread found in each chunk of the points. */
struct seep_voxel_tally {
    struct seep_voxel_box box;
    uint32_t firsts[SEEP_VOXEL_MAX_CHUNKS];  /* points that are their voxel's first */
    uint32_t members[SEEP_VOXEL_MAX_CHUNKS]; /* points of the voxels that begin in the chunk */
};

struct seep_voxel_groups {
    const int32_t (*coords)[4];
    size_t n, chunk;   /* number of points; points per chunk */
    unsigned n_chunks; /* also the number of threads, each with a chunk of its own */
    unsigned partition_bits;
    const struct seep_voxel_box *box; /* of all points, if the caller knows it; or NULL */
    struct seep_voxel_barrier barrier;
    atomic_uint next_partition;
    struct seep_voxel_tally *tallies; /* [n_chunks] */
    uint16_t *partitions;             /* [n] of each point; 2^partition_bits: refused */
    uint32_t *starts, *cursors;       /* [n_chunks][2^partition_bits + 1] */
    uint64_t *tables;                 /* [n_chunks][table_slots] */
    size_t table_slots;
    uint32_t scatter;       /* spreads keys over a table; odd, random: see seep_voxel_key_for() */
    uint64_t *large_tables; /* [2 n] for partitions too large for those tables */

    /* [n] by partition, then by point: first << 32 | number. `first` is the first point of the same
     * voxel, and this point is the number-th after it; in a first point's record, `number` is how
     * many points the voxel has. */
    uint64_t *records;
};

/* Takes a part of the scratch. Returns its address: NULL if `base` is, to add up sizes only. */
void *seep_voxel_take(void *base, size_t *at, size_t bytes);

/* Lays out the arrays in scratch from *at on, and advances *at: about 10 bytes per point, and a
 * table of at most 256 KiB per thread (above 67 million points 40 to 80 bytes for each 2^14 of
 * them). The caller sets large_tables, and may set box. */
void seep_voxel_groups_init(struct seep_voxel_groups *g, const int32_t (*coords)[4], size_t n,
                            unsigned n_threads, void *scratch, size_t *at);

/* Called once by each of the threads 0 … n_chunks − 1: first finds the box of all points, the same
 * for every thread, then the records. Both return after the last thread has finished. */
struct seep_voxel_box seep_voxel_groups_survey(struct seep_voxel_groups *g, unsigned thread);
void seep_voxel_groups_find(struct seep_voxel_groups *g, unsigned thread,
                            const struct seep_voxel_box *box);
void seep_voxel_groups_wait(struct seep_voxel_groups *g);

/* Sums over threads for the chunks before `chunk`; n_chunks gives the sum of all. */
uint32_t seep_voxel_groups_firsts_before(const struct seep_voxel_groups *g, unsigned chunk);
uint32_t seep_voxel_groups_members_before(const struct seep_voxel_groups *g, unsigned chunk);

/* A second pass over the points of a chunk, in order, block by block. */
struct seep_voxel_member {
    uint32_t point, pad;
    uint64_t record;
};

struct seep_voxel_block {
    unsigned n_firsts, n_later, n_early, n_refused;
    struct seep_voxel_member firsts[SEEP_VOXEL_BLOCK];
    struct seep_voxel_member later[SEEP_VOXEL_BLOCK]; /* the voxel's first lies in this chunk … */
    struct seep_voxel_member early[SEEP_VOXEL_BLOCK]; /* … or in an earlier one */
    uint32_t refused[SEEP_VOXEL_BLOCK];
};

/* The list of a chunk's early points, which wait for other chunks, is behind the voxels in a room
 * of 16 bytes per point: there are at most as many as points that are not first. */
struct seep_voxel_member *seep_voxel_waiting_room(const struct seep_voxel_groups *g, void *room,
                                                  unsigned chunk);

void seep_voxel_groups_rewind(struct seep_voxel_groups *g, unsigned chunk);
/* At most SEEP_VOXEL_BLOCK points from `begin` on. Returns how many; 0 at the chunk's end. */
size_t seep_voxel_groups_block(struct seep_voxel_groups *g, unsigned chunk, size_t begin,
                               struct seep_voxel_block *block);

size_t seep_voxel_chunk_begin(const struct seep_voxel_groups *g, unsigned chunk);

#endif
