/* What trains a model of Gaussians: the loss, Adam, and both together with the rasteriser. */
#include "kernels/splat/splat_adam.h"
#include "kernels/splat/splat_loss.h"
#include "kernels/splat/splat_math.h"
#include "tests/raster_fixture.h"
#include "tests/suite.h"

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
    void *scratch = aligned_alloc(64, (bytes + 63) / 64 * 64);
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

int main(void)
{
    Suite *suite = suite_create("splat optimizer");
    TCase *c = tcase_create("optimizer");

    tcase_set_timeout(c, 20);
    tcase_add_loop_test(c, a_loss_and_its_gradient_are_those_of_plain_loops, 0, n_streams());
    tcase_add_test(c, adam_steps_every_parameter_as_its_paper_says);
    tcase_add_test(c, training_brings_a_picture_back);
    suite_add_tcase(suite, c);
    return suite_run(suite);
}
