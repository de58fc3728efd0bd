/* How far a picture is from the photograph, and the gradient that seep_splat_backward() takes. */
#ifndef SEEP_KERNELS_SPLAT_LOSS_H
#define SEEP_KERNELS_SPLAT_LOSS_H

#include "kernels/compute/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

struct seep_splat_loss {
    double l1;      /* mean |image − target| */
    double mse;     /* mean (image − target)² */
    double psnr_db; /* for values 0 … 1: −10 log10(mse); INFINITY where they are equal */
};

/*   image, target  [n_values] in the stream's memory
 *   image_grad     [n_values] out: of l1, sign(image − target) / n_values; NULL: not wanted
 *   *out           out, on the host; sums in double, in an order that the number of threads does
 *                  not change
 * n_values == 0 gives zeros (and psnr_db INFINITY). Scratch as in splat.h. 0, -SEEP_EINVAL,
 * -SEEP_EDEVICE. */
SEEP_MUST_CHECK int seep_splat_loss(const float *image, const float *target, size_t n_values,
                                    float *image_grad, struct seep_splat_loss *out, void *scratch,
                                    size_t *scratch_bytes, struct seep_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
