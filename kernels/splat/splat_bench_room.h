/* All arrays that a model's picture and gradients need, on one stream: for tests and benchmarks. (A
 * job keeps its own: what lives when is what it is about.) */
#ifndef SEEP_KERNELS_SPLAT_BENCH_ROOM_H
#define SEEP_KERNELS_SPLAT_BENCH_ROOM_H

#include "kernels/splat/splat.h"

struct seep_splat_room {
    struct seep_stream *stream;
    struct seep_splat_camera camera;
    struct seep_splat_model model; /* in the stream's memory */
    struct seep_splat_projected projected;
    struct seep_splat_bins bins;
    struct seep_splat_picture picture;
    struct seep_splat_gradients gradients;
    float *image_grad;
    void *scratch;
    size_t scratch_bytes, pairs_room, bytes; /* bytes: all that is held */
};

/* Copies the model (host memory). 0 or what stopped it; freed with _fini() in either case. */
SEEP_MUST_CHECK int seep_splat_room_init(struct seep_splat_room *room, struct seep_stream *stream,
                                         const struct seep_splat_camera *camera,
                                         const struct seep_splat_model *model);
void seep_splat_room_fini(struct seep_splat_room *room);

/* The calls of splat.h; the lists of pairs and the scratch are made larger where they do not
 * suffice. */
SEEP_MUST_CHECK int seep_splat_room_project(struct seep_splat_room *room);
SEEP_MUST_CHECK int seep_splat_room_bin(struct seep_splat_room *room);
SEEP_MUST_CHECK int seep_splat_room_render(struct seep_splat_room *room);
/*   image_grad  [height][width][3] in host memory, or NULL: as it is */
SEEP_MUST_CHECK int seep_splat_room_backward(struct seep_splat_room *room, const float *image_grad);

/* Project, bin, render, and the picture to the host.
 *   image  [height][width][3] out, or NULL */
SEEP_MUST_CHECK int seep_splat_room_forward(struct seep_splat_room *room, float *image);

/* All gradients to the host, into arrays of the model's sizes. */
SEEP_MUST_CHECK int seep_splat_room_download(const struct seep_splat_room *room,
                                             const struct seep_splat_gradients *to);

#endif
