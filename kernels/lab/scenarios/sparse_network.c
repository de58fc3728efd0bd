#include "kernels/lab/scenarios/sparse_network.h"

#include <stdbool.h>
#include <stdlib.h>

enum { FLOAT = 4, INDEX = 4, LABEL = 8, CLASSES = 20, COLORS = 3, KERNEL = 27 };

/* A coordinate map, as MinkowskiEngine has one for each stride: about 56 bytes a voxel. */
enum { COORDINATE_MAP = 56 };

/* A batch as the document collates it, all float32: batch index and x, y, z; colours; a label. */
enum { BATCH_VOXEL = (4 + COLORS + 1) * FLOAT };

/* Pairs of a kernel map for each voxel of the finer level, where these lie on a flat surface: of a
 * kernel of 3 × 3 × 3 its 9 in the plane; of one of stride 2, in each of the plane's directions
 * every second voxel is in reach of one output and the others of two. A pair is two indices. */
static const double pairs_same = 9, pairs_stride = 1.5 * 1.5, pair_bytes = 2 * INDEX;

/* A convolution with what follows it. The transposed one uses DOWN's kernel map, reversed; that of
 * kernel size 1 has none, and nothing follows. */
enum { STEM, DOWN, UP, HEAD, N_STAGES };
static const struct layer {
    double in, out; /* channels */
    size_t kernel;
    double pairs; /* a fine voxel, of the kernel map that it makes */
    bool from_coarse, to_coarse;
    bool is_last;
} layers[N_STAGES] = {
    [STEM] = {COLORS, 32, KERNEL, pairs_same, false, false, false},
    [DOWN] = {32, 64, KERNEL, pairs_stride, false, true, false},
    [UP] = {64, 32, KERNEL, 0, true, false, false},
    [HEAD] = {32, CLASSES, 1, 0, false, false, true},
};

enum { WEIGHT_SETS = 2 /* weights, gradients: SGD without momentum */ };

static const size_t least_padded = (size_t)1 << 20;

/* What a stage holds until backward has passed it. */
struct stage {
    struct seep_caching_block *coordinates, *kernel_map; /* where it made them */
    struct seep_caching_block *conv; /* the convolution's output, which the norm saves */
    struct seep_caching_block *out;  /* after norm and ReLU, which ReLU and the next one save */
};

struct seep_sparse_network {
    struct seep_caching_allocator *allocator;
    bool padded;
    struct seep_caching_block *weights[N_STAGES * WEIGHT_SETS];
    struct seep_caching_block *batch;
    struct seep_caching_block *coordinates; /* of the batch's sparse tensor */
    struct seep_caching_block *labels, *log_softmax;
    struct seep_caching_block *gradient; /* on its way back */
    struct stage stages[N_STAGES];
    struct seep_sparse_size size;
};

static int take(struct seep_sparse_network *net, double bytes, struct seep_caching_block **out)
{
    size_t size = (size_t)bytes, bucket = least_padded;

    while (bucket < size)
        bucket *= 2;
    return seep_caching_alloc(net->allocator, net->padded && size > least_padded ? bucket : size,
                              out);
}

static void give(struct seep_sparse_network *net, struct seep_caching_block **block)
{
    if (*block)
        seep_caching_free(net->allocator, *block);
    *block = NULL;
}

/* A new tensor takes the place of one that was needed until it was made. */
static int replace(struct seep_sparse_network *net, double bytes, struct seep_caching_block **block)
{
    struct seep_caching_block *other;
    int rc = take(net, bytes, &other);

    if (!rc) {
        give(net, block);
        *block = other;
    }
    return rc;
}

int seep_sparse_network_create(struct seep_caching_allocator *allocator, bool padded,
                               struct seep_sparse_network **out)
{
    struct seep_sparse_network *net = calloc(1, sizeof *net);
    int rc = net ? 0 : -SEEP_ENOMEM;

    if (rc)
        return rc;
    net->allocator = allocator;
    net->padded = padded;
    for (size_t i = 0; i < N_STAGES * WEIGHT_SETS && !rc; i++) {
        const struct layer *l = &layers[i / WEIGHT_SETS];
        rc = take(net, l->in * l->out * (double)l->kernel * FLOAT, &net->weights[i]);
    }
    if (rc)
        seep_sparse_network_destroy(net);
    else
        *out = net;
    return rc;
}

/* All that a step made, but not the batch. */
static void give_step(struct seep_sparse_network *net)
{
    for (int k = 0; k < N_STAGES; k++) {
        struct stage *s = &net->stages[k];
        give(net, &s->coordinates);
        give(net, &s->kernel_map);
        give(net, &s->conv);
        give(net, &s->out);
    }
    give(net, &net->coordinates);
    give(net, &net->labels);
    give(net, &net->log_softmax);
    give(net, &net->gradient);
}

void seep_sparse_network_destroy(struct seep_sparse_network *net)
{
    if (!net)
        return;
    give_step(net);
    give(net, &net->batch);
    for (size_t i = 0; i < N_STAGES * WEIGHT_SETS; i++)
        give(net, &net->weights[i]);
    free(net);
}

int seep_sparse_network_load(struct seep_sparse_network *net, struct seep_sparse_size size)
{
    net->size = size;
    give_step(net);
    give(net, &net->batch);
    int rc = take(net, size.voxels * BATCH_VOXEL, &net->batch);
    return rc ? rc : take(net, size.voxels * COORDINATE_MAP, &net->coordinates);
}

/* ---- a stage ----------------------------------------------------------------------------------
 */

static double bytes_of(const struct seep_sparse_network *net, bool is_coarse, double channels)
{
    return (is_coarse ? net->size.coarse : net->size.voxels) * channels * FLOAT;
}

/* `keeps`: backward will come. Otherwise a tensor goes as soon as the next one is made of it. */
static int forward_stage(struct seep_sparse_network *net, int k, bool keeps)
{
    const struct layer *l = &layers[k];
    struct stage *s = &net->stages[k];
    struct seep_caching_block *norm = NULL;
    double bytes = bytes_of(net, l->to_coarse, l->out);
    int rc = 0;

    if (l->to_coarse)
        rc = take(net, net->size.coarse * COORDINATE_MAP, &s->coordinates);
    if (!rc && l->pairs > 0)
        rc = take(net, net->size.voxels * l->pairs * pair_bytes, &s->kernel_map);
    if (!rc)
        rc = take(net, bytes, &s->conv);
    if (!rc && k > 0 && !keeps)
        give(net, &net->stages[k - 1].out);
    if (rc || l->is_last)
        return rc;
    rc = take(net, bytes, &norm);
    if (!rc && !keeps)
        give(net, &s->conv);
    if (!rc)
        rc = take(net, bytes, &s->out);
    give(net, &norm); /* neither the norm nor ReLU saves it */
    return rc;
}

/* The gradient passes ReLU, norm and convolution; what each of them saved goes. */
static int backward_stage(struct seep_sparse_network *net, int k)
{
    const struct layer *l = &layers[k];
    struct stage *s = &net->stages[k];
    double bytes = bytes_of(net, l->to_coarse, l->out);
    int rc = 0;

    if (!l->is_last) {
        rc = replace(net, bytes, &net->gradient);
        if (!rc)
            give(net, &s->out);
        if (!rc)
            rc = replace(net, bytes, &net->gradient);
        if (!rc)
            give(net, &s->conv);
    }
    return rc ? rc : replace(net, bytes_of(net, l->from_coarse, l->in), &net->gradient);
}

/* The loss saves the logarithms and the labels; the logits go. */
static int loss_forward(struct seep_sparse_network *net)
{
    int rc = take(net, net->size.voxels * LABEL, &net->labels);

    if (!rc)
        rc = take(net, bytes_of(net, false, CLASSES), &net->log_softmax);
    if (!rc)
        give(net, &net->stages[HEAD].conv);
    return rc;
}

static int loss_backward(struct seep_sparse_network *net)
{
    int rc = take(net, bytes_of(net, false, CLASSES), &net->gradient);

    if (rc)
        return rc;
    give(net, &net->labels);
    rc = replace(net, bytes_of(net, false, CLASSES), &net->gradient);
    if (!rc)
        give(net, &net->log_softmax);
    return rc;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* A stage has a line of its own, as in a network's forward(): its sizes are one site's. */
static int forward(struct seep_sparse_network *net, bool keeps)
{
    int rc = forward_stage(net, STEM, keeps);

    rc = rc ? rc : forward_stage(net, DOWN, keeps);
    rc = rc ? rc : forward_stage(net, UP, keeps);
    rc = rc ? rc : forward_stage(net, HEAD, keeps);
    return rc ? rc : loss_forward(net);
}

static int backward(struct seep_sparse_network *net)
{
    int rc = loss_backward(net);

    rc = rc ? rc : backward_stage(net, HEAD);
    rc = rc ? rc : backward_stage(net, UP);
    rc = rc ? rc : backward_stage(net, DOWN);
    return rc ? rc : backward_stage(net, STEM);
}

int seep_sparse_network_train(struct seep_sparse_network *net)
{
    int rc = forward(net, true);

    if (!rc)
        rc = backward(net);
    give_step(net);
    return rc;
}

int seep_sparse_network_validate(struct seep_sparse_network *net)
{
    int rc = forward(net, false);

    give_step(net);
    return rc;
}
