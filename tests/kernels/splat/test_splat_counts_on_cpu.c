/* What the CUDA kernels of splatting ask of a GPU's memory, counted on the stand-in: times need a
 * GPU, counts do not. */
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

SUITE("splat counts on cpu", .timeout_s = 300)
