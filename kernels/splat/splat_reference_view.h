/* One Gaussian seen by the camera, in double precision: the part of the reference that knows
 * nothing of pixels. */
#ifndef SEEP_KERNELS_SPLAT_REFERENCE_VIEW_H
#define SEEP_KERNELS_SPLAT_REFERENCE_VIEW_H

#include "kernels/splat/splat_reference_model.h"

#include <stdbool.h>

struct seep_reference_view {
    float depth; /* rounded: ties must break as in the twins */
    double mean2d[2];
    double conic[3]; /* inverse covariance in the picture: xx, xy, yy */
    double color[3];
    int tiles[4]; /* first x, first y, end x, end y; all 0: culled */
};

/* Gradients by what the pixels use. */
struct seep_reference_view_grad {
    double mean2d[2];
    double conic[3]; /* xy: of the one number that stands for both off-diagonal entries */
    double color[3];
    double opacity;
};

/* tight: tiles are bounded as the twins bound them, by where alpha reaches 1/255; else they are
 * those of the whole square of 3 sigma. */
void seep_reference_see(const struct seep_splat_camera *camera,
                        const struct seep_reference_model *model, size_t i, bool tight,
                        struct seep_reference_view *out);

/* Writes entry i of `out`. */
void seep_reference_see_backward(const struct seep_splat_camera *camera,
                                 const struct seep_reference_model *model, size_t i,
                                 const struct seep_reference_view *view,
                                 const struct seep_reference_view_grad *grad,
                                 struct seep_reference_model *out);

#endif
