/* How alike two pictures look (Wang et al., Image quality assessment: from error visibility to
 * structural similarity, 2004), and what of the loss of 3D Gaussian Splatting comes from it. */
#ifndef SEEP_KERNELS_SPLAT_SSIM_H
#define SEEP_KERNELS_SPLAT_SSIM_H

#include "kernels/compute/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/*   image, target  [height][width][3], 0 … 1, in the stream's memory
 *   *ssim          out: mean over all pixels and channels; 1: the same picture
 *   image_grad     [height][width][3] in and out: the gradient g of another loss becomes that of
 *                  (1 − weight) g + weight (1 − ssim); NULL: not wanted
 * Windows of 11 × 11 pixels, Gaussian of sigma 1.5, zeros beyond the picture's edge; C1 = 0.01², C2
 * = 0.03². Sums in an order that the number of threads does not change. width and height 1 … 16384.
 * Scratch as in splat.h: about 32 bytes a value on the CPU, 12 on a GPU. 0, -SEEP_EINVAL,
 * -SEEP_EDEVICE. */
SEEP_MUST_CHECK int seep_splat_ssim(const float *image, const float *target, int width, int height,
                                    float weight, float *image_grad, double *ssim, void *scratch,
                                    size_t *scratch_bytes, struct seep_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
