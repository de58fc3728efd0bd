#include "kernels/voxels/voxel_race.h"

#include "kernels/compute/stopwatch.h"
#include "kernels/voxels/voxel_baseline.h"
#include "kernels/voxels/voxel_dense.h"
#include "kernels/voxels/voxel_inputs.h"
#include "kernels/voxels/voxel_ways.h"
#include "libprof/base/statistics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 11, PLAIN = SEEP_VOXEL_N_WAYS, RUNNERS };

struct race {
    struct seep_stream *stream;
    clockid_t clock; /* of CPU time with one thread, of wall time with several */
    size_t n;
    int32_t (*coords)[4];
    struct seep_voxel_maps maps;
    int32_t *first, *table;
    void *scratch;
    double ms[RUNNERS][ROUNDS];
};

static int run(struct race *r, unsigned runner, bool maps)
{
    const int32_t(*coords)[4] = (const int32_t(*)[4])r->coords;

    if (runner == PLAIN && maps)
        seep_voxel_baseline_maps(coords, r->n, &r->maps, r->table);
    else if (runner == PLAIN)
        r->maps.n_voxels = seep_voxel_baseline_quantize(
            coords, r->n, r->first, r->maps.point_to_voxel, r->maps.voxel_coords, r->table);
    else if (maps)
        return seep_voxelize_by(runner, coords, r->n, &r->maps, r->scratch, r->stream);
    else
        return seep_sparse_quantize_by(runner, coords, NULL, r->n, 0, r->first, NULL,
                                       r->maps.point_to_voxel, &r->maps.n_voxels, r->scratch,
                                       r->stream);
    return 0;
}

/* A first round does not count: it touches the memory. */
static int take_turns(struct race *r, bool maps)
{
    int err = 0;

    for (int round = -1; !err && round < ROUNDS; round++) {
        for (unsigned runner = 0; !err && runner < RUNNERS; runner++) {
            double begin = seep_clock_s(r->clock);
            err = run(r, runner, maps);
            if (round >= 0)
                r->ms[runner][round] = 1e3 * (seep_clock_s(r->clock) - begin);
        }
    }
    return err;
}

static double least(const double ms[ROUNDS])
{
    double found = ms[0];

    for (int i = 1; i < ROUNDS; i++)
        found = ms[i] < found ? ms[i] : found;
    return found;
}

/* Whether a way is not just another one, because a table of cells would be too large. */
static bool is_possible(const struct race *r, unsigned way, const struct seep_voxel_box *box)
{
    return way == SEEP_VOXEL_CELLS ? seep_voxel_cells_fit(box, r->n)
           : way == SEEP_VOXEL_COUNTED
               ? seep_voxel_is_dense(seep_stream_threads(r->stream), r->n, box)
               : true;
}

/* The fastest of plain C and the ways from `from` on. */
static double best_of(const struct race *r, enum seep_voxel_way from)
{
    double best = least(r->ms[PLAIN]);

    for (unsigned w = from; w < SEEP_VOXEL_N_WAYS; w++)
        best = least(r->ms[w]) < best ? least(r->ms[w]) : best;
    return best;
}

static json_t *row_of(struct race *r, const char *input, bool maps)
{
    const int32_t(*coords)[4] = (const int32_t(*)[4])r->coords;
    struct seep_voxel_box box;
    unsigned n_threads = seep_stream_threads(r->stream);
    double plain = least(r->ms[PLAIN]), chosen = least(r->ms[SEEP_VOXEL_CHOSEN]);
    double best = best_of(r, n_threads == 1 ? SEEP_VOXEL_COUNTED : SEEP_VOXEL_CELLS);
    enum seep_voxel_way way =
        seep_voxel_way_for(SEEP_VOXEL_CHOSEN, coords, r->n, n_threads, maps, &box);

    seep_voxel_box_of(coords, r->n, &box);
    if (way == SEEP_VOXEL_COUNTED && !is_possible(r, way, &box))
        way = SEEP_VOXEL_PARTITIONS;
    json_t *row = json_pack("{ss ss sI sI sf sf ss sf sf sf}", "kernel",
                            maps ? "voxelize" : "sparse_quantize", "input", input, "points",
                            (json_int_t)r->n, "voxels", (json_int_t)r->maps.n_voxels, "plain_ms",
                            plain, "chosen_ms", chosen, "way", seep_voxel_way_names[way], "of_best",
                            chosen / best, "plain_median_ms", seep_median(r->ms[PLAIN], ROUNDS),
                            "chosen_median_ms", seep_median(r->ms[SEEP_VOXEL_CHOSEN], ROUNDS));
    for (unsigned w = SEEP_VOXEL_CELLS; row && w < SEEP_VOXEL_N_WAYS; w++) {
        char key[32];
        snprintf(key, sizeof key, "%s_ms", seep_voxel_way_names[w]);
        if (is_possible(r, w, &box))
            (void)json_object_set_new(row, key, json_real(least(r->ms[w])));
    }
    return row;
}

static int get_all(struct race *r, size_t n)
{
    size_t bytes = 0, sparse_bytes = 0;
    int err = seep_voxelize(NULL, n, NULL, NULL, &bytes, r->stream);

    if (!err)
        err = seep_sparse_quantize(NULL, NULL, n, 0, NULL, NULL, NULL, NULL, NULL, &sparse_bytes,
                                   r->stream);
    const struct {
        size_t bytes;
        void *out;
    } wanted[] = {
        {n * 16, &r->coords},
        {n * 4, &r->maps.point_to_voxel},
        {n * 16, &r->maps.voxel_coords},
        {n * 4 + 4, &r->maps.voxel_start},
        {n * 4, &r->maps.voxel_points},
        {n * 4, &r->first},
        {seep_voxel_baseline_bytes(n), &r->table},
        {bytes > sparse_bytes ? bytes : sparse_bytes, &r->scratch},
    };
    for (size_t i = 0; !err && i < sizeof wanted / sizeof *wanted; i++) {
        void *block;
        err = seep_stream_alloc(r->stream, wanted[i].bytes, &block);
        if (!err)
            memcpy(wanted[i].out, &block, sizeof block);
    }
    return err;
}

static void free_all(struct race *r)
{
    void *const blocks[] = {r->coords,
                            r->maps.point_to_voxel,
                            r->maps.voxel_coords,
                            r->maps.voxel_start,
                            r->maps.voxel_points,
                            r->first,
                            r->table,
                            r->scratch};

    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        seep_stream_free(r->stream, blocks[i]);
}

static int race_on(json_t *results, const struct seep_voxel_input *input,
                   struct seep_stream *stream)
{
    struct race r = {.stream = stream,
                     .clock = seep_stream_threads(stream) == 1 ? CLOCK_THREAD_CPUTIME_ID
                                                               : CLOCK_MONOTONIC,
                     .n = input->n};
    size_t n_refused;
    int err = get_all(&r, input->n);

    if (!err)
        err = seep_quantize((const float(*)[3])input->points, input->batch, input->n, input->size,
                            r.coords, &n_refused, stream);
    for (int maps = 1; !err && maps >= 0; maps--) {
        err = take_turns(&r, maps);
        if (!err && json_array_append_new(results, row_of(&r, input->name, maps)))
            err = -SEEP_ENOMEM;
    }
    free_all(&r);
    return err;
}

static int race_on_all(json_t *results, const char *data_folder, struct seep_stream *stream,
                       struct seep_error *why)
{
    int err = 0;

    for (unsigned i = 0; !err && i < SEEP_VOXEL_INPUTS; i++) {
        struct seep_voxel_input input;
        err = seep_voxel_input_open(i, data_folder, &input, why);
        if (!err && input.n)
            err = race_on(results, &input, stream);
        if (!err)
            seep_voxel_input_close(&input);
    }
    return err;
}

int seep_voxel_race_one(json_t *results, const char *data_folder, struct seep_stream *stream,
                        struct seep_error *why)
{
    struct seep_stream *one = NULL;
    int err;

    if (seep_stream_device(stream) != SEEP_DEVICE_CPU)
        return 0;
    err = seep_stream_create_cpu(1, &one);
    if (!err)
        err = race_on_all(results, data_folder, one, why);
    seep_stream_destroy(one);
    return err;
}

int seep_voxel_race_all(json_t *results, const char *data_folder, struct seep_stream *stream,
                        struct seep_error *why)
{
    if (seep_stream_device(stream) != SEEP_DEVICE_CPU || seep_stream_threads(stream) == 1)
        return 0;
    return race_on_all(results, data_folder, stream, why);
}
