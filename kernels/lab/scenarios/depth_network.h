/* FeatDepth in small: made-up samples of four frames, a network over them, its optimizer. */
#ifndef SEEP_KERNELS_DEPTH_NETWORK_H
#define SEEP_KERNELS_DEPTH_NETWORK_H

#include "kernels/compute/chance.h"
#include "kernels/lab/scenarios/autograd_graph.h"

enum { SEEP_DEPTH_LAYERS = 3 };

struct seep_depth_network {
    struct seep_graph_parameter layers[SEEP_DEPTH_LAYERS];
    size_t n_values;                    /* weights of all layers */
    float *weights, *gradients, *speed; /* [n_values] each; the layers' lie in them */
};

/* A network of n_values weights or a few more, drawn by `seed`. 0, -SEEP_ENOMEM; seep_depth_fini()
 * either way. */
SEEP_MUST_CHECK int seep_depth_init(struct seep_depth_network *net, size_t n_values, uint64_t seed);
void seep_depth_fini(struct seep_depth_network *net);

/* The floats of a sample's pictures: `frames`, each in colour and augmented, three channels of
 * 320 × 1024, in each direction `side` times as large. */
size_t seep_depth_picture_bytes(unsigned frames, double side);

/* Draws a sample; its features [n_in] and depths [n_out] for the network are means over patches of
 * the first picture, so they are the same for any number of frames. pictures: where these are left;
 * NULL: they are freed on return. */
SEEP_MUST_CHECK int seep_depth_sample(const struct seep_depth_network *net, unsigned frames,
                                      double side, struct seep_chance *chance, float *pictures,
                                      float *features, float *depths);

/* The depths that the network predicts for a batch; root of a new graph. pictures: the node of
 * those that the features were taken from, which the graph then keeps; or NULL. */
SEEP_MUST_CHECK int seep_depth_predict(struct seep_depth_network *net,
                                       struct seep_graph_node *pictures, const float *features,
                                       size_t rows, struct seep_graph_node **depths);

/* The loss of a batch, root of a new graph. */
SEEP_MUST_CHECK int seep_depth_forward(struct seep_depth_network *net, const float *features,
                                       const float *depths, size_t rows,
                                       struct seep_graph_node **loss);

/* SGD with momentum; gradients are zeros after it. */
void seep_depth_update(struct seep_depth_network *net, float rate);

#endif
