#include "kernels/lab/scenarios/autograd_graph.h"

#include <stdlib.h>
#include <string.h>

enum operation { INPUT, LINEAR, RELU, LOSS };

struct seep_graph_node {
    enum operation operation;
    size_t references;
    size_t rows, columns;
    float *value;  /* [rows][columns] */
    float *target; /* of a loss */
    struct seep_graph_node *from;
    struct seep_graph_parameter *parameter;
};

static size_t n_live;

/* Has a frame of its own, or reports would name the line that makes nodes. */
static __attribute__((noinline)) float *tensor_alloc(size_t rows, size_t columns)
{
    return calloc(rows * columns + 1, sizeof(float));
}

/* Not inlined: reports name this frame as the one that makes graphs. */
static __attribute__((noinline)) int autograd_node_make(enum operation operation,
                                                        struct seep_graph_node *from, size_t rows,
                                                        size_t columns,
                                                        struct seep_graph_node **out)
{
    struct seep_graph_node *node = calloc(1, sizeof *node);
    float *value = tensor_alloc(rows, columns);

    if (!node || !value) {
        free(node);
        free(value);
        return -SEEP_ENOMEM;
    }
    *node = (struct seep_graph_node){.operation = operation,
                                     .references = 1,
                                     .rows = rows,
                                     .columns = columns,
                                     .value = value,
                                     .from = seep_graph_keep(from)};
    n_live++;
    *out = node;
    return 0;
}

int seep_graph_input(const float *values, size_t rows, size_t columns, struct seep_graph_node **out)
{
    return seep_graph_derived(NULL, values, rows, columns, out);
}

int seep_graph_derived(struct seep_graph_node *x, const float *values, size_t rows, size_t columns,
                       struct seep_graph_node **out)
{
    int rc = autograd_node_make(INPUT, x, rows, columns, out);

    if (!rc)
        memcpy((*out)->value, values, rows * columns * sizeof *values);
    return rc;
}

int seep_graph_linear(struct seep_graph_node *x, struct seep_graph_parameter *p,
                      struct seep_graph_node **out)
{
    int rc = autograd_node_make(LINEAR, x, x->rows, p->n_out, out);
    const float *bias = p->weights + p->n_in * p->n_out;

    if (rc)
        return rc;
    (*out)->parameter = p;
    for (size_t r = 0; r < x->rows; r++) {
        float *y = (*out)->value + r * p->n_out;
        memcpy(y, bias, p->n_out * sizeof *y);
        for (size_t i = 0; i < p->n_in; i++) {
            float xi = x->value[r * p->n_in + i];
            const float *w = p->weights + i * p->n_out;
            for (size_t o = 0; o < p->n_out; o++)
                y[o] += xi * w[o];
        }
    }
    return 0;
}

int seep_graph_relu(struct seep_graph_node *x, struct seep_graph_node **out)
{
    int rc = autograd_node_make(RELU, x, x->rows, x->columns, out);

    for (size_t i = 0; !rc && i < x->rows * x->columns; i++)
        (*out)->value[i] = x->value[i] > 0 ? x->value[i] : 0;
    return rc;
}

int seep_graph_loss(struct seep_graph_node *x, const float *target, struct seep_graph_node **out)
{
    size_t n = x->rows * x->columns;
    double sum = 0;
    int rc = autograd_node_make(LOSS, x, 1, 1, out);

    if (rc)
        return rc;
    (*out)->target = tensor_alloc(x->rows, x->columns);
    if (!(*out)->target) {
        seep_graph_drop(*out);
        *out = NULL;
        return -SEEP_ENOMEM;
    }
    memcpy((*out)->target, target, n * sizeof *target);
    for (size_t i = 0; i < n; i++)
        sum += (double)(x->value[i] - target[i]) * (double)(x->value[i] - target[i]);
    (*out)->value[0] = (float)(sum / (double)n);
    return 0;
}

const float *seep_graph_value(const struct seep_graph_node *node)
{
    return node->value;
}

/* ---- backward -------------------------------------------------------------------------------- */

static void loss_backward(const struct seep_graph_node *loss, float *dx)
{
    const struct seep_graph_node *x = loss->from;
    size_t n = x->rows * x->columns;

    for (size_t i = 0; i < n; i++)
        dx[i] = 2 * (x->value[i] - loss->target[i]) / (float)n;
}

static void relu_backward(const struct seep_graph_node *node, const float *dy, float *dx)
{
    for (size_t i = 0; i < node->rows * node->columns; i++)
        dx[i] = node->value[i] > 0 ? dy[i] : 0;
}

static void linear_backward(const struct seep_graph_node *node, const float *dy, float *dx)
{
    const struct seep_graph_node *x = node->from;
    const struct seep_graph_parameter *p = node->parameter;
    float *bias = p->gradients + p->n_in * p->n_out;

    for (size_t r = 0; r < node->rows; r++) {
        const float *d = dy + r * p->n_out;
        for (size_t o = 0; o < p->n_out; o++)
            bias[o] += d[o];
        for (size_t i = 0; i < p->n_in; i++) {
            const float *w = p->weights + i * p->n_out;
            float *g = p->gradients + i * p->n_out, xi = x->value[r * p->n_in + i], sum = 0;
            for (size_t o = 0; o < p->n_out; o++) {
                g[o] += xi * d[o];
                sum += w[o] * d[o];
            }
            dx[r * p->n_in + i] = sum;
        }
    }
}

int seep_graph_backward(const struct seep_graph_node *loss)
{
    float *dy = NULL;

    for (const struct seep_graph_node *node = loss; node->operation != INPUT; node = node->from) {
        float *dx = tensor_alloc(node->from->rows, node->from->columns);
        if (!dx) {
            free(dy);
            return -SEEP_ENOMEM;
        }
        if (node->operation == LOSS)
            loss_backward(node, dx);
        else if (node->operation == RELU)
            relu_backward(node, dy, dx);
        else
            linear_backward(node, dy, dx);
        free(dy);
        dy = dx;
    }
    free(dy);
    return 0;
}

/* ---- references ------------------------------------------------------------------------------ */

struct seep_graph_node *seep_graph_keep(struct seep_graph_node *node)
{
    if (node)
        node->references++;
    return node;
}

void seep_graph_drop(struct seep_graph_node *node)
{
    while (node && --node->references == 0) {
        struct seep_graph_node *from = node->from;
        free(node->value);
        free(node->target);
        free(node);
        n_live--;
        node = from;
    }
}

size_t seep_graph_live(void)
{
    return n_live;
}
