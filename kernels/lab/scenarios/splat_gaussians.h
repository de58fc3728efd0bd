/* The Gaussians that a job trains, with all that Adam keeps for them; made from points, and made
 * more while they train (Kerbl et al., 2023, sections 5.1 and 5.2). */
#ifndef SEEP_KERNELS_SPLAT_GAUSSIANS_H
#define SEEP_KERNELS_SPLAT_GAUSSIANS_H

#include "kernels/lab/scenarios/splat_views.h"
#include "kernels/splat/splat_adam.h"

#include <stdio.h>

enum { SEEP_GAUSSIAN_SH_STRIDE = 16 };

struct seep_gaussians {
    size_t n;
    struct seep_splat_trained trained;
    struct seep_splat_gradients gradients;
    float *pull; /* [n] on the host: summed length of gradients.means2d, what is split next */
    struct seep_stream *stream;
};

/* One Gaussian a point: of the point's colour, as wide as its three nearest neighbours are far,
 * opacity 0.1. 0, -SEEP_ENOMEM, -SEEP_EDEVICE. Allocates: *out, on the stream's device. */
SEEP_MUST_CHECK int seep_gaussians_init(const struct seep_views *views, struct seep_stream *stream,
                                        struct seep_gaussians *out);
void seep_gaussians_fini(struct seep_gaussians *g);

/* As the rasteriser takes them. */
struct seep_splat_model seep_gaussians_model(const struct seep_gaussians *g, int sh_degree);

/* Bytes that one Gaussian holds on the device between steps. */
size_t seep_gaussian_bytes(void);

/* Adds a step's gradients to `pull`. */
SEEP_MUST_CHECK int seep_gaussians_watch(struct seep_gaussians *g);

/* Makes the n_new − n Gaussians with most pull two each, and resets the pull. Small ones are
 * doubled; those larger than a hundredth of `extent` are split into two of 1/1.6 the size, at
 * places drawn from them. Each array is replaced by a larger one, one after the other. Needs n <=
 * n_new <= 2n. 0, -SEEP_EINVAL, -SEEP_ENOMEM, -SEEP_EDEVICE; after a failure *g can only be given
 * to _fini(). */
SEEP_MUST_CHECK int seep_gaussians_densify(struct seep_gaussians *g, size_t n_new, float extent,
                                           uint64_t seed);

/* No opacity is above 0.01 any more, and its moments are 0 (Kerbl et al., section 5.2). */
SEEP_MUST_CHECK int seep_gaussians_reset_opacities(struct seep_gaussians *g);

/* Those less opaque than `least` go, except if none would stay: each array is replaced by a smaller
 * one. *n_pruned: how many. After a failure *g can only be given to _fini(). */
SEEP_MUST_CHECK int seep_gaussians_prune(struct seep_gaussians *g, float least, size_t *n_pruned);

/* Writes all that is trained, with its moments, to `file`; reads it from there into *out, a model
 * of its own. 0, -SEEP_EIO (no room; not such a file), -SEEP_ENOMEM, -SEEP_EDEVICE. */
SEEP_MUST_CHECK int seep_gaussians_checkpoint(const struct seep_gaussians *g, FILE *file);
SEEP_MUST_CHECK int seep_gaussians_restore(FILE *file, struct seep_stream *stream,
                                           struct seep_gaussians *out);

/* The largest scale; INFINITY and NaN do not count. */
SEEP_MUST_CHECK int seep_gaussians_largest_scale(const struct seep_gaussians *g, float *largest);

/* Takes scales for their logarithms, as who loads a file with the ones into a model that wants the
 * others: lengths of a hundredth become lengths of about 1. */
SEEP_MUST_CHECK int seep_gaussians_mistake_scales(struct seep_gaussians *g);

/* Scales above `most` become it: torch.clamp(max=most). Costs a way to the host and back. */
SEEP_MUST_CHECK int seep_gaussians_clamp_scales(struct seep_gaussians *g, float most);

/* ---- for splat_densify.c --------------------------------------------------------------------- */

enum seep_gaussian_kind {
    SEEP_GAUSSIAN_COPIED, /* a child has its parent's */
    SEEP_GAUSSIAN_MEAN,   /* moved apart */
    SEEP_GAUSSIAN_SCALE,  /* divided by 1.6 where split */
    SEEP_GAUSSIAN_LOG_SCALE,
    SEEP_GAUSSIAN_MOMENT,  /* 0 for a child */
    SEEP_GAUSSIAN_SCRATCH, /* written anew each step */
};

/* One of the arrays of [n][width] floats. */
struct seep_gaussian_array {
    void *pointer; /* address of the pointer to it, which is a float *, a float (*)[3] … */
    size_t width;
    enum seep_gaussian_kind kind;
};

enum { SEEP_GAUSSIAN_ARRAYS = 23 };
void seep_gaussian_arrays(struct seep_gaussians *g,
                          struct seep_gaussian_array arrays[SEEP_GAUSSIAN_ARRAYS]);
void *seep_gaussian_array_get(const struct seep_gaussian_array *array);
void seep_gaussian_array_set(const struct seep_gaussian_array *array, void *values);

/* Room for n rows. The first and the larger arrays after it come from the same line. */
SEEP_MUST_CHECK int seep_gaussian_array_make(const struct seep_gaussian_array *array, size_t n,
                                             struct seep_stream *stream, void **values);

/* Once they are filled: they take the place of the array's values, which are freed; or, where that
 * failed with `rc`, they are freed themselves. Returns rc. */
int seep_gaussian_array_settle(const struct seep_gaussian_array *array, int rc,
                               struct seep_stream *stream, void *values);

#endif
