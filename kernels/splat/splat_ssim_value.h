/* SSIM of one value, the same in both twins. */
#ifndef SEEP_KERNELS_SPLAT_SSIM_VALUE_H
#define SEEP_KERNELS_SPLAT_SSIM_VALUE_H

#include <math.h>

#ifdef __CUDACC__
#define SSIM_BOTH static __host__ __device__ __forceinline__
#else
#define SSIM_BOTH static inline
#endif

enum { SSIM_REACH = 5, SSIM_TAPS = 2 * SSIM_REACH + 1, SSIM_CHANNELS = 3 };

/* Sums over the window, and what the derivatives are by. */
enum { SSIM_X, SSIM_Y, SSIM_XX, SSIM_YY, SSIM_XY, SSIM_SUMS };
enum { SSIM_BY_X, SSIM_BY_XX, SSIM_BY_XY, SSIM_DERIVATIVES };

struct ssim_window {
    float taps[SSIM_TAPS];
};

static inline struct ssim_window ssim_window_of_paper(void)
{
    const double sigma = 1.5;
    double values[SSIM_TAPS], sum = 0;
    struct ssim_window window;

    for (int k = 0; k < SSIM_TAPS; k++) {
        values[k] = exp(-(k - SSIM_REACH) * (k - SSIM_REACH) / (2 * sigma * sigma));
        sum += values[k];
    }
    for (int k = 0; k < SSIM_TAPS; k++)
        window.taps[k] = (float)(values[k] / sum);
    return window;
}

SSIM_BOTH float ssim_of(const float sum[SSIM_SUMS], float by[SSIM_DERIVATIVES])
{
    const float c1 = 0.01f * 0.01f, c2 = 0.03f * 0.03f;
    float mx = sum[SSIM_X], my = sum[SSIM_Y];
    float vx = sum[SSIM_XX] - mx * mx, vy = sum[SSIM_YY] - my * my, cov = sum[SSIM_XY] - mx * my;
    float a1 = 2 * mx * my + c1, a2 = 2 * cov + c2, b1 = mx * mx + my * my + c1, b2 = vx + vy + c2;
    float ssim = a1 * a2 / (b1 * b2);

    by[SSIM_BY_XX] = -ssim / b2;
    by[SSIM_BY_XY] = 2 * a1 / (b1 * b2);
    by[SSIM_BY_X] = 2 * my * a2 / (b1 * b2) - 2 * mx * ssim / b1 - my * by[SSIM_BY_XY] -
                    2 * mx * by[SSIM_BY_XX];
    return ssim;
}

#endif
