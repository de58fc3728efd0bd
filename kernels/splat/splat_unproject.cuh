/* What backward's pass over the pixels hands to its pass over the Gaussians. */
#ifndef SEEP_KERNELS_SPLAT_UNPROJECT_CUH
#define SEEP_KERNELS_SPLAT_UNPROJECT_CUH

#include "kernels/splat/splat_cuda.cuh"
#include "kernels/splat/splat_gaussian.cuh"

/* Sums over a Gaussian's pixels, with w = dL/dalpha · alpha and (dx, dy) = pixel − mean. One after
 * the other in memory: a record of SPLAT_SUMS floats. */
enum {
    SUM_W,     /* w */
    SUM_WU,    /* w u */
    SUM_WY,    /* w dy */
    SUM_WUX,   /* w u dx */
    SUM_WUY,   /* w u dy */
    SUM_WYY,   /* w dy² */
    SUM_COLOR, /* dL/dcolor, 3 */
    SPLAT_SUMS = 9
};

/* The SPLAT_SUMS sums of Gaussian i are at [i * stride]; undefined where it is culled. */
struct splat_records {
    float *sums;
    size_t stride;
};

struct splat_unprojected {
    struct seep_splat_model model;
    struct seep_splat_projected projected;
    struct seep_splat_gradients out;
    struct splat_records records;
    bool wide;
};

/* Writes all gradients. Records may lie in those of SH: a warp reads its own before it writes. */
cudaError_t seep_splat_unproject_cuda(const struct splat_view &view,
                                      const struct splat_unprojected &arrays, cudaStream_t stream);

#endif
