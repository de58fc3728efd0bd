/* The small distributed training: its graph, its gradients, and ranks that meet or fail. */
#include "kernels/lab/scenarios/autograd_graph.h"
#include "kernels/lab/scenarios/depth_network.h"
#include "kernels/lab/scenarios/depth_sampler.h"
#include "kernels/lab/scenarios/ranks.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 3, VALUES = 400 };

static struct seep_depth_network net;
static float *features, *depths;

static void set_up(void)
{
    struct seep_chance chance = {3};

    ck_assert_int_eq(seep_depth_init(&net, VALUES, 5), 0);
    size_t n_in = net.layers[0].n_in, n_out = net.layers[SEEP_DEPTH_LAYERS - 1].n_out;
    features = calloc(ROWS * n_in, sizeof *features);
    depths = calloc(ROWS * n_out, sizeof *depths);
    for (size_t i = 0; i < ROWS; i++)
        ck_assert_int_eq(seep_depth_sample(&net, 4, 0.05, &chance, NULL, features + i * n_in,
                                           depths + i * n_out),
                         0);
}

static void tear_down(void)
{
    seep_depth_fini(&net);
    free(features);
    free(depths);
}

static float loss_of(bool backward)
{
    struct seep_graph_node *loss = NULL;

    ck_assert_int_eq(seep_depth_forward(&net, features, depths, ROWS, &loss), 0);
    if (backward)
        ck_assert_int_eq(seep_graph_backward(loss), 0);
    float value = seep_graph_value(loss)[0];
    seep_graph_drop(loss);
    return value;
}

TEST(gradients_are_what_differences_of_the_loss_say)
{
    const float h = 1e-2f;

    loss_of(true);
    for (size_t i = 0; i < net.n_values; i += 7) {
        float weight = net.weights[i];
        net.weights[i] = weight + h;
        float above = loss_of(false);
        net.weights[i] = weight - h;
        float below = loss_of(false);
        net.weights[i] = weight;
        double difference = ((double)above - (double)below) / (2 * (double)h);
        ck_assert_double_eq_tol((double)net.gradients[i], difference,
                                2e-3 + 0.02 * fabs(difference));
    }
}

static const size_t sizes[] = {1, 400, 350000, 1000000};

TEST(a_network_has_the_weights_it_is_asked_for, .to = N(sizes))
{
    struct seep_depth_network other;

    ck_assert_int_eq(seep_depth_init(&other, sizes[_i], 1), 0);
    ck_assert_uint_ge(other.n_values, sizes[_i]);
    ck_assert(sizes[_i] < 1000 || other.n_values < sizes[_i] + sizes[_i] / 20);
    seep_depth_fini(&other);
}

TEST(a_step_lowers_the_loss)
{
    float before = loss_of(true);

    seep_depth_update(&net, 0.05f);
    ck_assert_float_lt(loss_of(false), before);
}

TEST(who_keeps_a_loss_keeps_its_graph_and_nobody_else_does)
{
    struct seep_graph_node *loss = NULL;

    ck_assert_uint_eq(seep_graph_live(), 0);
    ck_assert_int_eq(seep_depth_forward(&net, features, depths, ROWS, &loss), 0);
    ck_assert_uint_eq(seep_graph_live(), 7);
    struct seep_graph_node *kept = seep_graph_keep(loss);
    seep_graph_drop(loss);
    ck_assert_uint_eq(seep_graph_live(), 7);
    seep_graph_drop(kept);
    ck_assert_uint_eq(seep_graph_live(), 0);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

struct told {
    int rank, world;
    float first, last;
};

static int average(struct seep_ranks *ranks, unsigned rank, void *arg, void *result,
                   struct seep_error *err)
{
    struct told *told = result;
    size_t n = *(size_t *)arg;
    float *values = calloc(n, sizeof *values);

    (void)err;
    for (size_t i = 0; i < n; i++)
        values[i] = (float)rank + (float)i;
    seep_ranks_mean(ranks, rank, values, n);
    *told =
        (struct told){atoi(getenv("RANK")), atoi(getenv("WORLD_SIZE")), values[0], values[n - 1]};
    free(values);
    return 0;
}

/* Below, at and beyond what ranks show each other at a time. */
static const size_t lengths[] = {1, 16384, 16385, 50000};

TEST(ranks_get_the_mean_of_what_they_have, .to = N(lengths))
{
    enum { N = 3 };
    struct told told[N];
    size_t n = lengths[_i];

    ck_assert_int_eq(seep_ranks_run(N, average, &n, told, sizeof *told, NULL), 0);
    for (int r = 0; r < N; r++) {
        ck_assert_int_eq(told[r].rank, r);
        ck_assert_int_eq(told[r].world, N);
        ck_assert_float_eq(told[r].first, 1);
        ck_assert_float_eq(told[r].last, 1 + (float)(n - 1));
    }
    ck_assert_ptr_null(getenv("RANK"));
}

static int fail_or_wait(struct seep_ranks *ranks, unsigned rank, void *arg, void *result,
                        struct seep_error *err)
{
    float value = 0;

    (void)result;
    if (rank == 1 && *(int *)arg)
        raise(SIGKILL);
    if (rank == 1)
        return seep_error_set(err, SEEP_EFORMAT, "", 0, "as it was told to");
    seep_ranks_mean(ranks, rank, &value, 1); /* nobody will come */
    return 0;
}

TEST(a_rank_that_ends_does_not_leave_the_others_waiting, .to = 2)
{
    struct seep_error err = {0};
    int by_signal = _i, nothing[2];

    int rc = seep_ranks_run(2, fail_or_wait, &by_signal, nothing, sizeof *nothing, &err);
    ck_assert_int_eq(rc, by_signal ? -SEEP_EIO : -SEEP_EFORMAT);
    ck_assert_str_ne(err.text, "");
    ck_assert(by_signal || strcmp(err.text, "as it was told to") == 0);
}

static int say_and_wait(struct seep_ranks *ranks, unsigned rank, void *arg, void *result,
                        struct seep_error *err)
{
    int fd = *(int *)arg;

    (void)ranks, (void)rank, (void)result, (void)err;
    return write(fd, "r", 1) == 1 ? pause() : 0;
}

/* Each rank holds the pipe's writing end: that it is closed says that none is left. */
TEST(ranks_do_not_outlive_the_job_that_forked_them)
{
    int ends[2], nothing[2];
    char byte;

    ck_assert_int_eq(pipe(ends), 0);
    pid_t job = fork();
    if (job == 0)
        _exit(seep_ranks_run(2, say_and_wait, &ends[1], nothing, sizeof *nothing, NULL) != 0);
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    kill(job, SIGKILL);
    ck_assert_int_eq(waitpid(job, NULL, 0), job);
    ck_assert_int_eq(read(ends[0], &byte, 1), 0);
    close(ends[0]);
}

TEST(no_ranks_or_too_many_are_refused)
{
    size_t n = 1;
    struct told told;

    ck_assert_int_eq(seep_ranks_run(0, average, &n, &told, sizeof told, NULL), -SEEP_EINVAL);
    ck_assert_int_eq(seep_ranks_run(SEEP_MAX_RANKS + 1, average, &n, &told, sizeof told, NULL),
                     -SEEP_EINVAL);
}

/* Every sample is taken once an epoch, in an order of its own if the epoch is told. */
TEST(ranks_share_the_samples_of_an_epoch, .to = 2)
{
    enum { SAMPLES = 60, SOME_RANKS = 3 };
    struct seep_depth_sampler s;
    uint32_t first[SAMPLES];

    ck_assert_int_eq(seep_depth_sampler_init(&s, SAMPLES, SOME_RANKS, 7, _i), 0);
    memcpy(first, s.order, sizeof first);
    for (unsigned epoch = 0; epoch < 4; epoch++) {
        bool taken[SAMPLES] = {false};
        seep_depth_sampler_begin(&s, epoch);
        for (unsigned rank = 0; rank < SOME_RANKS; rank++) {
            for (size_t k = 0; k < SAMPLES / SOME_RANKS; k++) {
                const uint32_t sample = seep_depth_sampler_take(&s, rank, k);
                ck_assert_uint_lt(sample, SAMPLES);
                ck_assert(!taken[sample]);
                taken[sample] = true;
            }
        }
        ck_assert_int_eq(memcmp(first, s.order, sizeof first) == 0, epoch == 0 || !_i);
    }
    seep_depth_sampler_fini(&s);
}

/* A graph of derived values keeps what they were derived from, and passes no gradient to it. */
TEST(derived_values_keep_their_source)
{
    struct seep_graph_node *pictures = NULL, *predicted = NULL, *loss = NULL;
    const float some[ROWS * 2] = {0};
    const size_t live = seep_graph_live();

    ck_assert_int_eq(seep_graph_input(some, ROWS, 2, &pictures), 0);
    ck_assert_int_eq(seep_depth_predict(&net, pictures, features, ROWS, &predicted), 0);
    seep_graph_drop(pictures);
    ck_assert_int_eq(seep_graph_loss(predicted, depths, &loss), 0);
    seep_graph_drop(predicted);
    ck_assert_uint_eq(seep_graph_live() - live, 8);
    ck_assert_int_eq(seep_graph_backward(loss), 0);
    seep_graph_drop(loss);
    ck_assert_uint_eq(seep_graph_live(), live);
}

/* Its features do not hang on how many frames are read. */
TEST(a_sample_is_the_same_with_any_number_of_frames)
{
    struct seep_chance chance = {9};
    const size_t n_in = net.layers[0].n_in, n_out = net.layers[SEEP_DEPTH_LAYERS - 1].n_out;
    float *others = calloc(n_in + n_out, sizeof *others);
    float *more = calloc(n_in + n_out, sizeof *more);

    ck_assert_int_eq(seep_depth_sample(&net, 1, 0.05, &chance, NULL, others, others + n_in), 0);
    chance.state = 9;
    ck_assert_int_eq(seep_depth_sample(&net, 4, 0.05, &chance, NULL, more, more + n_in), 0);
    ck_assert_mem_eq(others, more, (n_in + n_out) * sizeof *more);
    ck_assert_uint_eq(seep_depth_picture_bytes(4, 1), 31457280);
    free(others);
    free(more);
}

SUITE("ranks", .setup = set_up, .teardown = tear_down)
