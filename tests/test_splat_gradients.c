/* The splatting rasteriser backward: the reference against finite differences, the twins against
 * the reference; loss and Adam. */
#include "kernels/splat/splat_adam.h"
#include "kernels/splat/splat_levels.h"
#include "kernels/splat/splat_loss.h"
#include "kernels/splat/splat_math.h"
#include "tests/raster_fixture.h"
#include "tests/suite.h"

/* One array of gradients, of the twin and of the reference. */
struct pair {
    const char *name;
    const float *got;
    const double *expected;
    size_t n;
};

enum { N_ARRAYS = 6 };

static void alloc_gradients(struct seep_splat_gradients *g, const struct seep_splat_model *m)
{
    size_t room = m->n ? m->n : 1;

    g->means = calloc(room, sizeof *g->means);
    g->scales = calloc(room, sizeof *g->scales);
    g->rotations = calloc(room, sizeof *g->rotations);
    g->opacities = calloc(room, sizeof *g->opacities);
    g->sh = calloc(room * (size_t)m->sh_stride, 3 * sizeof *g->sh);
    g->means2d = calloc(room, sizeof *g->means2d);
    ck_assert(g->means && g->scales && g->rotations && g->opacities && g->sh && g->means2d);
}

static void free_gradients(struct seep_splat_gradients *g)
{
    free(g->means);
    free(g->scales);
    free(g->rotations);
    free(g->opacities);
    free(g->sh);
    free(g->means2d);
}

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
START_TEST(the_references_gradients_are_those_of_finite_differences)
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
END_TEST

static const struct {
    int width, height, sh_degree;
    size_t n;
    double stretch;
} scenes[] = {
    {64, 48, 3, 300, 1}, {1, 1, 0, 50, 1},     {17, 33, 2, 200, 2},
    {100, 7, 1, 150, 2}, {33, 70, 0, 17, 0.5}, {48, 48, 3, 3000, 1},
};

START_TEST(gradients_agree_with_the_double_precision_reference)
{
    struct seep_splat_camera c = make_camera(scenes[_i].width, scenes[_i].height);
    struct seep_splat_host h;

    make_scene(&h, scenes[_i].n, scenes[_i].sh_degree, scenes[_i].stretch, (uint64_t)_i + 1);
    for (int kind = CPU_1; kind < N_STREAMS; kind++) {
        struct seep_stream *stream = make_stream(kind);
        for (int level = 0; stream && level < SEEP_CPU_LEVELS; level++) {
            seep_cpu_level_allow((enum seep_cpu_level)level);
            check_gradients(stream, &c, &h.model, 1e-4, 0);
            level += kind == CPU_1 ? 0 : SEEP_CPU_LEVELS;
        }
        seep_stream_destroy(stream);
    }
    seep_splat_host_fini(&h);
}
END_TEST

START_TEST(no_gradient_passes_through_a_clamp)
{
    struct seep_stream *stream = make_stream(_i);
    struct seep_splat_camera c = make_camera(30, 24);
    struct seep_splat_host h;

    if (!stream)
        return;
    make_clamped(&h, &c);
    check_gradients(stream, &c, &h.model, 1e-4, 0);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}
END_TEST

START_TEST(what_is_not_drawn_has_gradients_of_zero)
{
    struct seep_stream *stream = make_stream(_i);
    struct seep_splat_camera c = make_camera(40, 30);
    struct seep_splat_host h;
    struct seep_splat_gradients g;
    float *image_grad = make_image_grad(&c, 5);
    static const float zeros[48];
    size_t drawn = 0;

    if (stream) {
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
    }
    free(image_grad);
    seep_stream_destroy(stream);
}
END_TEST

START_TEST(coefficients_beyond_the_degree_in_use_have_gradients_of_zero)
{
    struct seep_stream *stream = make_stream(_i);
    struct seep_splat_camera c = make_camera(40, 30);
    struct seep_splat_host h;

    if (!stream)
        return;
    make_scene(&h, 50, 3, 1, 2);
    h.model.sh_degree = 1; /* of a stride for 3 */
    check_gradients(stream, &c, &h.model, 1e-4, 0);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}
END_TEST

START_TEST(gradients_do_not_hang_on_the_number_of_threads)
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
END_TEST

START_TEST(a_loss_and_its_gradient_are_those_of_plain_loops)
{
    enum { N = 10001 };
    struct seep_stream *stream = make_stream(_i);
    static float image[N], target[N], grad[N];
    struct seep_splat_loss loss;
    float *on_stream[3];
    void *scratch;
    size_t bytes = 0;
    double l1 = 0, mse = 0;
    uint64_t seed = 8;

    if (!stream)
        return;
    for (int i = 0; i < N; i++) {
        image[i] = (float)next_number(&seed);
        target[i] = i % 10 ? (float)next_number(&seed) : image[i];
        l1 += fabs((double)image[i] - (double)target[i]) / N;
        mse += pow((double)image[i] - (double)target[i], 2) / N;
    }
    for (int k = 0; k < 3; k++)
        ck_assert_int_eq(seep_stream_alloc(stream, sizeof image, (void **)&on_stream[k]), 0);
    ck_assert_int_eq(seep_stream_upload(stream, on_stream[0], image, sizeof image), 0);
    ck_assert_int_eq(seep_stream_upload(stream, on_stream[1], target, sizeof target), 0);
    ck_assert_int_eq(
        seep_splat_loss(on_stream[0], on_stream[1], N, on_stream[2], &loss, NULL, &bytes, stream),
        0);
    ck_assert_int_eq(seep_stream_alloc(stream, bytes, &scratch), 0);
    ck_assert_int_eq(seep_splat_loss(on_stream[0], on_stream[1], N, on_stream[2], &loss, scratch,
                                     &bytes, stream),
                     0);
    ck_assert_int_eq(seep_stream_download(stream, grad, on_stream[2], sizeof grad), 0);
    ck_assert_double_eq_tol(loss.l1, l1, 1e-6 * l1);
    ck_assert_double_eq_tol(loss.mse, mse, 1e-6 * mse);
    ck_assert_double_eq_tol(loss.psnr_db, -10 * log10(mse), 1e-4);
    for (int i = 0; i < N; i++) {
        double sign = image[i] > target[i] ? 1 : image[i] < target[i] ? -1 : 0;
        ck_assert_double_eq_tol((double)grad[i], sign / N, 1e-9);
    }
    ck_assert_int_eq(
        seep_splat_loss(on_stream[0], on_stream[0], N, NULL, &loss, scratch, &bytes, stream), 0);
    ck_assert(loss.l1 == 0 && loss.mse == 0 && isinf(loss.psnr_db));
    ck_assert_int_eq(seep_splat_loss(NULL, NULL, 0, NULL, &loss, scratch, &bytes, stream), 0);
    ck_assert(loss.l1 == 0 && isinf(loss.psnr_db));
    bytes = 0;
    ck_assert_int_eq(
        seep_splat_loss(on_stream[0], on_stream[0], N, NULL, &loss, scratch, &bytes, stream),
        -SEEP_EINVAL);
    for (int k = 0; k < 3; k++)
        seep_stream_free(stream, on_stream[k]);
    seep_stream_free(stream, scratch);
    seep_stream_destroy(stream);
}
END_TEST

/* A model's arrays for Adam on the CPU, in calloc()ed memory. */
static void alloc_parameters(struct seep_splat_parameters *p, const struct seep_splat_model *m)
{
    p->means = calloc(m->n, sizeof *p->means);
    p->log_scales = calloc(m->n, sizeof *p->log_scales);
    p->rotations = calloc(m->n, sizeof *p->rotations);
    p->logits = calloc(m->n, sizeof *p->logits);
    p->sh = calloc(m->n * (size_t)m->sh_stride, 3 * sizeof *p->sh);
    ck_assert(p->means && p->log_scales && p->rotations && p->logits && p->sh);
}

static void free_parameters(struct seep_splat_parameters *p)
{
    free(p->means);
    free(p->log_scales);
    free(p->rotations);
    free(p->logits);
    free(p->sh);
}

/* The parameters of a trained model are the model's own. */
static void train_from(struct seep_splat_trained *t, const struct seep_splat_host *h)
{
    size_t n = h->model.n;

    alloc_parameters(&t->parameters, &h->model);
    alloc_parameters(&t->first, &h->model);
    alloc_parameters(&t->second, &h->model);
    t->scales = calloc(n, sizeof *t->scales);
    t->opacities = calloc(n, sizeof *t->opacities);
    memcpy(t->parameters.means, h->means, n * sizeof *h->means);
    memcpy(t->parameters.rotations, h->rotations, n * sizeof *h->rotations);
    memcpy(t->parameters.sh, h->sh, n * (size_t)h->model.sh_stride * 3 * sizeof *h->sh);
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++)
            t->parameters.log_scales[i][k] = logf(h->scales[i][k]);
        t->parameters.logits[i] = logf(h->opacities[i] / (1 - h->opacities[i]));
    }
}

static void train_fini(struct seep_splat_trained *t)
{
    free_parameters(&t->parameters);
    free_parameters(&t->first);
    free_parameters(&t->second);
    free(t->scales);
    free(t->opacities);
}

/* Adam of one number, in double, as the paper has it. */
struct plain_adam {
    double value, first, second;
};

static void plain_step(struct plain_adam *a, double rate, double gradient, int step)
{
    a->first = 0.9 * a->first + 0.1 * gradient;
    a->second = 0.999 * a->second + 0.001 * gradient * gradient;
    a->value -=
        rate * a->first / (1 - pow(0.9, step)) / (sqrt(a->second / (1 - pow(0.999, step))) + 1e-15);
}

START_TEST(adam_steps_every_parameter_as_its_paper_says)
{
    struct seep_stream *stream = make_stream(CPU_3);
    struct seep_splat_host h;
    struct seep_splat_trained t;
    struct seep_splat_gradients g;
    struct seep_splat_rates rates = seep_splat_rates_of_paper(3);
    uint64_t seed = 6;

    make_scene(&h, 5, 1, 1, 2);
    train_from(&t, &h);
    alloc_gradients(&g, &h.model);
    ck_assert_int_eq(seep_splat_adam(5, 4, NULL, NULL, 0, &t, stream), 0);
    ck_assert_float_eq_tol(t.opacities[1], h.opacities[1], 1e-6f);
    ck_assert_float_eq_tol(t.scales[1][2], h.scales[1][2], 1e-6f);
    struct plain_adam mean = {.value = (double)t.parameters.means[4][1]};
    struct plain_adam scale = {.value = (double)t.parameters.log_scales[3][0]};
    struct plain_adam rotation = {.value = (double)t.parameters.rotations[2][3]};
    struct plain_adam logit = {.value = (double)t.parameters.logits[1]};
    struct plain_adam first_sh = {.value = (double)t.parameters.sh[12 * 2 + 2]};
    struct plain_adam rest_sh = {.value = (double)t.parameters.sh[12 * 2 + 3]};
    for (int step = 1; step <= 20; step++) {
        double s = exp(scale.value), o = 1 / (1 + exp(-logit.value));
        plain_step(&mean, 4.8e-4, (double)(g.means[4][1] = (float)next_number(&seed)), step);
        plain_step(&scale, 5e-3, s * (double)(g.scales[3][0] = (float)next_number(&seed)), step);
        plain_step(&rotation, 1e-3, (double)(g.rotations[2][3] = (float)next_number(&seed)), step);
        plain_step(&logit, 5e-2, o * (1 - o) * (double)(g.opacities[1] = (float)next_number(&seed)),
                   step);
        plain_step(&first_sh, 2.5e-3, (double)(g.sh[12 * 2 + 2] = (float)next_number(&seed)), step);
        plain_step(&rest_sh, 1.25e-4, (double)(g.sh[12 * 2 + 3] = (float)next_number(&seed)), step);
        ck_assert_int_eq(seep_splat_adam(5, 4, &g, &rates, (unsigned)step, &t, stream), 0);
    }
    ck_assert_double_eq_tol((double)t.parameters.means[4][1], mean.value, 2e-6);
    ck_assert_double_eq_tol((double)t.parameters.log_scales[3][0], scale.value, 2e-6);
    ck_assert_double_eq_tol((double)t.scales[3][0], exp(scale.value), 2e-6);
    ck_assert_double_eq_tol((double)t.parameters.rotations[2][3], rotation.value, 2e-6);
    ck_assert_double_eq_tol((double)t.parameters.logits[1], logit.value, 2e-6);
    ck_assert_double_eq_tol((double)t.opacities[1], 1 / (1 + exp(-logit.value)), 2e-6);
    ck_assert_double_eq_tol((double)t.parameters.sh[12 * 2 + 2], first_sh.value, 2e-6);
    ck_assert_double_eq_tol((double)t.parameters.sh[12 * 2 + 3], rest_sh.value, 2e-6);
    ck_assert_float_eq(t.parameters.means[0][0], h.means[0][0]); /* gradient 0: stays */
    ck_assert_int_eq(seep_splat_adam(5, 4, NULL, &rates, 1, &t, stream), -SEEP_EINVAL);
    train_fini(&t);
    free_gradients(&g);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}
END_TEST

/* Train a spoilt model on the picture of the good one: the loss must fall to a fraction. */
START_TEST(training_brings_a_picture_back)
{
    struct seep_stream *stream = make_stream(CPU_3);
    struct seep_splat_camera c = make_camera(48, 40);
    struct seep_splat_host h;
    struct seep_splat_trained t;
    struct seep_splat_room r;
    struct seep_splat_rates rates = seep_splat_rates_of_paper(10);
    size_t values = 48 * 40 * 3, bytes = 0;
    float *target = calloc(values, sizeof *target);
    uint64_t seed = 3;
    double losses[151];

    make_scene(&h, 60, 1, 1, 19);
    ck_assert_int_eq(seep_splat_room_init(&r, stream, &c, &h.model), 0);
    ck_assert_int_eq(seep_splat_room_forward(&r, target), 0);
    train_from(&t, &h);
    for (size_t i = 0; i < 60; i++) {
        t.parameters.logits[i] += (float)next_number(&seed);
        for (int k = 0; k < 3; k++) {
            t.parameters.log_scales[i][k] += 0.4f * (float)next_number(&seed);
            t.parameters.sh[12 * i + (size_t)k] += (float)next_number(&seed);
            t.parameters.means[i][k] += 0.03f * (float)next_number(&seed);
        }
    }
    struct seep_splat_model given = r.model;
    r.model.means = (const float(*)[3])t.parameters.means;
    r.model.scales = (const float(*)[3])t.scales;
    r.model.rotations = (const float(*)[4])t.parameters.rotations;
    r.model.opacities = t.opacities;
    r.model.sh = t.parameters.sh;
    ck_assert_int_eq(seep_splat_adam(60, 4, NULL, NULL, 0, &t, stream), 0);
    ck_assert_int_eq(seep_splat_loss(target, target, values, NULL, &(struct seep_splat_loss){0},
                                     NULL, &bytes, stream),
                     0);
    void *scratch = malloc(bytes);
    for (unsigned step = 0; step <= 150; step++) {
        struct seep_splat_loss loss;
        ck_assert_int_eq(seep_splat_room_forward(&r, NULL), 0);
        ck_assert_int_eq(seep_splat_loss(r.picture.image, target, values, r.image_grad, &loss,
                                         scratch, &bytes, stream),
                         0);
        losses[step] = loss.l1;
        ck_assert_int_eq(seep_splat_room_backward(&r, NULL), 0);
        ck_assert_int_eq(seep_splat_adam(60, 4, &r.gradients, &rates, step + 1, &t, stream), 0);
    }
    ck_assert_msg(losses[150] < losses[0] / 5, "loss %g, then %g", losses[0], losses[150]);
    r.model = given;
    seep_splat_room_fini(&r);
    train_fini(&t);
    free(scratch);
    free(target);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}
END_TEST

START_TEST(the_gardens_gradients_agree_with_the_double_precision_reference)
{
    struct seep_stream *stream = make_stream(_i);
    struct seep_garden g;
    struct seep_error err = {0};

    if (!stream || !garden_path())
        return;
    ck_assert_msg(seep_garden_read(garden_path(), 3, 1, &g, &err) == 0, "%s", err.text);
    /* A pair at a threshold that goes the other way is one of thousands in a sum, but the whole of
     * a small one. */
    check_gradients(stream, &g.cameras[0], &g.host.model, 1e-3, 1e-3);
    seep_garden_free(&g);
    seep_stream_destroy(stream);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("splat gradients");
    TCase *c = tcase_create("gradients"), *garden = tcase_create("garden");

    tcase_set_timeout(c, 20);
    tcase_add_test(c, the_references_gradients_are_those_of_finite_differences);
    tcase_add_loop_test(c, gradients_agree_with_the_double_precision_reference, 0,
                        sizeof scenes / sizeof *scenes);
    tcase_add_loop_test(c, no_gradient_passes_through_a_clamp, 0, N_STREAMS);
    tcase_add_loop_test(c, what_is_not_drawn_has_gradients_of_zero, 0, N_STREAMS);
    tcase_add_loop_test(c, coefficients_beyond_the_degree_in_use_have_gradients_of_zero, 0,
                        N_STREAMS);
    tcase_add_test(c, gradients_do_not_hang_on_the_number_of_threads);
    tcase_add_loop_test(c, a_loss_and_its_gradient_are_those_of_plain_loops, 0, N_STREAMS);
    tcase_add_test(c, adam_steps_every_parameter_as_its_paper_says);
    tcase_add_test(c, training_brings_a_picture_back);
    suite_add_tcase(suite, c);
    tcase_set_timeout(garden, 60);
    tcase_add_loop_test(garden, the_gardens_gradients_agree_with_the_double_precision_reference,
                        CPU_3, N_STREAMS);
    suite_add_tcase(suite, garden);
    return suite_run(suite);
}
