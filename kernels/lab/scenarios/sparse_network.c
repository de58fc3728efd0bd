#include "kernels/lab/scenarios/sparse_network.h"

#include <stdlib.h>

/* Levels and channels as MinkUNet has them; four feature tensors a level and side stay for backward
 * (two convolutions, each with what its normalisation and activation make). */
enum { LEVELS = 5, KEPT_A_LEVEL = 4, CLASSES = 20, KERNEL = 27, FLOAT = 4 };
static const int channels[LEVELS] = {32, 64, 128, 256, 256};

/* The seed's figure for a coordinate map: bytes a point. */
enum { COORDINATE_MAP = 56 };

/* A batch on the device: batch index and x, y, z as int32, and three colours. */
enum { BATCH_COORDINATES = 16, BATCH_COLORS = 12 };

/* Voxels of a level for each of the level below (surfaces quarter; clutter fills space), at the
 * begin and at the end of the list of scenes; and how much of that is a scene's own. */
static const double cluttered = 0.45, open = 0.25, scatter = 0.05;

enum {
    WEIGHT_SETS = 3, /* weights, gradients, momentum */
    N_WEIGHTS = LEVELS * KEPT_A_LEVEL * WEIGHT_SETS,
    N_STAGES = 2 * LEVELS, /* encoder levels downwards, decoder levels upwards, the head */
    HEAD = N_STAGES - 1,
};

/* What a stage keeps for backward. */
struct stage {
    struct seep_caching_block *map; /* of coordinates; of the encoder's stages */
    struct seep_caching_block *kept[KEPT_A_LEVEL];
};

struct seep_sparse_network {
    struct seep_caching_allocator *allocator;
    bool bucketed;
    struct seep_caching_block *weights[N_WEIGHTS], *batch[2];
    struct seep_caching_block *gradient; /* on its way back */
    struct stage stages[N_STAGES];
    double points[LEVELS];
};

static int tensor_alloc(struct seep_sparse_network *net, double bytes,
                        struct seep_caching_block **out)
{
    size_t size = (size_t)bytes;

    for (size_t bucket = (size_t)1 << 20; net->bucketed && size > (size_t)1 << 20; bucket *= 2) {
        if (bucket >= size) {
            size = bucket;
            break;
        }
    }
    return seep_caching_alloc(net->allocator, size, out);
}

static void give(struct seep_sparse_network *net, struct seep_caching_block **block)
{
    if (*block)
        seep_caching_free(net->allocator, *block);
    *block = NULL;
}

int seep_sparse_network_create(struct seep_caching_allocator *allocator, bool bucketed,
                               struct seep_sparse_network **out)
{
    struct seep_sparse_network *net = calloc(1, sizeof *net);
    int rc = net ? 0 : -SEEP_ENOMEM;

    if (rc)
        return rc;
    net->allocator = allocator;
    net->bucketed = bucketed;
    for (size_t i = 0; i < N_WEIGHTS && !rc; i++) {
        double width = channels[i / (KEPT_A_LEVEL * WEIGHT_SETS)];
        rc = tensor_alloc(net, width * width * KERNEL * FLOAT, &net->weights[i]);
    }
    if (rc)
        seep_sparse_network_destroy(net);
    else
        *out = net;
    return rc;
}

static void give_step(struct seep_sparse_network *net)
{
    for (int stage = 0; stage < N_STAGES; stage++) {
        give(net, &net->stages[stage].map);
        for (int i = 0; i < KEPT_A_LEVEL; i++)
            give(net, &net->stages[stage].kept[i]);
    }
    give(net, &net->gradient);
}

void seep_sparse_network_destroy(struct seep_sparse_network *net)
{
    if (!net)
        return;
    give_step(net);
    for (size_t i = 0; i < N_WEIGHTS; i++)
        give(net, &net->weights[i]);
    give(net, &net->batch[0]);
    give(net, &net->batch[1]);
    free(net);
}

/* ---- stages ------------------------------------------------------------------------------------
 */

static int level_of(int stage)
{
    return stage < LEVELS ? stage : stage == HEAD ? 0 : HEAD - 1 - stage;
}

/* Channels of tensor i of a stage. The first one of the decoder's joins what came up with what the
 * encoder left; the head has one, the logits. */
static int width_of(int stage, int i)
{
    int level = level_of(stage);

    if (stage == HEAD)
        return i == 0 ? CLASSES : 0;
    return channels[level] + (stage >= LEVELS && i == 0 ? channels[level + 1] : 0);
}

/* Bytes that a step has at its highest for each voxel of the level: what is kept; of the finest
 * level the logits have gone by then, their gradient and the one that is made of it are there. */
static double weight_of(int level)
{
    double weight = level == 0 ? (CLASSES + channels[0]) * FLOAT : 0;

    for (int stage = 0; stage < N_STAGES; stage++) {
        if (level_of(stage) != level || stage == HEAD)
            continue;
        weight += stage < LEVELS ? COORDINATE_MAP : 0;
        for (int i = 0; i < KEPT_A_LEVEL; i++)
            weight += width_of(stage, i) * FLOAT;
    }
    return weight;
}

int seep_sparse_network_load(struct seep_sparse_network *net, double points, double progress,
                             struct seep_chance *chance)
{
    double share = cluttered + (open - cluttered) * progress, plain = 0, drawn = 0;

    for (int level = 0; level < LEVELS; level++) {
        double part = pow(share, level) * exp(scatter * seep_chance_normal(chance));
        net->points[level] = part;
        drawn += part * weight_of(level);
        plain += pow(open, level) * weight_of(level);
    }
    for (int level = 0; level < LEVELS; level++)
        net->points[level] *= points * plain / drawn;
    give(net, &net->batch[0]);
    give(net, &net->batch[1]);
    int rc = tensor_alloc(net, points * BATCH_COORDINATES, &net->batch[0]);
    return rc ? rc : tensor_alloc(net, points * BATCH_COLORS, &net->batch[1]);
}

/* ---- a step ---------------------------------------------------------------------------------- */

static int forward_stage(struct seep_sparse_network *net, int stage)
{
    struct stage *s = &net->stages[stage];
    double points = net->points[level_of(stage)];
    int rc = stage < LEVELS ? tensor_alloc(net, points * COORDINATE_MAP, &s->map) : 0;

    for (int i = 0; i < KEPT_A_LEVEL && width_of(stage, i) && !rc; i++)
        rc = tensor_alloc(net, points * width_of(stage, i) * FLOAT, &s->kept[i]);
    return rc;
}

/* From the stage's last tensor to its first: a gradient is made of the one behind it, which then
 * goes, as does what was kept. */
static int backward_stage(struct seep_sparse_network *net, int stage)
{
    struct stage *s = &net->stages[stage];
    double points = net->points[level_of(stage)];

    for (int i = KEPT_A_LEVEL - 1; i >= 0; i--) {
        struct seep_caching_block *gradient;
        if (!s->kept[i])
            continue;
        int rc = tensor_alloc(net, points * width_of(stage, i) * FLOAT, &gradient);
        if (rc)
            return rc;
        give(net, &net->gradient);
        net->gradient = gradient;
        give(net, &s->kept[i]);
    }
    give(net, &s->map);
    return 0;
}

/* A stage has a line of its own, as in a network's forward(): its sizes are one site's. */
static int forward(struct seep_sparse_network *net)
{
    int rc = forward_stage(net, 0);

    rc = rc ? rc : forward_stage(net, 1);
    rc = rc ? rc : forward_stage(net, 2);
    rc = rc ? rc : forward_stage(net, 3);
    rc = rc ? rc : forward_stage(net, 4);
    rc = rc ? rc : forward_stage(net, 5);
    rc = rc ? rc : forward_stage(net, 6);
    rc = rc ? rc : forward_stage(net, 7);
    rc = rc ? rc : forward_stage(net, 8);
    return rc ? rc : forward_stage(net, HEAD);
}

static int backward(struct seep_sparse_network *net)
{
    int rc = backward_stage(net, HEAD);

    rc = rc ? rc : backward_stage(net, 8);
    rc = rc ? rc : backward_stage(net, 7);
    rc = rc ? rc : backward_stage(net, 6);
    rc = rc ? rc : backward_stage(net, 5);
    rc = rc ? rc : backward_stage(net, 4);
    rc = rc ? rc : backward_stage(net, 3);
    rc = rc ? rc : backward_stage(net, 2);
    rc = rc ? rc : backward_stage(net, 1);
    rc = rc ? rc : backward_stage(net, 0);
    give(net, &net->gradient);
    return rc;
}

/* SGD with momentum needs a temporary for one weight at a time. */
static int update(struct seep_sparse_network *net)
{
    struct seep_caching_block *temporary;
    int rc = 0;

    for (size_t i = 0; i < N_WEIGHTS && !rc; i += WEIGHT_SETS) {
        rc = seep_caching_alloc(net->allocator, seep_caching_bytes(net->weights[i]), &temporary);
        if (!rc)
            give(net, &temporary);
    }
    return rc;
}

int seep_sparse_network_step(struct seep_sparse_network *net)
{
    int rc = forward(net);

    if (!rc)
        rc = backward(net);
    if (!rc)
        rc = update(net);
    if (rc)
        give_step(net);
    return rc;
}
