#include "kernels/lab/scenarios/depth_network.h"

#include <stdlib.h>
#include <string.h>

/* A frame in colour and augmented. FeatDepth's configuration: 320 × 1024. */
enum { PICTURES_A_FRAME = 2, CHANNELS = 3, HEIGHT = 320, WIDTH = 1024, DEPTH_SHARE = 8 };

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

static size_t picture_values(double side)
{
    return CHANNELS * (size_t)(HEIGHT * side) * (size_t)(WIDTH * side);
}

size_t seep_depth_picture_bytes(unsigned frames, double side)
{
    return PICTURES_A_FRAME * frames * picture_values(side) * sizeof(float);
}

int seep_depth_sample(const struct seep_depth_network *net, unsigned frames, double side,
                      struct seep_chance *chance, float *pictures, float *features, float *depths)
{
    size_t n_in = net->layers[0].n_in, n_out = net->layers[SEEP_DEPTH_LAYERS - 1].n_out;
    const size_t n = picture_values(side), n_pictures = (size_t)PICTURES_A_FRAME * frames;
    float *levels = calloc(n_in, sizeof *levels);
    float *scratch =
        pictures ? NULL : calloc(1, seep_depth_picture_bytes(frames, side) + sizeof *scratch);
    int rc = levels && (pictures || scratch) ? 0 : -SEEP_ENOMEM;

    pictures = pictures ? pictures : scratch;

    for (size_t i = 0; i < n_in && !rc; i++)
        levels[i] = (float)seep_chance_uniform(chance);
    for (size_t p = 0; p < n_pictures && !rc; p++)
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
    free(scratch);
    return rc;
}

int seep_depth_predict(struct seep_depth_network *net, struct seep_graph_node *pictures,
                       const float *features, size_t rows, struct seep_graph_node **depths)
{
    struct seep_graph_node *x = NULL, *y = NULL;
    int rc = seep_graph_derived(pictures, features, rows, net->layers[0].n_in, &x);

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
    *depths = x;
    return rc;
}

int seep_depth_forward(struct seep_depth_network *net, const float *features, const float *depths,
                       size_t rows, struct seep_graph_node **loss)
{
    struct seep_graph_node *predicted = NULL;
    int rc = seep_depth_predict(net, NULL, features, rows, &predicted);

    if (!rc)
        rc = seep_graph_loss(predicted, depths, loss);
    seep_graph_drop(predicted);
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
