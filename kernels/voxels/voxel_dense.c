/* A counting sort. Each thread counts the points of its chunk by cell and lists those that are the
 * first of a cell there. Of the listed points, those whose cell is in no earlier chunk are the
 * voxels, in order. A second pass puts each point where its cell and chunk begin. */
#include "kernels/voxels/voxel_dense.h"

#include <string.h>

/* With more cells, a table of 8 bytes per cell does not stay in a core's caches. */
static const uint64_t most_cells = UINT64_C(1) << 18;

bool seep_voxel_is_dense(const struct seep_voxel_groups *g, const struct seep_voxel_box *box)
{
    uint64_t cells = seep_voxel_box_cells(box);

    /* Each chunk's table and list must fit into the 8 bytes per point of the records. */
    return cells <= most_cells && (cells * 12 + 64) * g->n_chunks <= 8 * g->n;
}

/* [cells] of a chunk: first the number of points, later voxel << 32 | index of its next point. */
static uint64_t *table_of(const struct seep_voxel_groups *g, uint64_t cells, unsigned chunk)
{
    return g->records + cells * chunk;
}

/* [cells] of a chunk: the points that are the first of a cell. */
static uint32_t *list_of(const struct seep_voxel_groups *g, uint64_t cells, unsigned chunk)
{
    return (uint32_t *)(void *)(g->records + cells * g->n_chunks) + cells * chunk;
}

/* point_to_voxel[p] = the cell of each point of the chunk; −1 if refused. Returns the list's
 * length. */
static size_t count_cells(struct seep_voxel_groups *g, unsigned chunk,
                          const struct seep_voxel_key *key, uint64_t cells, int32_t *point_to_voxel)
{
    size_t begin = seep_voxel_chunk_begin(g, chunk), end = seep_voxel_chunk_begin(g, chunk + 1);
    uint64_t *counts = table_of(g, cells, chunk), keys[SEEP_VOXEL_BLOCK];
    uint32_t *list = list_of(g, cells, chunk);
    size_t n_listed = 0;

    memset(counts, 0, cells * sizeof *counts);
    for (size_t i = begin; i < end; i += SEEP_VOXEL_BLOCK) {
        size_t n = end - i < SEEP_VOXEL_BLOCK ? end - i : SEEP_VOXEL_BLOCK;
        seep_voxel_keys(key, g->coords + i, n, keys);
        for (size_t j = 0; j < n; j++) {
            point_to_voxel[i + j] = (int32_t)(uint32_t)keys[j];
            if (keys[j] == UINT64_MAX)
                continue;
            if (counts[keys[j]]++ == 0)
                list[n_listed++] = (uint32_t)(i + j);
        }
    }
    return n_listed;
}

/* Keeps in the list those points that are first across all chunks, and tallies the voxels and their
 * points. */
static size_t keep_voxels(struct seep_voxel_groups *g, unsigned chunk, uint64_t cells,
                          const int32_t *point_to_voxel, size_t n_listed)
{
    struct seep_voxel_tally *tally = &g->tallies[chunk];
    uint32_t *list = list_of(g, cells, chunk);
    size_t n_kept = 0;
    uint64_t n_members = 0;

    for (size_t i = 0; i < n_listed; i++) {
        size_t cell = (size_t)point_to_voxel[list[i]];
        uint64_t before = 0, members = 0;
        for (unsigned c = 0; c < chunk; c++)
            before += table_of(g, cells, c)[cell];
        for (unsigned c = chunk; c < g->n_chunks; c++)
            members += table_of(g, cells, c)[cell];
        if (before)
            continue;
        list[n_kept++] = list[i];
        n_members += members;
    }
    tally->firsts[chunk] = (uint32_t)n_kept;
    tally->members[chunk] = (uint32_t)n_members;
    return n_kept;
}

/* Numbers the chunk's voxels, and tells every chunk where its points of these voxels begin. */
static void begin_voxels(struct seep_voxel_groups *g, unsigned chunk, uint64_t cells,
                         struct seep_voxel_maps *maps, size_t n_kept)
{
    uint64_t voxel = seep_voxel_groups_firsts_before(g, chunk);
    uint64_t start = seep_voxel_groups_members_before(g, chunk);
    const uint32_t *list = list_of(g, cells, chunk);

    for (size_t i = 0; i < n_kept; i++, voxel++) {
        size_t cell = (size_t)maps->point_to_voxel[list[i]];
        memcpy(maps->voxel_coords[voxel], g->coords[list[i]], sizeof *maps->voxel_coords);
        maps->voxel_start[voxel] = (int32_t)start;
        for (unsigned c = chunk; c < g->n_chunks; c++) {
            uint64_t *entry = table_of(g, cells, c) + cell;
            uint64_t count = *entry;
            *entry = voxel << 32 | start;
            start += count;
        }
    }
}

static void place_points(struct seep_voxel_groups *g, unsigned chunk, uint64_t cells,
                         struct seep_voxel_maps *maps)
{
    size_t begin = seep_voxel_chunk_begin(g, chunk), end = seep_voxel_chunk_begin(g, chunk + 1);
    uint64_t *table = table_of(g, cells, chunk);

    for (size_t i = begin; i < end; i++) {
        int32_t cell = maps->point_to_voxel[i];
        if (cell < 0)
            continue;
        uint64_t entry = table[cell]++;
        maps->point_to_voxel[i] = (int32_t)(entry >> 32);
        maps->voxel_points[(uint32_t)entry] = (int32_t)i;
    }
}

void seep_voxel_dense_maps(struct seep_voxel_groups *g, unsigned thread,
                           const struct seep_voxel_box *box, struct seep_voxel_maps *maps)
{
    struct seep_voxel_key key = seep_voxel_key_of_cells(box);
    uint64_t cells = seep_voxel_box_cells(box);
    size_t n_listed = count_cells(g, thread, &key, cells, maps->point_to_voxel);

    seep_voxel_groups_wait(g);
    size_t n_kept = keep_voxels(g, thread, cells, maps->point_to_voxel, n_listed);
    seep_voxel_groups_wait(g);
    begin_voxels(g, thread, cells, maps, n_kept);
    seep_voxel_groups_wait(g);
    place_points(g, thread, cells, maps);
}
