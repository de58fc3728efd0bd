/* The CPU's instruction sets: AVX-512 blends by code of its own, and the way back decides once more
 * which pairs were blended. All must decide alike, above all where alpha is a rounding from 1/255.
 */
#include "kernels/compute/cpu_levels.h"
#include "kernels/splat/splat_math.h"
#include "tests/kernels/splat/raster_fixture.h"
#include "tests/suite.h"

enum { WIDTH = 24, HEIGHT = 18, GAUSSIANS = 300 };

/* Each Gaussian's alpha is 1/255, within a few roundings to both sides, in a pixel near its middle.
 */
static void make_doubtful(struct seep_splat_host *h, struct seep_stream *stream,
                          const struct seep_splat_camera *c)
{
    struct seep_splat_room room;
    uint64_t seed = 8;

    make_scene(h, GAUSSIANS, 0, 1, 7);
    ck_assert_int_eq(seep_splat_room_init(&room, stream, c, &h->model), 0);
    ck_assert_int_eq(seep_splat_room_project(&room), 0);
    for (size_t i = 0; i < GAUSSIANS; i++) {
        const float *mean = room.projected.prints[i].mean, *root = room.projected.prints[i].roots;
        h->opacities[i] = 0.01f;
        if (!room.projected.prints[i].tiles[2])
            continue;
        double dx = floor((double)mean[0]) + (double)(i % 3) - 0.5 - (double)mean[0];
        double dy = floor((double)mean[1]) + (double)(i % 5) - 1.5 - (double)mean[1];
        double u = (double)root[0] * dx + (double)root[1] * dy, v = (double)root[2] * dy;
        double opacity = exp2(u * u + v * v) / 255 * (1 + 1e-6 * next_number(&seed));
        if (opacity < 0.9)
            h->opacities[i] = (float)opacity;
    }
    seep_splat_room_fini(&room);
}

static void open_room(struct seep_splat_room *room, struct seep_stream *stream,
                      const struct seep_splat_camera *c, const struct seep_splat_model *m,
                      enum seep_cpu_level level)
{
    seep_cpu_level_allow(level);
    ck_assert_int_eq(seep_splat_room_init(room, stream, c, m), 0);
    ck_assert_int_eq(seep_splat_room_forward(room, NULL), 0);
}

static void check_alike(struct seep_stream *stream, const struct seep_splat_camera *c,
                        const struct seep_splat_model *m)
{
    size_t pixels = (size_t)c->width * (size_t)c->height;
    struct seep_splat_room plain, wide;

    open_room(&plain, stream, c, m, SEEP_CPU_AVX2);
    open_room(&wide, stream, c, m, SEEP_CPU_AVX512);
    ck_assert_mem_eq(plain.picture.last, wide.picture.last, pixels * sizeof *plain.picture.last);
    ck_assert_mem_eq(plain.picture.image, wide.picture.image, pixels * 3 * sizeof(float));
    ck_assert_mem_eq(plain.picture.transmittance, wide.picture.transmittance,
                     pixels * sizeof(float));
    seep_splat_room_fini(&plain);
    seep_splat_room_fini(&wide);
}

TEST(a_picture_is_the_same_to_the_last_bit_with_avx2_and_avx512)
{
    static const struct {
        int width, height;
        size_t n;
        double stretch;
    } scenes[] = {{64, 48, 300, 1}, {17, 33, 2000, 2}, {100, 7, 150, 7}, {48, 48, 4000, 1}};
    struct seep_stream *stream = make_stream(CPU_3);
    struct seep_splat_host h;

    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        struct seep_splat_camera c = make_camera(scenes[i].width, scenes[i].height);
        make_scene(&h, scenes[i].n, 1, scenes[i].stretch, i + 1);
        check_alike(stream, &c, &h.model);
        seep_splat_host_fini(&h);
    }
    struct seep_splat_camera c = make_camera(WIDTH, HEIGHT);
    make_doubtful(&h, stream, &c);
    check_alike(stream, &c, &h.model);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}

/* A pixel is linear in the colours: they times the gradients by them, and the background times what
 * is left of it, make the pixel, if backward has blended what forward did. */
TEST(backward_takes_the_pairs_that_forward_blended, .to = SEEP_CPU_LEVELS)
{
    struct seep_stream *stream = make_stream(CPU_1);
    struct seep_splat_camera c = make_camera(WIDTH, HEIGHT);
    struct seep_splat_host h;
    struct seep_splat_room room;
    static float grad[WIDTH * HEIGHT * 3];
    size_t n_blended = 0;

    make_doubtful(&h, stream, &c);
    open_room(&room, stream, &c, &h.model, (enum seep_cpu_level)_i);
    for (int pixel = 0; pixel < WIDTH * HEIGHT; pixel++) {
        double sum = (double)room.picture.transmittance[pixel] * (double)c.background[0];
        grad[3 * pixel] = 1;
        ck_assert_int_eq(seep_splat_room_backward(&room, grad), 0);
        grad[3 * pixel] = 0;
        for (size_t i = 0; i < GAUSSIANS; i++) {
            double by_color = (double)room.gradients.sh[3 * i] / SEEP_SH_0;
            n_blended += by_color > 0;
            if (by_color > 0)
                sum += by_color * (double)room.projected.prints[i].color[0];
        }
        ck_assert_double_eq_tol(sum, (double)room.picture.image[3 * pixel], 1e-5);
    }
    ck_assert_uint_gt(n_blended, WIDTH * HEIGHT);
    seep_splat_room_fini(&room);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}

SUITE("splat levels")
