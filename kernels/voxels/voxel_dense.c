/* A counting sort. Each thread counts the points of its chunk by cell and lists those that are the
 * first of a cell there. Of the listed points, those whose cell is in no earlier chunk are the
 * voxels, in order. A second pass puts each point where its cell and chunk begin. */
#include "kernels/voxels/voxel_dense.h"

#include <string.h>

/* With more cells, a table of 8 bytes per cell does not stay in a core's caches. */
static const uint64_t most_cells = UINT64_C(1) << 18;

/* What is filled: the maps, or each voxel's first point. */
struct out {
    int32_t *voxel_of; /* the cell of each point, later its voxel; −1 if refused */
    struct seep_voxel_maps *maps;
    int32_t *first;
};

bool seep_voxel_is_dense(unsigned n_chunks, size_t n_points, const struct seep_voxel_box *box)
{
    uint64_t cells = seep_voxel_box_cells(box);

    /* Each chunk's table and list must fit into the 8 bytes per point of the records. */
    return cells <= most_cells && (cells * 12 + 64) * n_chunks <= 8 * n_points;
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

/* Finds the cell of each point of the chunk. Returns the list's length. */
static size_t count_cells(struct seep_voxel_groups *g, unsigned chunk,
                          const struct seep_voxel_key *key, uint64_t cells, int32_t *voxel_of)
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
            voxel_of[i + j] = (int32_t)(uint32_t)keys[j];
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
                          const int32_t *voxel_of, size_t n_listed)
{
    struct seep_voxel_tally *tally = &g->tallies[chunk];
    uint32_t *list = list_of(g, cells, chunk);
    size_t n_kept = 0;
    uint64_t n_members = 0;

    for (size_t i = 0; i < n_listed; i++) {
        size_t cell = (size_t)voxel_of[list[i]];
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
                         const struct out *out, size_t n_kept)
{
    uint64_t voxel = seep_voxel_groups_firsts_before(g, chunk);
    uint64_t start = seep_voxel_groups_members_before(g, chunk);
    const uint32_t *list = list_of(g, cells, chunk);

    for (size_t i = 0; i < n_kept; i++, voxel++) {
        size_t cell = (size_t)out->voxel_of[list[i]];
        if (out->maps) {
            memcpy(out->maps->voxel_coords[voxel], g->coords[list[i]], sizeof g->coords[list[i]]);
            out->maps->voxel_start[voxel] = (int32_t)start;
        } else {
            out->first[voxel] = (int32_t)list[i];
        }
        for (unsigned c = chunk; c < g->n_chunks; c++) {
            uint64_t *entry = table_of(g, cells, c) + cell;
            uint64_t count = *entry;
            *entry = voxel << 32 | start;
            start += count;
        }
    }
}

static void place_points(struct seep_voxel_groups *g, unsigned chunk, uint64_t cells,
                         const struct out *out)
{
    size_t begin = seep_voxel_chunk_begin(g, chunk), end = seep_voxel_chunk_begin(g, chunk + 1);
    uint64_t *table = table_of(g, cells, chunk);
    int32_t *lists = out->maps ? out->maps->voxel_points : NULL;

    for (size_t i = begin; i < end; i++) {
        int32_t cell = out->voxel_of[i];
        if (cell < 0)
            continue;
        uint64_t entry = table[cell];
        out->voxel_of[i] = (int32_t)(entry >> 32);
        if (!lists)
            continue;
        table[cell] = entry + 1;
        lists[(uint32_t)entry] = (int32_t)i;
    }
}

static void fill(struct seep_voxel_groups *g, unsigned thread, const struct seep_voxel_box *box,
                 const struct out *out)
{
    struct seep_voxel_key key = seep_voxel_key_of_cells(box);
    uint64_t cells = seep_voxel_box_cells(box);
    size_t n_listed = count_cells(g, thread, &key, cells, out->voxel_of);

    seep_voxel_groups_wait(g);
    size_t n_kept = keep_voxels(g, thread, cells, out->voxel_of, n_listed);
    seep_voxel_groups_wait(g);
    begin_voxels(g, thread, cells, out, n_kept);
    seep_voxel_groups_wait(g);
    place_points(g, thread, cells, out);
}

void seep_voxel_dense_maps(struct seep_voxel_groups *g, unsigned thread,
                           const struct seep_voxel_box *box, struct seep_voxel_maps *maps)
{
    fill(g, thread, box, &(struct out){.voxel_of = maps->point_to_voxel, .maps = maps});
}

void seep_voxel_dense_pick(struct seep_voxel_groups *g, unsigned thread,
                           const struct seep_voxel_box *box, int32_t *voxel_of, int32_t *first)
{
    fill(g, thread, box, &(struct out){.voxel_of = voxel_of, .first = first});
}
