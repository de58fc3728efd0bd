/* 3D Gaussian Splatting (Kerbl et al., SIGGRAPH 2023; projection after Zwicker et al., EWA
 * splatting, 2002): a differentiable rasteriser, forward and backward.
 *
 * Three calls make a picture: seep_splat_project() counts the pairs of Gaussian and tile,
 * seep_splat_bin() sorts them by tile and depth, seep_splat_render() blends front to back. Arrays
 * are in the memory of the stream's device and belong to the caller; functions allocate nothing.
 * Scratch as in CUB: with scratch == NULL nothing runs and *scratch_bytes is set. Otherwise scratch
 * is *scratch_bytes long and at a multiple of 64 bytes (256 on CUDA); -SEEP_EINVAL if not, or if it
 * is too small.
 *
 * Constants: near plane 0.2; +0.3 px² low-pass on the projected covariance; x/z and y/z of the
 * Jacobian clamped to 1.3 × half the picture's width and height over the focal length; extent 3
 * sigma, by whole tiles (enum seep_splat_tile_rule); alpha at most 0.99; alpha below 1/255 is
 * skipped; blending stops before the transmittance would fall below 1e-4. Tiles of 16 × 16 pixels;
 * pixel (i, j) is sampled at its centre (i + 0.5, j
 * + 0.5). Gradients are those of this picture: none passes through an active clamp (alpha at 0.99,
 * a colour at 0).
 *
 * Single precision may decide differently about a pair whose alpha is at 1/255, or a pixel whose
 * transmittance is at 1e-4: the difference is at most 1/255 of a pixel's range. In garden.npz the
 * CPU's picture differs from the double-precision reference by 2.1e-6 (norm), and in 4 of 272,160
 * pixels by more than 1e-4 of the largest value (at most 7.3e-4).
 *
 * A Gaussian with a NaN or Inf among its parameters, or with a rotation of length 0, is skipped: it
 * is not drawn and its gradients are 0.
 *
 * All functions: 0, -SEEP_EINVAL, -SEEP_EDEVICE. Threads: one call per stream at a time. On a
 * CUDA stream only seep_splat_project() waits. The others may return before their work is done; a
 * later call then reports their errors. */
#ifndef SEEP_KERNELS_SPLAT_H
#define SEEP_KERNELS_SPLAT_H

#include "kernels/compute/stream.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SEEP_SPLAT_TILE = 16, SEEP_SPLAT_MAX_SH_DEGREE = 3 };

/* A pinhole camera, OpenCV axes (x right, y down, z forward). */
struct seep_splat_camera {
    int width, height;    /* pixels, 1 … 16384 */
    float fx, fy, cx, cy; /* pixels */
    float rotation[3][3]; /* world to camera */
    float translation[3];
    float background[3]; /* the colour behind everything */
};

/* The model. Parameters as the picture uses them: scales are lengths (after exp), opacities 0 … 1
 * (after the sigmoid), rotations are quaternions w, x, y, z of any length but 0. */
struct seep_splat_model {
    size_t n;      /* Gaussians, < 2^31 */
    int sh_degree; /* 0 … 3: coefficients used, (degree + 1)² per channel */
    int sh_stride; /* coefficients stored per Gaussian, >= (sh_degree + 1)² */
    const float (*means)[3];
    const float (*scales)[3];
    const float (*rotations)[4];
    const float *opacities;
    const float *sh; /* [n][sh_stride][3]; colour = max(0, 0.5 + sum sh · Y(direction)) */
};

/* What a Gaussian is in the picture: 48 bytes, two sectors of a GPU's memory. Of a culled one only
 * `tiles` is defined. */
struct seep_splat_print {
    float mean[2]; /* pixels */
    /* a, b, c of alpha = opacity · 2^−(u² + v²), u = a dx + b dy, v = c dy with (dx, dy) = pixel −
     * mean: a triangular root of the inverse covariance. Squared in the picture, it keeps a
     * needle's exponent exact, whereas the inverse itself, in float, would cancel. */
    float roots[3];
    float opacity;
    float color[3];
    float depth;       /* z before the camera, in double and rounded: ties break alike everywhere */
    uint16_t tiles[4]; /* the box of its tiles: first x, first y, end x, end y; all 0 if culled */
};

/* Which tiles a Gaussian is binned to. A Gaussian without a tile is culled.
 *
 *   BOX      those with a pixel centre in the box around the ellipse of 3 sigma (half its side: 3
 *            sigma of the longer axis) and in the box around the ellipse where alpha is 1/255
 *   REACHED  those of BOX that the ellipse where alpha is 1/255 really reaches: what is left out
 *            has no pixel that would be drawn. The picture is that of BOX to the bit, and so is all
 *            that is worked out pixel by pixel; only the lists are shorter
 *   SQUARE   those of the original (Kerbl et al., diff-gaussian-rasterization: forward.cu, and
 *            getRect() of auxiliary.h): in x and y from (centre − r) / 16 to (centre + r + 15) / 16
 *            without its end, both rounded down, r = ceil(3 sqrt(λ)), where the centre is in pixels
 *            of which the first has its own at 0. λ is the covariance's larger eigenvalue, with at
 *            least sqrt(0.1) between it and the mean of both. Opacity has no part in it, except
 *            that it must be > 0
 *
 * Pictures of BOX and SQUARE differ in two ways. Beyond 3 sigma a Gaussian more opaque than
 * e^4.5 / 255 = 0.353 still has an alpha of up to 0.0111, drawn where SQUARE has more tiles. And
 * SQUARE leaves out a tile if the square ends within its first pixel's width, on the right or
 * below. */
enum seep_splat_tile_rule {
    SEEP_SPLAT_TILES_BOX,
    SEEP_SPLAT_TILES_REACHED,
    SEEP_SPLAT_TILES_SQUARE,
    SEEP_SPLAT_TILE_RULES
};

/* The output of seep_splat_project() for the other calls, which take the rule from here, too.
 *   prints   [n], at a multiple of 16 bytes
 *   offsets  [n + 1] running sum of tiles touched, offsets[0] = 0
 * -SEEP_EINVAL also if there are 2^32 pairs or more. */
struct seep_splat_projected {
    struct seep_splat_print *prints;
    uint32_t *offsets;
    size_t n_pairs;                 /* out, on the host: offsets[n] */
    size_t n_seen;                  /* out, on the host: Gaussians that are not culled */
    enum seep_splat_tile_rule rule; /* in; 0 is BOX */
};

SEEP_MUST_CHECK int seep_splat_project(const struct seep_splat_camera *camera,
                                       const struct seep_splat_model *model,
                                       struct seep_splat_projected *out, void *scratch,
                                       size_t *scratch_bytes, struct seep_stream *stream);

/* Pairs sorted by tile, then by depth (equal depth: by index).
 *   gaussians   [n_pairs] out
 *   tile_start  [tiles + 1] out, tiles = ceil(width / 16) × ceil(height / 16), row by row */
struct seep_splat_bins {
    uint32_t *gaussians;
    uint32_t *tile_start;
};

SEEP_MUST_CHECK int seep_splat_bin(const struct seep_splat_camera *camera, size_t n,
                                   const struct seep_splat_projected *projected,
                                   struct seep_splat_bins *bins, void *scratch,
                                   size_t *scratch_bytes, struct seep_stream *stream);

/*   image          [height][width][3] out
 *   transmittance  [height][width] out: the share of the background that is visible
 *   last           [height][width] out: one past the index, in the tile's list, of the last pair
 *                  that was blended (for backward) */
struct seep_splat_picture {
    float *image;
    float *transmittance;
    uint32_t *last;
};

SEEP_MUST_CHECK int seep_splat_render(const struct seep_splat_camera *camera,
                                      const struct seep_splat_model *model,
                                      const struct seep_splat_projected *projected,
                                      const struct seep_splat_bins *bins,
                                      struct seep_splat_picture *out, struct seep_stream *stream);

/* Gradients of a loss, summed over the picture; they overwrite the arrays.
 *   means2d  the gradient in pixels, which densification uses; may be NULL */
struct seep_splat_gradients {
    float (*means)[3];
    float (*scales)[3];
    float (*rotations)[4]; /* of the quaternion as given, not of the normalised one */
    float *opacities;
    float *sh; /* [n][sh_stride][3] */
    float (*means2d)[2];
};

/*   image_grad  [height][width][3]
 * On CUDA the order of sums over pixels is arbitrary: the last bits change from run to run. */
SEEP_MUST_CHECK int
seep_splat_backward(const struct seep_splat_camera *camera, const struct seep_splat_model *model,
                    const struct seep_splat_projected *projected,
                    const struct seep_splat_bins *bins, const struct seep_splat_picture *picture,
                    const float *image_grad, struct seep_splat_gradients *out, void *scratch,
                    size_t *scratch_bytes, struct seep_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
