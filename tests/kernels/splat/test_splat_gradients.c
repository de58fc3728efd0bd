/* The splatting rasteriser backward: the reference against finite differences, the twins against
 * the reference. */
#include "kernels/compute/cpu_levels.h"
#include "kernels/splat/splat_math.h"
#include "tests/kernels/splat/raster_fixture.h"
#include "tests/suite.h"

/* One array of gradients, of the twin and of the reference. */
struct pair {
    const char *name;
    const float *got;
    const double *expected;
    size_t n;
};

enum { N_ARRAYS = 6 };

/* A gradient of the picture that no symmetry hides in. */
static float *make_image_grad(const struct seep_splat_camera *c, uint64_t seed)
{
    size_t values = (size_t)c->width * (size_t)c->height * 3;
    float *grad = calloc(values, sizeof *grad);

    ck_assert_ptr_nonnull(grad);
    for (size_t i = 0; i < values; i++)
        grad[i] = (float)next_number(&seed);
    return grad;
}

static void gradients_of(struct seep_stream *stream, const struct seep_splat_camera *c,
                         const struct seep_splat_model *model, const float *image_grad,
                         struct seep_splat_gradients *out)
{
    struct seep_splat_room room;

    alloc_gradients(out, model);
    ck_assert_int_eq(seep_splat_room_init(&room, stream, c, model), 0);
    ck_assert_int_eq(seep_splat_room_forward(&room, NULL), 0);
    ck_assert_int_eq(seep_splat_room_backward(&room, image_grad), 0);
    ck_assert_int_eq(seep_splat_room_download(&room, out), 0);
    seep_splat_room_fini(&room);
}

/* All arrays of the twin against the reference's, by norm and number by number: at most `most_off`
 * of the numbers may differ by more than 1e-3, where a pair at a threshold went the other way. */
static void check_gradients(struct seep_stream *stream, const struct seep_splat_camera *c,
                            const struct seep_splat_model *m, double most_norm, double most_off)
{
    size_t values = (size_t)c->width * (size_t)c->height * 3;
    float *image_grad = make_image_grad(c, 17);
    double *wide = calloc(values, sizeof *wide), (*means2d)[2] = calloc(m->n, sizeof *means2d);
    struct seep_splat_gradients got;
    struct seep_reference_model from, expected;

    for (size_t i = 0; i < values; i++)
        wide[i] = (double)image_grad[i];
    gradients_of(stream, c, m, image_grad, &got);
    ck_assert_int_eq(seep_reference_model_from(&from, m), 0);
    ck_assert_int_eq(seep_reference_model_init(&expected, m->n, m->sh_degree, m->sh_stride), 0);
    ck_assert_int_eq(seep_reference_backward(c, &from, wide, &expected, means2d), 0);
    const struct pair arrays[N_ARRAYS] = {
        {"means", got.means[0], expected.means[0], 3 * m->n},
        {"scales", got.scales[0], expected.scales[0], 3 * m->n},
        {"rotations", got.rotations[0], expected.rotations[0], 4 * m->n},
        {"opacities", got.opacities, expected.opacities, m->n},
        {"sh", got.sh, expected.sh, m->n * (size_t)m->sh_stride * 3},
        {"means2d", got.means2d[0], means2d[0], 2 * m->n},
    };
    for (size_t i = 0; i < N_ARRAYS; i++) {
        double norm = relative_error(arrays[i].got, arrays[i].expected, arrays[i].n);
        double off = share_off(arrays[i].got, arrays[i].expected, arrays[i].n, 1e-3);
        ck_assert_msg(norm <= most_norm && off <= most_off, "%s: off by %g, %g of the numbers",
                      arrays[i].name, norm, off);
    }
    free_gradients(&got);
    seep_reference_model_free(&from);
    seep_reference_model_free(&expected);
    free(means2d);
    free(wide);
    free(image_grad);
}

/* The loss sum image · image_grad, in double. */
static double loss_of(const struct seep_splat_camera *c, const struct seep_reference_model *m,
                      const float *image_grad, double *image)
{
    double loss = 0;

    ck_assert_int_eq(seep_reference_render(c, m, image, NULL, NULL), 0);
    for (int i = 0; i < c->width * c->height * 3; i++)
        loss += image[i] * (double)image_grad[i];
    return loss;
}

/* The clamps are in it: a Gaussian beyond the Jacobian's limit, colours at 0, alpha at 0.99. */
static void make_clamped(struct seep_splat_host *h, const struct seep_splat_camera *camera)
{
    make_scene(h, 8, 3, 1, 41);
    h->opacities[2] = 1;
    for (int k = 0; k < 3; k++) {
        h->means[2][k] = 8 * camera->rotation[2][k];
        h->scales[2][k] = 1 + 0.5f * (float)k;
        h->scales[3][k] = 2;
        h->sh[4 * 48 + k] = -3;
    }
    h->means[3][0] += 4.5f;
}

/* d loss / d each parameter, by central differences; the gradient's largest number sets the scale.
 */
TEST(the_references_gradients_are_those_of_finite_differences)
{
    struct seep_splat_camera c = make_camera(30, 24);
    struct seep_splat_host h;
    struct seep_reference_model m, gradient;
    float *image_grad = make_image_grad(&c, 23);
    double *image = calloc(30 * 24 * 3, sizeof *image), *wide = calloc(30 * 24 * 3, sizeof *wide);

    make_clamped(&h, &c);
    ck_assert_int_eq(seep_reference_model_from(&m, &h.model), 0);
    ck_assert_int_eq(seep_reference_model_init(&gradient, m.n, 3, 16), 0);
    for (int i = 0; i < 30 * 24 * 3; i++)
        wide[i] = (double)image_grad[i];
    ck_assert_int_eq(seep_reference_backward(&c, &m, wide, &gradient, NULL), 0);
    const struct {
        const char *name;
        double *parameters;
        const double *gradients;
        size_t n;
    } arrays[] = {
        {"means", m.means[0], gradient.means[0], 3 * m.n},
        {"scales", m.scales[0], gradient.scales[0], 3 * m.n},
        {"rotations", m.rotations[0], gradient.rotations[0], 4 * m.n},
        {"opacities", m.opacities, gradient.opacities, m.n},
        {"sh", m.sh, gradient.sh, 48 * m.n},
    };
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
        double largest = 0;
        for (size_t i = 0; i < arrays[a].n; i++)
            largest = fmax(largest, fabs(arrays[a].gradients[i]));
        ck_assert_double_gt(largest, 0.01);
        for (size_t i = 0; i < arrays[a].n; i++) {
            double at = arrays[a].parameters[i], h1 = 1e-6;
            arrays[a].parameters[i] = at + h1;
            double above = loss_of(&c, &m, image_grad, image);
            arrays[a].parameters[i] = at - h1;
            double below = loss_of(&c, &m, image_grad, image);
            arrays[a].parameters[i] = at;
            double slope = (above - below) / (2 * h1), got = arrays[a].gradients[i];
            ck_assert_msg(fabs(got - slope) <= 1e-6 * (fabs(slope) + largest),
                          "%s %zu: %.9g by chain rule, %.9g by differences", arrays[a].name, i, got,
                          slope);
        }
    }
    seep_reference_model_free(&m);
    seep_reference_model_free(&gradient);
    seep_splat_host_fini(&h);
    free(image_grad);
    free(image);
    free(wide);
}

/* Needles go through many tiles each; the thread sanitizer's are fewer. */
#ifdef __SANITIZE_THREAD__
enum { WIDE = 200, NEEDLES = 150 };
#else
enum { WIDE = 400, NEEDLES = 500 };
#endif

static const struct {
    int width, height, sh_degree;
    size_t n;
    double stretch;
} scenes[] = {
    {64, 48, 3, 300, 1},
    {1, 1, 0, 50, 1},
    {17, 33, 2, 200, 2},
    {100, 7, 1, 150, 2},
    {33, 70, 0, 17, 0.5},
    {48, 48, 3, 3000, 1},
    {WIDE, WIDE * 3 / 4, 1, NEEDLES, 7},
};

TEST(gradients_agree_with_the_double_precision_reference, .to = N(scenes))
{
    struct seep_splat_camera c = make_camera(scenes[_i].width, scenes[_i].height);
    struct seep_splat_host h;

    make_scene(&h, scenes[_i].n, scenes[_i].sh_degree, scenes[_i].stretch, (uint64_t)_i + 1);
    for (int kind = CPU_1; kind < n_streams(); kind++) {
        struct seep_stream *stream = make_stream(kind);
        for (int level = 0; level < (kind == CUDA_0 ? 1 : SEEP_CPU_LEVELS); level++) {
            seep_cpu_level_allow((enum seep_cpu_level)level);
            check_gradients(stream, &c, &h.model, 1e-4, 0);
        }
        seep_stream_destroy(stream);
    }
    seep_splat_host_fini(&h);
}

TEST(no_gradient_passes_through_a_clamp, .to = n_streams())
{
    struct seep_stream *stream = make_stream(_i);
    struct seep_splat_camera c = make_camera(30, 24);
    struct seep_splat_host h;

    make_clamped(&h, &c);
    check_gradients(stream, &c, &h.model, 1e-4, 0);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}

TEST(what_is_not_drawn_has_gradients_of_zero, .to = n_streams())
{
    struct seep_stream *stream = make_stream(_i);
    struct seep_splat_camera c = make_camera(40, 30);
    struct seep_splat_host h;
    struct seep_splat_gradients g;
    float *image_grad = make_image_grad(&c, 5);
    static const float zeros[48];
    size_t drawn = 0;

    make_scene(&h, 64, 3, 1, 2);
    for (size_t i = 0; i < 64; i += 4) {
        h.means[i][2] = -5;
        h.scales[i + 1][1] = NAN;
        h.opacities[i + 2] = 0.003f;
    }
    gradients_of(stream, &c, &h.model, image_grad, &g);
    for (size_t i = 0; i < 64; i++) {
        if (i % 4 == 3) {
            drawn += g.opacities[i] != 0 && isfinite(g.opacities[i]);
            continue;
        }
        ck_assert_mem_eq(g.means[i], zeros, sizeof g.means[i]);
        ck_assert_mem_eq(g.scales[i], zeros, sizeof g.scales[i]);
        ck_assert_mem_eq(g.rotations[i], zeros, sizeof g.rotations[i]);
        ck_assert_float_eq(g.opacities[i], 0);
        ck_assert_mem_eq(g.sh + 48 * i, zeros, sizeof zeros);
        ck_assert_mem_eq(g.means2d[i], zeros, sizeof g.means2d[i]);
    }
    ck_assert_uint_gt(drawn, 8);
    free_gradients(&g);
    h.model.n = 0;
    gradients_of(stream, &c, &h.model, image_grad, &g);
    free_gradients(&g);
    seep_splat_host_fini(&h);
    free(image_grad);
    seep_stream_destroy(stream);
}

TEST(coefficients_beyond_the_degree_in_use_have_gradients_of_zero, .to = n_streams())
{
    struct seep_stream *stream = make_stream(_i);
    struct seep_splat_camera c = make_camera(40, 30);
    struct seep_splat_host h;

    make_scene(&h, 50, 3, 1, 2);
    h.model.sh_degree = 1; /* of a stride for 3 */
    check_gradients(stream, &c, &h.model, 1e-4, 0);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}

TEST(gradients_do_not_hang_on_the_number_of_threads)
{
    const unsigned threads[] = {1, 2, 3, 7};
    struct seep_splat_camera c = make_camera(120, 75);
    struct seep_splat_host h;
    struct seep_splat_gradients first, g;
    float *image_grad = make_image_grad(&c, 5);

    make_scene(&h, 1000, 3, 1, 13);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        struct seep_stream *stream;
        ck_assert_int_eq(seep_stream_create_cpu(threads[i], &stream), 0);
        gradients_of(stream, &c, &h.model, image_grad, i ? &g : &first);
        if (i) {
            ck_assert_mem_eq(g.means, first.means, 1000 * sizeof *g.means);
            ck_assert_mem_eq(g.scales, first.scales, 1000 * sizeof *g.scales);
            ck_assert_mem_eq(g.rotations, first.rotations, 1000 * sizeof *g.rotations);
            ck_assert_mem_eq(g.opacities, first.opacities, 1000 * sizeof *g.opacities);
            ck_assert_mem_eq(g.sh, first.sh, 48000 * sizeof *g.sh);
            free_gradients(&g);
        }
        seep_stream_destroy(stream);
    }
    free_gradients(&first);
    free(image_grad);
    seep_splat_host_fini(&h);
}

TEST(the_gardens_gradients_agree_with_the_double_precision_reference, .from = CPU_3,
     .to = n_streams(), .left_out = !garden_path())
{
    struct seep_stream *stream = make_stream(_i);
    struct seep_garden g;
    struct seep_error err = {0};

    ck_assert_msg(seep_garden_read(garden_path(), 3, 1, &g, &err) == 0, "%s", err.text);
    /* A pair at a threshold that goes the other way is one of thousands in a sum, but the whole of
     * a small one. */
    check_gradients(stream, &g.cameras[0], &g.host.model, 1e-3, 1e-3);
    seep_garden_free(&g);
    seep_stream_destroy(stream);
}

/* Needles by CUDA's kernels on the CPU, sanitized, take long. */
SUITE("splat gradients", .timeout_s = 120)
