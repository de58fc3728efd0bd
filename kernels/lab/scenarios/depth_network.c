#include "kernels/lab/scenarios/depth_network.h"

#include <stdlib.h>
#include <string.h>

/* Four frames, each in colour and augmented, three channels of 320 × 1024. */
enum { PICTURES = 8, CHANNELS = 3, FULL_HEIGHT = 320, FULL_WIDTH = 1024, DEPTH_SHARE = 8 };

static const float momentum = 0.9f;

/* Two square layers, and one to an eighth of the width: values = width² · (2 + 1/8) and the biases.
 */
int seep_depth_init(struct seep_depth_network *net, size_t n_values, uint64_t seed)
{
    struct seep_chance chance = {seed};
    double eighths = sqrt((double)n_values / (2 + 1.0 / DEPTH_SHARE)) / DEPTH_SHARE;
    size_t width = (size_t)fmax(1, ceil(eighths)) * DEPTH_SHARE, at = 0;

    *net = (struct seep_depth_network){0};
    for (int i = 0; i < SEEP_DEPTH_LAYERS; i++) {
        size_t n_out = i == SEEP_DEPTH_LAYERS - 1 ? width / DEPTH_SHARE : width;
        net->layers[i] = (struct seep_graph_parameter){.n_in = width, .n_out = n_out};
        net->n_values += (width + 1) * n_out;
    }
    net->weights = calloc(net->n_values, sizeof *net->weights);
    net->gradients = calloc(net->n_values, sizeof *net->gradients);
    net->speed = calloc(net->n_values, sizeof *net->speed);
    if (!net->weights || !net->gradients || !net->speed)
        return -SEEP_ENOMEM;
    for (int i = 0; i < SEEP_DEPTH_LAYERS; i++) {
        struct seep_graph_parameter *p = &net->layers[i];
        p->weights = net->weights + at;
        p->gradients = net->gradients + at;
        at += (p->n_in + 1) * p->n_out;
        /* He et al., "Delving deep into rectifiers", ICCV 2015, equation 10. */
        for (size_t k = 0; k < p->n_in * p->n_out; k++)
            p->weights[k] = (float)(seep_chance_normal(&chance) * sqrt(2 / (double)p->n_in));
    }
    return 0;
}

void seep_depth_fini(struct seep_depth_network *net)
{
    free(net->weights);
    free(net->gradients);
    free(net->speed);
    *net = (struct seep_depth_network){0};
}

/* Each picture is noise around a level per patch; the depth at a place depends on the first
 * frame. */
static void draw_picture(float *picture, size_t n, const float *levels, size_t n_levels,
                         struct seep_chance *chance)
{
    for (size_t i = 0; i < n; i++) {
        float noise = (float)(seep_chance_next(chance) >> 40) * 0x1p-24f - 0.5f;
        picture[i] = levels[i * n_levels / n] + 0.1f * noise;
    }
}

int seep_depth_sample(const struct seep_depth_network *net, size_t bytes,
                      struct seep_chance *chance, float *features, float *depths)
{
    size_t n_in = net->layers[0].n_in, n_out = net->layers[SEEP_DEPTH_LAYERS - 1].n_out;
    double side =
        sqrt((double)bytes / ((double)PICTURES * CHANNELS * FULL_HEIGHT * FULL_WIDTH * 4));
    size_t n = CHANNELS * (size_t)(FULL_HEIGHT * side) * (size_t)(FULL_WIDTH * side);
    float *levels = calloc(n_in, sizeof *levels);
    float *pictures = calloc(PICTURES * n + 1, sizeof *pictures);
    int rc = levels && pictures ? 0 : -SEEP_ENOMEM;

    for (size_t i = 0; i < n_in && !rc; i++)
        levels[i] = (float)seep_chance_uniform(chance);
    for (size_t p = 0; p < PICTURES && !rc; p++)
        draw_picture(pictures + p * n, n, levels, n_in, chance);
    for (size_t i = 0; i < n_in && !rc; i++) {
        size_t from = i * n / n_in, to = (i + 1) * n / n_in;
        float sum = 0;
        for (size_t k = from; k < to; k++)
            sum += pictures[k];
        features[i] = to > from ? sum / (float)(to - from) - 0.5f : 0;
    }
    for (size_t i = 0; i < n_out && !rc; i++)
        depths[i] = levels[i * n_in / n_out] - levels[(i * n_in / n_out + 1) % n_in];
    free(levels);
    free(pictures);
    return rc;
}

int seep_depth_forward(struct seep_depth_network *net, const float *features, const float *depths,
                       size_t rows, struct seep_graph_node **loss)
{
    struct seep_graph_node *x = NULL, *y = NULL;
    int rc = seep_graph_input(features, rows, net->layers[0].n_in, &x);

    for (int i = 0; i < SEEP_DEPTH_LAYERS && !rc; i++) {
        rc = seep_graph_linear(x, &net->layers[i], &y);
        seep_graph_drop(x); /* the new node has it */
        x = rc ? NULL : y;
        if (rc || i == SEEP_DEPTH_LAYERS - 1)
            break;
        rc = seep_graph_relu(x, &y);
        seep_graph_drop(x);
        x = rc ? NULL : y;
    }
    if (!rc)
        rc = seep_graph_loss(x, depths, loss);
    seep_graph_drop(x);
    return rc;
}

void seep_depth_update(struct seep_depth_network *net, float rate)
{
    for (size_t i = 0; i < net->n_values; i++) {
        net->speed[i] = momentum * net->speed[i] + net->gradients[i];
        net->weights[i] -= rate * net->speed[i];
    }
    memset(net->gradients, 0, net->n_values * sizeof *net->gradients);
}
