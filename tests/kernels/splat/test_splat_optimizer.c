/* What trains a model of Gaussians: the loss, Adam, and both together with the rasteriser. */
#include "kernels/splat/splat_adam.h"
#include "kernels/splat/splat_loss.h"
#include "kernels/splat/splat_math.h"
#include "tests/kernels/splat/raster_fixture.h"
#include "tests/suite.h"

TEST(a_loss_and_its_gradient_are_those_of_plain_loops, .to = n_streams())
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

/* A model's arrays for Adam, on the host. */
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

/* All arrays of a step, so that they can be copied to the stream's device and back. */
enum { ARRAYS = 3 * 5 + 2 + 6 };

struct array {
    void **at;
    size_t bytes;
};

static void list_parameters(struct seep_splat_parameters *p, size_t n, size_t sh_bytes,
                            struct array out[5])
{
    out[0] = (struct array){(void **)&p->means, n * sizeof *p->means};
    out[1] = (struct array){(void **)&p->log_scales, n * sizeof *p->log_scales};
    out[2] = (struct array){(void **)&p->rotations, n * sizeof *p->rotations};
    out[3] = (struct array){(void **)&p->logits, n * sizeof *p->logits};
    out[4] = (struct array){(void **)&p->sh, n * sh_bytes};
}

static void list_arrays(struct seep_splat_trained *t, struct seep_splat_gradients *g,
                        const struct seep_splat_model *m, struct array out[ARRAYS])
{
    size_t n = m->n, sh_bytes = (size_t)m->sh_stride * 3 * sizeof(float);

    list_parameters(&t->parameters, n, sh_bytes, out);
    list_parameters(&t->first, n, sh_bytes, out + 5);
    list_parameters(&t->second, n, sh_bytes, out + 10);
    out[15] = (struct array){(void **)&t->scales, n * sizeof *t->scales};
    out[16] = (struct array){(void **)&t->opacities, n * sizeof *t->opacities};
    out[17] = (struct array){(void **)&g->means, n * sizeof *g->means};
    out[18] = (struct array){(void **)&g->scales, n * sizeof *g->scales};
    out[19] = (struct array){(void **)&g->rotations, n * sizeof *g->rotations};
    out[20] = (struct array){(void **)&g->opacities, n * sizeof *g->opacities};
    out[21] = (struct array){(void **)&g->sh, n * sh_bytes};
    out[22] = (struct array){(void **)&g->means2d, n * sizeof *g->means2d};
}

/* A step's arrays on the host, and the same on the stream's device. */
struct step_arrays {
    struct seep_stream *stream;
    struct seep_splat_trained t, t_there;
    struct seep_splat_gradients g, g_there;
    struct array here[ARRAYS], there[ARRAYS];
};

static void upload_all(struct step_arrays *s)
{
    for (int k = 0; k < ARRAYS; k++)
        ck_assert_int_eq(
            seep_stream_upload(s->stream, *s->there[k].at, *s->here[k].at, s->here[k].bytes), 0);
}

static void download_all(struct step_arrays *s)
{
    for (int k = 0; k < ARRAYS; k++)
        ck_assert_int_eq(
            seep_stream_download(s->stream, *s->here[k].at, *s->there[k].at, s->here[k].bytes), 0);
}

static void step_arrays_init(struct step_arrays *s, struct seep_stream *stream,
                             const struct seep_splat_host *h)
{
    s->stream = stream;
    train_from(&s->t, h);
    alloc_gradients(&s->g, &h->model);
    list_arrays(&s->t, &s->g, &h->model, s->here);
    list_arrays(&s->t_there, &s->g_there, &h->model, s->there);
    for (int k = 0; k < ARRAYS; k++)
        ck_assert_int_eq(seep_stream_alloc(stream, s->here[k].bytes, s->there[k].at), 0);
    upload_all(s);
}

static void step_arrays_fini(struct step_arrays *s)
{
    for (int k = 0; k < ARRAYS; k++)
        seep_stream_free(s->stream, *s->there[k].at);
    train_fini(&s->t);
    free_gradients(&s->g);
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

TEST(adam_steps_every_parameter_as_its_paper_says, .to = n_streams())
{
    struct seep_stream *stream = make_stream(_i);
    struct seep_splat_host h;
    struct step_arrays a;
    struct seep_splat_rates rates = seep_splat_rates_of_paper(3);
    uint64_t seed = 6;

    make_scene(&h, 5, 1, 1, 2);
    step_arrays_init(&a, stream, &h);
    ck_assert_int_eq(seep_splat_adam(5, 4, NULL, NULL, 0, &a.t_there, stream), 0);
    download_all(&a);
    struct seep_splat_trained t = a.t; /* the arrays are the same */
    struct seep_splat_gradients g = a.g;
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
        upload_all(&a);
        ck_assert_int_eq(
            seep_splat_adam(5, 4, &a.g_there, &rates, (unsigned)step, &a.t_there, stream), 0);
        download_all(&a);
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
    ck_assert_int_eq(seep_splat_adam(5, 4, NULL, &rates, 1, &a.t_there, stream), -SEEP_EINVAL);
    step_arrays_fini(&a);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}

/* Bytes of Gaussian i in array k, of list_arrays() with n Gaussians. */
static const char *row_of(const struct array *arrays, int k, size_t n, size_t i, size_t *bytes)
{
    *bytes = arrays[k].bytes / n;
    return (const char *)*arrays[k].at + i * *bytes;
}

/* What `seen` says of each Gaussian, as projection does. */
static uint32_t *upload_seen(struct seep_stream *stream, const bool *seen, size_t n)
{
    uint32_t *offsets = calloc(n + 1, sizeof *offsets), *there;

    ck_assert_ptr_nonnull(offsets);
    for (size_t i = 0; i < n; i++)
        offsets[i + 1] = offsets[i] + (seen[i] ? 3 : 0);
    ck_assert_int_eq(seep_stream_alloc(stream, (n + 1) * sizeof *offsets, (void **)&there), 0);
    ck_assert_int_eq(seep_stream_upload(stream, there, offsets, (n + 1) * sizeof *offsets), 0);
    free(offsets);
    return there;
}

/* Of several blocks; one has none that is seen, and the last is not full. */
TEST(adam_of_what_is_seen_is_the_dense_step_there_and_nothing_elsewhere, .to = n_streams())
{
    enum { MANY = 200 };
    struct seep_stream *stream = make_stream(_i);
    struct seep_splat_host h;
    struct step_arrays dense, sparse, before;
    struct seep_splat_rates rates = seep_splat_rates_of_paper(3);
    bool seen[MANY];
    size_t n_seen = 0, bytes;
    uint64_t seed = 6;

    make_scene(&h, MANY, 1, 1, 2);
    for (size_t i = 0; i < MANY; i++)
        n_seen += seen[i] = i / 64 != 1 && next_number(&seed) > 0;
    uint32_t *offsets = upload_seen(stream, seen, MANY);
    struct step_arrays *all[] = {&dense, &sparse, &before};
    for (int a = 0; a < 3; a++) {
        step_arrays_init(all[a], stream, &h);
        ck_assert_int_eq(
            seep_splat_adam_seen(MANY, 4, NULL, NULL, 0, offsets, &all[a]->t_there, stream), 0);
        download_all(all[a]);
        seed = 11;
        for (int k = ARRAYS - 6; k < ARRAYS; k++) /* the gradients */
            for (size_t i = 0; i < all[a]->here[k].bytes / sizeof(float); i++)
                ((float *)*all[a]->here[k].at)[i] = (float)next_number(&seed);
        upload_all(all[a]);
    }
    for (unsigned step = 1; step <= 3; step++) {
        ck_assert_int_eq(
            seep_splat_adam(MANY, 4, &dense.g_there, &rates, step, &dense.t_there, stream), 0);
        ck_assert_int_eq(seep_splat_adam_seen(MANY, 4, &sparse.g_there, &rates, step, offsets,
                                              &sparse.t_there, stream),
                         0);
    }
    download_all(&dense);
    download_all(&sparse);
    for (int k = 0; k < ARRAYS; k++)
        for (size_t i = 0; i < MANY; i++) {
            const char *got = row_of(sparse.here, k, MANY, i, &bytes);
            const struct array *expected = seen[i] ? dense.here : before.here;
            ck_assert_mem_eq(got, row_of(expected, k, MANY, i, &bytes), bytes);
        }
    ck_assert(n_seen > 30 && n_seen < MANY - 64);
    ck_assert_mem_ne(*dense.here[0].at, *before.here[0].at, before.here[0].bytes);
    ck_assert_int_eq(
        seep_splat_adam_seen(MANY, 4, &sparse.g_there, &rates, 4, NULL, &sparse.t_there, stream),
        -SEEP_EINVAL);
    for (int a = 0; a < 3; a++)
        step_arrays_fini(all[a]);
    seep_stream_free(stream, offsets);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}

/* The model of a good picture, spoilt. */
static void spoil(struct seep_splat_trained *t, size_t n)
{
    uint64_t seed = 3;

    for (size_t i = 0; i < n; i++) {
        t->parameters.logits[i] += (float)next_number(&seed);
        for (int k = 0; k < 3; k++) {
            t->parameters.log_scales[i][k] += 0.4f * (float)next_number(&seed);
            t->parameters.sh[12 * i + (size_t)k] += (float)next_number(&seed);
            t->parameters.means[i][k] += 0.03f * (float)next_number(&seed);
        }
    }
}

/* CUDA's kernels may be running on the CPU, which takes its time, and the thread sanitizer's most
 * of all: a race in a step is one in the first of them. */
#ifdef __SANITIZE_THREAD__
#define STEPS_ON_CUDA 8
#define LEFT_ON_CUDA  0.7
#else
#define STEPS_ON_CUDA 40
#define LEFT_ON_CUDA  (1 / 3.)
#endif

/* Train a spoilt model on the picture of the good one: the loss must fall to a fraction. */
TEST(training_brings_a_picture_back, .to = n_streams())
{
    enum { WIDTH = 48, HEIGHT = 40, VALUES = WIDTH * HEIGHT * 3 };
    struct seep_stream *stream = make_stream(_i);
    struct seep_splat_camera c = make_camera(WIDTH, HEIGHT);
    struct seep_splat_host h;
    struct step_arrays a;
    struct seep_splat_room r;
    struct seep_splat_rates rates = seep_splat_rates_of_paper(10);
    struct seep_splat_loss loss;
    static float picture[VALUES];
    void *target, *scratch;
    size_t bytes = 0;
    unsigned steps = _i == CUDA_0 ? STEPS_ON_CUDA : 150;
    double first = 0;

    make_scene(&h, 60, 1, 1, 19);
    ck_assert_int_eq(seep_splat_room_init(&r, stream, &c, &h.model), 0);
    ck_assert_int_eq(seep_splat_room_forward(&r, picture), 0);
    ck_assert_int_eq(seep_stream_alloc(stream, sizeof picture, &target), 0);
    ck_assert_int_eq(seep_stream_upload(stream, target, picture, sizeof picture), 0);
    step_arrays_init(&a, stream, &h);
    spoil(&a.t, 60);
    upload_all(&a);
    struct seep_splat_model given = r.model;
    r.model.means = (const float(*)[3])a.t_there.parameters.means;
    r.model.scales = (const float(*)[3])a.t_there.scales;
    r.model.rotations = (const float(*)[4])a.t_there.parameters.rotations;
    r.model.opacities = a.t_there.opacities;
    r.model.sh = a.t_there.parameters.sh;
    ck_assert_int_eq(seep_splat_adam(60, 4, NULL, NULL, 0, &a.t_there, stream), 0);
    ck_assert_int_eq(seep_splat_loss(target, target, VALUES, NULL, &loss, NULL, &bytes, stream), 0);
    ck_assert_int_eq(seep_stream_alloc(stream, bytes, &scratch), 0);
    for (unsigned step = 0; step <= steps; step++) {
        ck_assert_int_eq(seep_splat_room_forward(&r, NULL), 0);
        ck_assert_int_eq(seep_splat_loss(r.picture.image, target, VALUES, r.image_grad, &loss,
                                         scratch, &bytes, stream),
                         0);
        if (step == 0)
            first = loss.l1;
        ck_assert_int_eq(seep_splat_room_backward(&r, NULL), 0);
        ck_assert_int_eq(seep_splat_adam(60, 4, &r.gradients, &rates, step + 1, &a.t_there, stream),
                         0);
    }
    ck_assert_msg(loss.l1 < first * (_i == CUDA_0 ? LEFT_ON_CUDA : 0.2), "loss %g, then %g", first,
                  loss.l1);
    r.model = given;
    seep_splat_room_fini(&r);
    step_arrays_fini(&a);
    seep_stream_free(stream, scratch);
    seep_stream_free(stream, target);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}

SUITE("splat optimizer")
