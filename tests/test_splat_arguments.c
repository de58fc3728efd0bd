/* What the splatting rasteriser is asked for and cannot do: refused, and nothing is written. */
#include "kernels/splat/splat_math.h"
#include "tests/raster_fixture.h"
#include "tests/suite.h"

static void spoil_arguments(int how, struct seep_splat_camera *c, struct seep_splat_model *m,
                            struct seep_splat_projected *p)
{
    switch (how) {
    case 0:
        c->width = 0;
        break;
    case 1:
        c->height = 16385;
        break;
    case 2:
        c->fx = 0;
        break;
    case 3:
        c->fy = NAN;
        break;
    case 4:
        c->rotation[1][2] = INFINITY;
        break;
    case 5:
        m->sh_degree = 4;
        break;
    case 6:
        m->sh_degree = -1;
        break;
    case 7:
        m->sh_stride = 3;
        break;
    case 8:
        m->n = (size_t)1 << 31;
        break;
    case 9:
        m->opacities = NULL;
        break;
    case 10:
        p->offsets = NULL;
        break;
    default:
        p->roots = NULL;
    }
}

START_TEST(wrong_arguments_are_refused)
{
    struct seep_stream *stream = make_stream(CPU_1);
    struct seep_splat_host h;
    struct seep_splat_room r;
    size_t bytes = 1 << 20;

    make_scene(&h, 10, 1, 1, 3);
    ck_assert_int_eq(seep_splat_room_init(&r, stream, &straight, &h.model), 0);
    ck_assert_int_eq(seep_splat_room_forward(&r, NULL), 0);
    for (int how = 0; how < 12; how++) {
        struct seep_splat_camera c = straight;
        struct seep_splat_model m = r.model;
        struct seep_splat_projected p = r.projected;
        spoil_arguments(how, &c, &m, &p);
        ck_assert_int_eq(seep_splat_project(&c, &m, &p, r.scratch, &bytes, stream), -SEEP_EINVAL);
    }
    ck_assert_int_eq(seep_splat_project(NULL, &r.model, &r.projected, NULL, &bytes, stream),
                     -SEEP_EINVAL);
    struct seep_splat_bins bins = {r.bins.gaussians, NULL};
    struct seep_splat_picture picture = {r.picture.image, NULL, r.picture.last};
    ck_assert_int_eq(seep_splat_bin(&straight, 10, &r.projected, &bins, r.scratch, &bytes, stream),
                     -SEEP_EINVAL);
    ck_assert_int_eq(
        seep_splat_render(&straight, &r.model, &r.projected, &r.bins, &picture, stream),
        -SEEP_EINVAL);
    ck_assert_int_eq(seep_splat_backward(&straight, &r.model, &r.projected, &r.bins, &r.picture,
                                         NULL, &r.gradients, r.scratch, &bytes, stream),
                     -SEEP_EINVAL);
    seep_splat_room_fini(&r);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}
END_TEST

START_TEST(too_little_scratch_is_refused_and_nothing_is_written_past_it)
{
    struct seep_stream *stream = make_stream(_i);
    struct seep_splat_host h;
    struct seep_splat_room r;
    size_t needed = 0, less;

    make_scene(&h, 100, 1, 1, 3);
    ck_assert_int_eq(seep_splat_room_init(&r, stream, &straight, &h.model), 0);
    ck_assert_int_eq(seep_splat_room_forward(&r, NULL), 0);
    ck_assert_int_eq(seep_splat_room_backward(&r, NULL), 0);
    ck_assert_int_eq(seep_splat_project(&straight, &r.model, &r.projected, NULL, &needed, stream),
                     0);
    less = needed - 1;
    ck_assert_int_eq(
        seep_splat_project(&straight, &r.model, &r.projected, r.scratch, &less, stream),
        -SEEP_EINVAL);
    ck_assert_int_eq(seep_splat_bin(&straight, 100, &r.projected, &r.bins, NULL, &needed, stream),
                     0);
    less = needed - 1;
    ck_assert_int_eq(
        seep_splat_bin(&straight, 100, &r.projected, &r.bins, r.scratch, &less, stream),
        -SEEP_EINVAL);
    ck_assert_int_eq(seep_splat_backward(&straight, &r.model, &r.projected, &r.bins, &r.picture,
                                         r.image_grad, &r.gradients, NULL, &needed, stream),
                     0);
    less = needed - 1;
    ck_assert_int_eq(seep_splat_backward(&straight, &r.model, &r.projected, &r.bins, &r.picture,
                                         r.image_grad, &r.gradients, r.scratch, &less, stream),
                     -SEEP_EINVAL);
    seep_splat_room_fini(&r);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}
END_TEST

/* 4200 Gaussians that cover all of 1024 × 1024 tiles. */
START_TEST(more_pairs_than_can_be_counted_are_refused)
{
    enum { N = 4200 };
    struct seep_stream *stream = make_stream(CPU_3);
    struct seep_splat_camera c = {.width = 16384,
                                  .height = 16384,
                                  .fx = 16384,
                                  .fy = 16384,
                                  .cx = 8192,
                                  .cy = 8192,
                                  .rotation = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    static float means2d[N][2], roots[N][3], colors[N][3], depths[N];
    static uint16_t tiles[N][4];
    static uint32_t offsets[N + 1];
    static uint64_t scratch[64];
    struct seep_splat_projected p = {means2d, roots, colors, depths, tiles, offsets, 0};
    struct seep_splat_host h;
    size_t bytes = sizeof scratch;

    ck_assert_int_eq(seep_splat_host_init(&h, N, 0), 0);
    for (size_t i = 0; i < N; i++) {
        h.means[i][2] = 5;
        h.scales[i][0] = h.scales[i][1] = h.scales[i][2] = 100;
        h.rotations[i][0] = 1;
        h.opacities[i] = 0.9f;
    }
    ck_assert_int_eq(seep_splat_project(&c, &h.model, &p, scratch, &bytes, stream), -SEEP_EINVAL);
    h.model.n = 4095;
    ck_assert_int_eq(seep_splat_project(&c, &h.model, &p, scratch, &bytes, stream), 0);
    ck_assert_uint_eq(p.n_pairs, (size_t)4095 << 20);
    ck_assert_uint_eq(offsets[4095], (uint32_t)4095 << 20);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("splat arguments");
    TCase *c = tcase_create("arguments");

    tcase_add_test(c, wrong_arguments_are_refused);
    tcase_add_loop_test(c, too_little_scratch_is_refused_and_nothing_is_written_past_it, 0,
                        n_streams());
    tcase_add_test(c, more_pairs_than_can_be_counted_are_refused);
    suite_add_tcase(suite, c);
    return suite_run(suite);
}
