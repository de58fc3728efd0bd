/* A small autograd: each operation creates a node that holds what its backward needs, and the nodes
 * it came from. A reference to a loss keeps its whole graph alive.
 *
 * Functions return 0 or -SEEP_ENOMEM, outputs last; a node that comes out is the caller's
 * reference. Threads: one. Allocates: a node and its tensors from malloc. */
#ifndef SEEP_KERNELS_AUTOGRAD_GRAPH_H
#define SEEP_KERNELS_AUTOGRAD_GRAPH_H

#include "libprof/base/error.h"

#include <stddef.h>

/* A layer's: weights [n_in][n_out], then a bias [n_out]; gradients are added to. */
struct seep_graph_parameter {
    size_t n_in, n_out;
    float *weights, *gradients;
};

struct seep_graph_node;

/*   values  [rows][columns], copied */
SEEP_MUST_CHECK int seep_graph_input(const float *values, size_t rows, size_t columns,
                                     struct seep_graph_node **out);
/* The same, of values that were computed from x's, which has no gradient: x stays alive for it, as
 * a first layer's input does. */
SEEP_MUST_CHECK int seep_graph_derived(struct seep_graph_node *x, const float *values, size_t rows,
                                       size_t columns, struct seep_graph_node **out);
SEEP_MUST_CHECK int seep_graph_linear(struct seep_graph_node *x, struct seep_graph_parameter *p,
                                      struct seep_graph_node **out);
SEEP_MUST_CHECK int seep_graph_relu(struct seep_graph_node *x, struct seep_graph_node **out);

/* Mean squared distance to target [rows][columns], which is copied. */
SEEP_MUST_CHECK int seep_graph_loss(struct seep_graph_node *x, const float *target,
                                    struct seep_graph_node **out);

/* [rows][columns] of the node; of a loss one number. */
const float *seep_graph_value(const struct seep_graph_node *node);

/* From a loss: adds to the gradients of all parameters on the way. */
SEEP_MUST_CHECK int seep_graph_backward(const struct seep_graph_node *loss);

/* Adds a reference; drops one: a node without references is freed, and drops its own. NULL:
 * nothing. */
struct seep_graph_node *seep_graph_keep(struct seep_graph_node *node);
void seep_graph_drop(struct seep_graph_node *node);

/* Live nodes of this process. */
size_t seep_graph_live(void);

#endif
