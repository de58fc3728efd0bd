/* What the CUDA kernels of splatting ask of a GPU's memory, counted on the stand-in: times need a
 * GPU, counts do not. */
#include "kernels/splat/splat_adam.h"
#include "tests/cuda_on_cpu/counts.h"
#include "tests/kernels/splat/raster_fixture.h"
#include "tests/suite.h"

enum { SUMS = 9 }; /* that backward adds up for a Gaussian */

/* Atomic operations of one backward pass over a room whose picture is drawn. */
static uint64_t atomics_of_backward(struct seep_splat_room *room, const float *image_grad)
{
    uint64_t before = cuda_on_cpu_counts().atomics;

    ck_assert_int_eq(seep_splat_room_backward(room, image_grad), 0);
    return cuda_on_cpu_counts().atomics - before;
}

/* Pairs of Gaussian and tile up to the last one that any pixel of the tile blended. */
static uint64_t pairs_blended(struct seep_splat_room *room)
{
    int width = room->camera.width, height = room->camera.height;
    size_t bytes = (size_t)width * (size_t)height * sizeof(uint32_t);
    uint32_t *last = malloc(bytes);
    uint64_t pairs = 0;

    ck_assert_ptr_nonnull(last);
    ck_assert_int_eq(seep_stream_download(room->stream, last, room->picture.last, bytes), 0);
    for (int top = 0; top < height; top += SEEP_SPLAT_TILE)
        for (int left = 0; left < width; left += SEEP_SPLAT_TILE) {
            uint32_t most = 0;
            for (int y = top; y < top + SEEP_SPLAT_TILE && y < height; y++)
                for (int x = left; x < left + SEEP_SPLAT_TILE && x < width; x++)
                    most = last[y * width + x] > most ? last[y * width + x] : most;
            pairs += most;
        }
    free(last);
    return pairs;
}

TEST(backward_adds_to_a_gaussian_once_a_tile_and_not_once_a_warp)
{
    enum { WIDTH = 48, HEIGHT = 32 };
    struct seep_stream *stream = make_stream(CUDA_0);
    struct seep_splat_camera c = make_camera(WIDTH, HEIGHT);
    struct seep_splat_host h;
    struct seep_splat_room room;
    static float image_grad[WIDTH * HEIGHT * 3];
    uint64_t seed = 7;

    for (size_t i = 0; i < N(image_grad); i++)
        image_grad[i] = (float)next_number(&seed);
    make_scene(&h, 300, 1, 1, 5);
    for (size_t i = 0; i < h.model.n; i++) { /* each over whole tiles, and faint: all are blended */
        for (int k = 0; k < 3; k++)
            h.scales[i][k] = 2;
        h.opacities[i] = 0.02f;
    }
    ck_assert_int_eq(seep_splat_room_init(&room, stream, &c, &h.model), 0);
    ck_assert_int_eq(seep_splat_room_forward(&room, NULL), 0);
    uint64_t atomics = atomics_of_backward(&room, image_grad), pairs = pairs_blended(&room);
    ck_assert_uint_gt(pairs, 600);
    ck_assert_uint_gt(atomics, 0);
    ck_assert_msg(atomics <= SUMS * pairs, "%llu atomics, %llu pairs", (unsigned long long)atomics,
                  (unsigned long long)pairs);
    seep_splat_room_fini(&room);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}

/* All pairs are loaded once by one thread each: faint Gaussians end no pixel. */
TEST(a_pairs_gaussian_lies_in_two_sectors)
{
    struct seep_stream *stream = make_stream(CUDA_0);
    struct seep_splat_camera c = make_camera(100, 70);
    struct seep_splat_host h;
    struct seep_splat_room room;

    make_scene(&h, 1000, 1, 1, 5);
    for (size_t i = 0; i < h.model.n; i++)
        h.opacities[i] = 0.005f;
    ck_assert_int_eq(seep_splat_room_init(&room, stream, &c, &h.model), 0);
    ck_assert_int_eq(seep_splat_room_project(&room), 0);
    ck_assert_int_eq(seep_splat_room_bin(&room), 0);
    uint64_t before = cuda_on_cpu_counts().sectors;
    ck_assert_int_eq(seep_splat_room_render(&room), 0);
    uint64_t sectors = cuda_on_cpu_counts().sectors - before;
    ck_assert_uint_gt(room.projected.n_pairs, 1000);
    ck_assert_uint_le(sectors, 2 * room.projected.n_pairs);
    ck_assert_uint_gt(sectors, room.projected.n_pairs);
    seep_splat_room_fini(&room);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}

/* Of a scene of which the view sees two fifths: binning sorts those and their pairs, and nothing
 * for a Gaussian that is culled. */
TEST(binning_sorts_what_is_seen_and_only_tiles_that_are_reached)
{
    enum { ALL = 2500 };
    struct seep_stream *stream = make_stream(CUDA_0);
    struct seep_splat_camera c = make_camera(250, 180);
    struct seep_splat_host h;
    struct seep_splat_room room;
    uint64_t sorted[SEEP_SPLAT_TILE_RULES], pairs[SEEP_SPLAT_TILE_RULES];

    make_scene(&h, ALL, 1, 1.5, 5);
    for (size_t i = 0; i < ALL; i++) {
        if (i % 5 < 2)
            h.means[i][2] = -h.means[i][2]; /* behind */
        if (i % 5 == 2)
            h.opacities[i] = 1.0f / 300;
        h.scales[i][0] *= 4;
    }
    ck_assert_int_eq(seep_splat_room_init(&room, stream, &c, &h.model), 0);
    for (int rule = 0; rule < SEEP_SPLAT_TILE_RULES; rule++) {
        room.projected.rule = (enum seep_splat_tile_rule)rule;
        ck_assert_int_eq(seep_splat_room_project(&room), 0);
        uint64_t before = cuda_on_cpu_counts().sorted;
        ck_assert_int_eq(seep_splat_room_bin(&room), 0);
        sorted[rule] = cuda_on_cpu_counts().sorted - before;
        pairs[rule] = room.projected.n_pairs;
        ck_assert_uint_eq(sorted[rule], room.projected.n_seen + pairs[rule]);
        ck_assert_uint_gt(room.projected.n_seen, 0);
        ck_assert_uint_le(room.projected.n_seen,
                          rule == SEEP_SPLAT_TILES_SQUARE ? ALL * 3 / 5 : ALL * 2 / 5);
        printf("rule %d: %zu of %d Gaussians sorted, %zu pairs\n", rule, room.projected.n_seen, ALL,
               room.projected.n_pairs);
    }
    ck_assert_uint_lt(pairs[SEEP_SPLAT_TILES_REACHED], pairs[SEEP_SPLAT_TILES_BOX] * 8 / 10);
    ck_assert_uint_gt(pairs[SEEP_SPLAT_TILES_SQUARE], pairs[SEEP_SPLAT_TILES_BOX] * 12 / 10);
    seep_splat_room_fini(&room);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}

TEST(the_gardens_backward_takes_two_million_atomics, .left_out = !garden_path())
{
    struct seep_stream *stream = make_stream(CUDA_0);
    struct seep_garden g;
    struct seep_error err = {0};
    struct seep_splat_room room;

    ck_assert_msg(seep_garden_read(garden_path(), 3, 1, &g, &err) == 0, "%s", err.text);
    size_t values = (size_t)g.cameras[0].width * (size_t)g.cameras[0].height * 3;
    float *image_grad = malloc(values * sizeof *image_grad);
    uint64_t seed = 7;
    for (size_t i = 0; i < values; i++)
        image_grad[i] = (float)next_number(&seed);
    ck_assert_int_eq(seep_splat_room_init(&room, stream, &g.cameras[0], &g.host.model), 0);
    ck_assert_int_eq(seep_splat_room_forward(&room, NULL), 0);
    uint64_t atomics = atomics_of_backward(&room, image_grad);
    printf("garden: %llu atomics for %zu pairs\n", (unsigned long long)atomics,
           room.projected.n_pairs);
    ck_assert_uint_le(atomics, 2200000); /* 7.79 million, one for each warp */
    free(image_grad);
    seep_splat_room_fini(&room);
    seep_garden_free(&g);
    seep_stream_destroy(stream);
}

enum { GAUSSIANS = 1000, VALUES = 3 + 3 + 4 + 1, ADAM_BLOCK = 64 };

/* Room for Adam's arrays of GAUSSIANS, all of one block: parameters, moments, gradients, results.
 */
static float *adam_arrays(struct seep_stream *stream, size_t sh_stride,
                          struct seep_splat_trained *t, struct seep_splat_gradients *g)
{
    size_t sh = sh_stride * 3, each = GAUSSIANS * (VALUES + sh);
    float *block, *at;
    struct seep_splat_parameters *sets[] = {&t->parameters, &t->first, &t->second};

    ck_assert_int_eq(
        seep_stream_alloc(stream, (4 * each + 4 * GAUSSIANS) * sizeof *block, (void **)&block), 0);
    at = block;
    for (int k = 0; k < 3; k++, at += each) {
        sets[k]->means = (float(*)[3])at;
        sets[k]->log_scales = (float(*)[3])(at + 3 * GAUSSIANS);
        sets[k]->rotations = (float(*)[4])(at + 6 * GAUSSIANS);
        sets[k]->logits = at + 10 * GAUSSIANS;
        sets[k]->sh = at + 11 * GAUSSIANS;
    }
    g->means = (float(*)[3])at;
    g->scales = (float(*)[3])(at + 3 * GAUSSIANS);
    g->rotations = (float(*)[4])(at + 6 * GAUSSIANS);
    g->opacities = at + 10 * GAUSSIANS;
    g->sh = at + 11 * GAUSSIANS;
    t->scales = (float(*)[3])(at + each);
    t->opacities = at + each + 3 * GAUSSIANS;
    return block;
}

/* Four reads and three writes a value; the scales and the opacity are read and written besides. */
TEST(an_optimizers_step_moves_the_bytes_of_the_gaussians_that_are_seen)
{
    enum { SH = 16, BYTES = 7 * 4 * (VALUES + 3 * SH) + 2 * 4 * 4 };
    struct seep_stream *stream = make_stream(CUDA_0);
    struct seep_splat_rates rates = seep_splat_rates_of_paper(1);
    struct seep_splat_gradients g = {0};
    struct seep_splat_trained t;
    float *block = adam_arrays(stream, SH, &t, &g);
    uint32_t seen[GAUSSIANS + 1] = {0}, *offsets;
    struct cuda_on_cpu_counts before = cuda_on_cpu_counts(), after;

    ck_assert_int_eq(seep_splat_adam(GAUSSIANS, SH, &g, &rates, 1, &t, stream), 0);
    after = cuda_on_cpu_counts();
    ck_assert_uint_eq(after.bytes - before.bytes, GAUSSIANS * BYTES);
    ck_assert_uint_eq(after.launches - before.launches, 1);
    for (size_t i = 0; i < GAUSSIANS; i++) /* every third */
        seen[i + 1] = seen[i] + (i % 3 == 0);
    ck_assert_int_eq(seep_stream_alloc(stream, sizeof seen, (void **)&offsets), 0);
    ck_assert_int_eq(seep_stream_upload(stream, offsets, seen, sizeof seen), 0);
    before = cuda_on_cpu_counts();
    ck_assert_int_eq(seep_splat_adam_seen(GAUSSIANS, SH, &g, &rates, 1, offsets, &t, stream), 0);
    after = cuda_on_cpu_counts();
    ck_assert_uint_eq(after.bytes - before.bytes, seen[GAUSSIANS] * BYTES + GAUSSIANS * 8);
    seep_stream_free(stream, offsets);
    seep_stream_free(stream, block);
    seep_stream_destroy(stream);
}

/* 2^31 blocks are the most that CUDA launches: what is stored of a Gaussian must not add to them,
 * or a large model would be refused as if its device had failed. */
TEST(an_optimizers_blocks_do_not_depend_on_what_is_stored_of_a_gaussian, .to = 2)
{
    size_t stride = _i ? 1024 : 1;
    struct seep_stream *stream = make_stream(CUDA_0);
    struct seep_splat_gradients g = {0};
    struct seep_splat_trained t;
    float *block = adam_arrays(stream, stride, &t, &g);
    struct cuda_on_cpu_counts before = cuda_on_cpu_counts();

    ck_assert_int_eq(seep_splat_adam(GAUSSIANS, (int)stride, NULL, NULL, 0, &t, stream), 0);
    ck_assert_uint_eq(cuda_on_cpu_counts().blocks - before.blocks,
                      (GAUSSIANS + ADAM_BLOCK - 1) / ADAM_BLOCK);
    seep_stream_free(stream, block);
    seep_stream_destroy(stream);
}

SUITE("splat counts on cpu", .timeout_s = 300)
