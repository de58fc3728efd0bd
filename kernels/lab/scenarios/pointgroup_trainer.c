#include "kernels/lab/scenarios/pointgroup_trainer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    HIDDEN = SEEP_POINTGROUP_HIDDEN,
    CLASSES = SEEP_POINTGROUP_CLASSES,
    TOUCH_BYTES = 4096, /* so far apart each page of any machine is written to */
    /* A made-up GPU: a second for a full batch. The trainer's thread sleeps, as it
     * does in cudaStreamSynchronize(). */
    DEVICE_NS_PER_POINT = 1500,
    FORWARD_SHARE = 3, /* backward takes twice as long as forward */
};

/* In bytes at full size. The document's 4 GB of loading in the training thread are the model, its
 * gradients, the optimizer's moments and the framework (libraries, CUDA's context on the host); the
 * batch in the making: its scenes as read, their pieces, the whole, and the padded map, as measured
 * at 1:100; and what the 16 workers that only hand out ids own. */
static const double base_bytes = 4e9, making_bytes = 0.65e9;

/* The document's 10 GB of 16 workers are 625 MB each. At 1:100 a worker was measured to have 2.3 MB
 * of batches ahead and 2.9 MB that malloc keeps of the making of one: 230 and 290 MB. The rest is
 * what a forked interpreter comes to own by writing to it, reference counts above all: less where
 * it only hands out ids. */
static const double loading_own_bytes = 0.2e9, ids_own_bytes = 0.12e9;

/* What a worker of this program has beyond that at any scale, the profiler's part included: as
 * measured. */
static const double worker_program_bytes = 0.4e6;

/* ---- memory ---------------------------------------------------------------------------------- */

/* A sum over this process's maps, in bytes; 0 where the kernel does not say. */
static double sum_of_maps(const char *which)
{
    FILE *f = fopen("/proc/self/smaps_rollup", "re");
    size_t n = strlen(which);
    char line[256];
    double kib = 0;

    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, which, n) == 0 && line[n] == ':')
            kib = strtod(line + n + 1, NULL);
    }
    if (f)
        fclose(f);
    return kib * 1024;
}

int seep_pointgroup_trainer_init(struct seep_pointgroup_trainer *t, double scale, uint64_t seed)
{
    double workers = SEEP_POINTGROUP_WORKERS * ids_own_bytes;
    double wanted = (base_bytes - making_bytes - workers) * seep_pointgroup_size(scale).points;
    struct seep_chance chance = {seed};

    /* This program, and the profiler in it (some 0.8 MB a process, at any scale), stand in for the
     * framework: memory that they use already is not allocated twice. */
    *t = (struct seep_pointgroup_trainer){.program_bytes = (size_t)sum_of_maps("Pss")};
    wanted -= (double)t->program_bytes + SEEP_POINTGROUP_WORKERS * worker_program_bytes;
    t->framework_bytes = (size_t)fmax(TOUCH_BYTES, wanted);
    t->framework = malloc(t->framework_bytes);
    if (!t->framework)
        return -SEEP_ENOMEM;
    memset(t->framework, 1, t->framework_bytes);
    for (int i = 0; i < HIDDEN * 4; i++)
        t->first[i / 4][i % 4] = (float)(seep_chance_uniform(&chance) - 0.5);
    for (int i = 0; i < CLASSES * (HIDDEN + 1); i++)
        t->second[i / (HIDDEN + 1)][i % (HIDDEN + 1)] =
            (float)(0.2 * (seep_chance_uniform(&chance) - 0.5));
    return 0;
}

void seep_pointgroup_trainer_fini(struct seep_pointgroup_trainer *t)
{
    free(t->framework);
    *t = (struct seep_pointgroup_trainer){0};
}

void seep_pointgroup_become_worker(struct seep_pointgroup_trainer *t, double scale, bool loads)
{
    double own = loads ? loading_own_bytes : ids_own_bytes;
    double wanted = own * seep_pointgroup_size(scale).points;
    double more = fmax(0, wanted - sum_of_maps("Private_Dirty"));
    size_t n = (size_t)fmin(more, (double)t->framework_bytes);

    for (size_t at = 0; at < n; at += TOUCH_BYTES)
        ((volatile char *)t->framework)[at]++;
}

/* ---- a step ---------------------------------------------------------------------------------- */

static void mean_colour(const struct seep_pointgroup_batch *b, size_t v, float mean[4])
{
    const int32_t *row = b->voxel_points + v * b->row;

    memset(mean, 0, 3 * sizeof *mean);
    for (int32_t i = 1; i <= row[0]; i++) {
        for (int k = 0; k < 3; k++)
            mean[k] += b->points.feats[row[i]][k] / (float)row[0];
    }
    mean[3] = 1;
}

static double forward(const struct seep_pointgroup_trainer *t, const float in[4], int64_t label,
                      float hidden[HIDDEN + 1], float share[CLASSES])
{
    float most = -INFINITY, sum = 0;

    for (int h = 0; h < HIDDEN; h++) {
        float x = 0;
        for (int k = 0; k < 4; k++)
            x += t->first[h][k] * in[k];
        hidden[h] = fmaxf(x, 0);
    }
    hidden[HIDDEN] = 1;
    for (int c = 0; c < CLASSES; c++) {
        share[c] = 0;
        for (int h = 0; h <= HIDDEN; h++)
            share[c] += t->second[c][h] * hidden[h];
        most = fmaxf(most, share[c]);
    }
    for (int c = 0; c < CLASSES; c++)
        sum += share[c] = expf(share[c] - most);
    for (int c = 0; c < CLASSES; c++)
        share[c] /= sum;
    return -log(fmax(share[label], 1e-12));
}

/* Stochastic gradient descent on the cross entropy, voxel by voxel. */
static void backward(struct seep_pointgroup_trainer *t, const float in[4], int64_t label,
                     const float hidden[HIDDEN + 1], float share[CLASSES])
{
    static const float rate = 0.01f;
    float grad[HIDDEN] = {0};

    share[label] -= 1;
    for (int c = 0; c < CLASSES; c++) {
        for (int h = 0; h < HIDDEN; h++)
            grad[h] += share[c] * t->second[c][h];
        for (int h = 0; h <= HIDDEN; h++)
            t->second[c][h] -= rate * share[c] * hidden[h];
    }
    for (int h = 0; h < HIDDEN; h++) {
        for (int k = 0; k < 4 && hidden[h] > 0; k++)
            t->first[h][k] -= rate * grad[h] * in[k];
    }
}

static void wait_for_device(const struct timespec *start, uint64_t device_ns)
{
    uint64_t ns = (uint64_t)start->tv_nsec + device_ns;
    struct timespec end = {start->tv_sec + (time_t)(ns / 1000000000), (long)(ns % 1000000000)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL))
        continue;
}

static void run_batch(struct seep_pointgroup_trainer *t, const struct seep_pointgroup_batch *batch,
                      bool learns)
{
    float in[4], hidden[HIDDEN + 1], share[CLASSES];
    struct timespec start;
    double loss = 0;
    size_t n = 0;

    clock_gettime(CLOCK_MONOTONIC, &start);
    for (size_t v = 0; v < batch->n_voxels; v++) {
        int64_t label = batch->points.labels[batch->voxel_points[v * batch->row + 1]];
        if (label < 0)
            continue;
        mean_colour(batch, v, in);
        loss += forward(t, in, label, hidden, share);
        if (learns)
            backward(t, in, label, hidden, share);
        n++;
    }
    t->loss = n ? loss / (double)n : 0;
    wait_for_device(&start,
                    (uint64_t)batch->n_points * DEVICE_NS_PER_POINT / (learns ? 1 : FORWARD_SHARE));
}

void seep_pointgroup_train(struct seep_pointgroup_trainer *t,
                           const struct seep_pointgroup_batch *batch)
{
    run_batch(t, batch, true);
}

void seep_pointgroup_validate(struct seep_pointgroup_trainer *t,
                              const struct seep_pointgroup_batch *batch)
{
    run_batch(t, batch, false);
}
