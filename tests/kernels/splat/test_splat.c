/* The splatting rasteriser forward: its closed forms, its twins against the double-precision
 * reference, its edges. */
#include "kernels/compute/cpu_levels.h"
#include "kernels/splat/splat_math.h"
#include "tests/kernels/splat/raster_fixture.h"
#include "tests/suite.h"

/* The picture of `h` on the stream; freed by the caller. */
static float *picture_of(struct seep_stream *stream, const struct seep_splat_camera *c,
                         const struct seep_splat_model *model)
{
    struct seep_splat_room room;
    float *image = calloc((size_t)c->width * (size_t)c->height, 3 * sizeof *image);

    ck_assert_ptr_nonnull(image);
    ck_assert_int_eq(seep_splat_room_init(&room, stream, c, model), 0);
    ck_assert_int_eq(seep_splat_room_forward(&room, image), 0);
    seep_splat_room_fini(&room);
    return image;
}

/* K Gaussians on the axis, the last one nearest: 40 · 0.4 / depth pixels wide. */
static void put_on_axis(struct seep_splat_host *h, size_t k)
{
    ck_assert_int_eq(seep_splat_host_init(h, k, 0), 0);
    for (size_t i = 0; i < k; i++) {
        h->means[i][2] = 5 - 0.5f * (float)i;
        for (int e = 0; e < 3; e++) {
            h->scales[i][e] = 0.4f;
            h->sh[3 * i + (size_t)e] = 0.3f * (float)e + 0.2f * (float)i - 0.4f;
        }
        h->rotations[i][1] = 3;
        h->opacities[i] = 0.2f + 0.1f * (float)i;
    }
}

/* C = Σ cᵢ αᵢ Π (1 − αⱼ) over those in front, background behind: with K = 1 the closed form of one.
 */
static void check_coaxial(int stream_kind, size_t k)
{
    struct seep_stream *stream = make_stream(stream_kind);
    struct seep_splat_host h;

    put_on_axis(&h, k);
    float *image = picture_of(stream, &straight, &h.model);
    for (int y = 0; y < straight.height; y++)
        for (int x = 0; x < straight.width; x++)
            for (int e = 0; e < 3; e++) {
                double through = 1, color = 0, r2 = pow(x - 20, 2) + pow(y - 17, 2);
                for (size_t i = k; i-- > 0;) {
                    double deviation = 40 * 0.4 / (double)h.means[i][2];
                    double alpha =
                        (double)h.opacities[i] * exp(-r2 / 2 / (deviation * deviation + 0.3));
                    if (alpha < 1 / 255.)
                        continue;
                    color += through * alpha * (0.5 + SEEP_SH_0 * (double)h.sh[3 * i + (size_t)e]);
                    through *= 1 - alpha;
                }
                color += through * (double)straight.background[e];
                ck_assert_double_eq_tol((double)image[3 * (y * straight.width + x) + e], color,
                                        2e-6);
            }
    free(image);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}

TEST(one_gaussian_on_the_axis_is_its_closed_form, .to = n_streams())
{
    check_coaxial(_i, 1);
}

TEST(gaussians_behind_each_other_are_blended_front_to_back, .to = n_streams())
{
    check_coaxial(_i, 5);
}

static const struct {
    int width, height, sh_degree;
    size_t n;
    double stretch;
} scenes[] = {
    {64, 48, 3, 300, 1}, {1, 1, 0, 50, 1},   {16, 16, 1, 1, 1},  {17, 33, 2, 200, 2},
    {100, 7, 3, 150, 3}, {33, 70, 3, 17, 0}, {80, 64, 1, 60, 6}, {48, 48, 3, 4000, 1},
};

static void check_picture(int stream_kind, const struct seep_splat_camera *camera,
                          const struct seep_splat_model *model)
{
    struct seep_stream *stream = make_stream(stream_kind);
    struct seep_splat_camera c = *camera;
    struct seep_reference_model reference;
    size_t pixels = (size_t)c.width * (size_t)c.height, values = 3 * pixels;
    double *expected = calloc(values, sizeof *expected), *left = calloc(pixels, sizeof *left);
    float *image = calloc(values, sizeof *image), *through = calloc(pixels, sizeof *through);
    struct seep_splat_room room;

    ck_assert_int_eq(seep_reference_model_from(&reference, model), 0);
    ck_assert_int_eq(seep_reference_render(&c, &reference, expected, left, NULL), 0);
    ck_assert_int_eq(seep_splat_room_init(&room, stream, &c, model), 0);
    ck_assert_int_eq(seep_splat_room_forward(&room, image), 0);
    ck_assert_int_eq(
        seep_stream_download(stream, through, room.picture.transmittance, pixels * sizeof *through),
        0);
    ck_assert_double_lt(relative_error(image, expected, values), 1e-5);
    ck_assert_double_eq(share_off(image, expected, values, 1e-4), 0);
    ck_assert_double_lt(relative_error(through, left, pixels), 1e-5);
    seep_splat_room_fini(&room);
    free(image);
    free(through);
    free(left);
    seep_reference_model_free(&reference);
    seep_stream_destroy(stream);
    free(expected);
}

/* On every stream, on CPU streams with every instruction set. */
static void check_against_reference(const struct seep_splat_camera *c,
                                    const struct seep_splat_model *model)
{
    for (int level = 0; level < SEEP_CPU_LEVELS; level++) {
        seep_cpu_level_allow((enum seep_cpu_level)level);
        check_picture(CPU_3, c, model);
    }
    if (has_cuda())
        check_picture(CUDA_0, c, model);
}

TEST(a_picture_agrees_with_the_double_precision_reference, .to = N(scenes))
{
    struct seep_splat_camera c = make_camera(scenes[_i].width, scenes[_i].height);
    struct seep_splat_host h;

    make_scene(&h, scenes[_i].n, scenes[_i].sh_degree, scenes[_i].stretch, (uint64_t)_i + 1);
    check_against_reference(&c, &h.model);
    seep_splat_host_fini(&h);
}

/* Coordinates of a map's grid: what tells a direction is lost where mean − centre is rounded. */
TEST(a_scene_500_km_from_the_origin_is_drawn_as_well)
{
    const float away[3] = {5e5f, -3e5f, 1e2f};
    struct seep_splat_camera c = make_camera(64, 48);
    struct seep_splat_host h;

    make_scene(&h, 300, 3, 1, 4);
    for (size_t i = 0; i < 300; i++)
        for (int k = 0; k < 3; k++)
            h.means[i][k] += away[k];
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++)
            c.translation[k] -= c.rotation[k][j] * away[j];
    check_against_reference(&c, &h.model);
    seep_splat_host_fini(&h);
}

/* What the twins leave out of the 3 sigma square is not to be seen, and they leave out what the
 * reference's tight lists do. */
TEST(the_reference_draws_the_same_over_the_twins_lists, .to = N(scenes))
{
    struct seep_stream *stream = make_stream(CPU_3);
    struct seep_splat_camera c = make_camera(scenes[_i].width, scenes[_i].height);
    struct seep_splat_host h;
    struct seep_reference_model reference;
    struct seep_splat_room room;
    size_t values = (size_t)c.width * (size_t)c.height * 3, n_pairs, n_tight;
    double *whole = calloc(values, sizeof *whole), *tight = calloc(values, sizeof *tight);

    make_scene(&h, scenes[_i].n, scenes[_i].sh_degree, scenes[_i].stretch, (uint64_t)_i + 1);
    ck_assert_int_eq(seep_reference_model_from(&reference, &h.model), 0);
    ck_assert_int_eq(seep_reference_render(&c, &reference, whole, NULL, &n_pairs), 0);
    ck_assert_int_eq(seep_reference_render_tight(&c, &reference, tight, NULL, &n_tight), 0);
    ck_assert_mem_eq(tight, whole, values * sizeof *tight);
    ck_assert_uint_le(n_tight, n_pairs);
    ck_assert_int_eq(seep_splat_room_init(&room, stream, &c, &h.model), 0);
    ck_assert_int_eq(seep_splat_room_project(&room), 0);
    /* A bound that lies at a pixel's centre may be rounded to its other side. */
    ck_assert_double_le(fabs((double)room.projected.n_pairs - (double)n_tight),
                        1e-3 * (double)n_tight);
    seep_splat_room_fini(&room);
    seep_reference_model_free(&reference);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
    free(whole);
    free(tight);
}

TEST(nothing_to_draw_leaves_the_background, .to = n_streams())
{
    struct seep_stream *stream = make_stream(_i);
    struct seep_splat_host empty, behind;

    ck_assert_int_eq(seep_splat_host_init(&empty, 0, 3), 0);
    make_scene(&behind, 40, 2, 1, 5);
    for (size_t i = 0; i < behind.model.n; i++)
        behind.means[i][2] = 0.2f - (float)i;
    for (int all_culled = 0; all_culled < 2; all_culled++) {
        float *image = picture_of(stream, &straight, all_culled ? &behind.model : &empty.model);
        for (int i = 0; i < straight.width * straight.height * 3; i++)
            ck_assert_float_eq(image[i], straight.background[i % 3]);
        free(image);
    }
    seep_splat_host_fini(&empty);
    seep_splat_host_fini(&behind);
    seep_stream_destroy(stream);
}

/* What is no number, in each place; a rotation without length; and what cannot be seen. */
static void spoil(struct seep_splat_host *h, size_t i)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};

    switch (i % 7) {
    case 0:
        h->means[i][i % 3] = bad[i / 7 % 3];
        break;
    case 1:
        h->scales[i][i % 3] = bad[i / 7 % 3];
        break;
    case 2:
        h->rotations[i][i % 4] = bad[i / 7 % 3];
        break;
    case 3:
        h->opacities[i] = bad[i / 7 % 3];
        break;
    case 4:
        memset(h->rotations[i], 0, sizeof h->rotations[i]);
        break;
    case 5:
        h->opacities[i] = 0;
        break;
    default:
        h->sh[i * (size_t)h->model.sh_stride * 3 + 5] = bad[i / 7 % 3];
    }
}

TEST(gaussians_that_are_no_numbers_are_not_drawn_and_spoil_nothing, .to = n_streams())
{
    struct seep_stream *stream = make_stream(_i);
    struct seep_splat_camera c = make_camera(50, 40);
    struct seep_splat_host h, good;
    size_t n = 100, n_bad = 63, bytes = 50 * 40 * 3 * sizeof(float);

    make_scene(&h, n, 1, 1, 9);
    make_scene(&good, n, 1, 1, 9);
    for (size_t i = 0; i < n_bad; i++) {
        spoil(&h, i);
        good.means[i][2] = -100;
    }
    float *image = picture_of(stream, &c, &h.model),
          *expected = picture_of(stream, &c, &good.model);
    ck_assert_mem_eq(image, expected, bytes);
    struct seep_reference_model reference;
    double *plain = calloc(bytes, 2);
    ck_assert_int_eq(seep_reference_model_from(&reference, &h.model), 0);
    ck_assert_int_eq(seep_reference_render(&c, &reference, plain, NULL, NULL), 0);
    ck_assert_double_lt(relative_error(image, plain, 50 * 40 * 3), 1e-5);
    seep_reference_model_free(&reference);
    free(plain);
    free(image);
    free(expected);
    seep_splat_host_fini(&h);
    seep_splat_host_fini(&good);
    seep_stream_destroy(stream);
}

TEST(a_tile_lists_its_gaussians_by_depth_then_index)
{
    struct seep_stream *stream = make_stream(CPU_3);
    struct seep_splat_camera c = make_camera(70, 50);
    struct seep_splat_host h;
    struct seep_splat_room room;

    make_scene(&h, 500, 0, 1, 11);
    for (size_t i = 0; i < 500; i += 3) /* ties */
        memcpy(h.means[i], h.means[499 - i], sizeof h.means[i]);
    ck_assert_int_eq(seep_splat_room_init(&room, stream, &c, &h.model), 0);
    ck_assert_int_eq(seep_splat_room_forward(&room, NULL), 0);
    size_t n_tiles = 5 * 4, n_found = 0;
    ck_assert_uint_eq(room.bins.tile_start[0], 0);
    ck_assert_uint_eq(room.bins.tile_start[n_tiles], room.projected.n_pairs);
    ck_assert_uint_gt(room.projected.n_pairs, 1000);
    for (size_t tile = 0; tile < n_tiles; tile++)
        for (size_t k = room.bins.tile_start[tile]; k < room.bins.tile_start[tile + 1]; k++) {
            uint32_t i = room.bins.gaussians[k];
            const uint16_t *t = room.projected.prints[i].tiles;
            ck_assert(t[0] <= tile % 5 && tile % 5 < t[2] && t[1] <= tile / 5 && tile / 5 < t[3]);
            n_found++;
            if (k == room.bins.tile_start[tile])
                continue;
            uint32_t before = room.bins.gaussians[k - 1];
            float d = room.projected.prints[before].depth, e = room.projected.prints[i].depth;
            ck_assert_msg(d < e || (d == e && before < i), "%u (%g) before %u (%g)", before,
                          (double)d, i, (double)e);
        }
    ck_assert_uint_eq(n_found, room.projected.n_pairs);
    seep_splat_room_fini(&room);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}

TEST(a_picture_does_not_hang_on_the_number_of_threads)
{
    const unsigned threads[] = {1, 2, 3, 7};
    struct seep_splat_camera c = make_camera(120, 75);
    struct seep_splat_host h;
    float *first = NULL;

    make_scene(&h, 1500, 2, 1, 13);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        struct seep_stream *stream;
        ck_assert_int_eq(seep_stream_create_cpu(threads[i], &stream), 0);
        float *image = picture_of(stream, &c, &h.model);
        if (first) {
            ck_assert_mem_eq(image, first, 120 * 75 * 3 * sizeof *image);
            free(image);
        } else {
            first = image;
        }
        seep_stream_destroy(stream);
    }
    free(first);
    seep_splat_host_fini(&h);
}

static void check_garden_view(struct seep_stream *stream, const struct seep_splat_camera *c,
                              const struct seep_splat_model *m,
                              const struct seep_reference_model *reference)
{
    size_t values = (size_t)c->width * (size_t)c->height * 3;
    double *expected = calloc(values, sizeof *expected);

    ck_assert_int_eq(seep_reference_render(c, reference, expected, NULL, NULL), 0);
    float *image = picture_of(stream, c, m);
    ck_assert_double_lt(relative_error(image, expected, values), 1e-5);
    /* Pairs at a threshold go the other way in single precision: a few pixels of 272,160, by at
     * most 1/255. */
    ck_assert_double_lt(share_off(image, expected, values, 1e-4), 1e-4);
    free(image);
    free(expected);
}

TEST(the_garden_agrees_with_the_double_precision_reference, .from = CPU_3, .to = n_streams(),
     .left_out = !garden_path())
{
    struct seep_stream *stream = make_stream(_i);
    struct seep_garden g;
    struct seep_reference_model reference;
    struct seep_error err = {0};

    ck_assert_msg(seep_garden_read(garden_path(), 3, 1, &g, &err) == 0, "%s", err.text);
    ck_assert_uint_gt(g.n_cameras, 0);
    ck_assert_int_eq(seep_reference_model_from(&reference, &g.host.model), 0);
    for (size_t view = 0; view < g.n_cameras; view++)
        check_garden_view(stream, &g.cameras[view], &g.host.model, &reference);
    seep_reference_model_free(&reference);
    seep_garden_free(&g);
    seep_stream_destroy(stream);
}

SUITE("splat")
