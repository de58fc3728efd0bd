/* A tile's list in a block's shared memory, 256 Gaussians at a time, and which of them matter to
 * which warp. A block is a tile; each of its 8 warps has 8 × 4 pixels. Whoever loads a Gaussian
 * finds out which of the 8 parts it can reach with an alpha of 1/255 or more, so that a warp goes
 * over those alone: the blended pairs are the same, most others cost nothing. */
#ifndef SEEP_KERNELS_SPLAT_TILE_CUH
#define SEEP_KERNELS_SPLAT_TILE_CUH

#include "kernels/splat/splat_cuda.cuh"
#include "kernels/splat/splat_gaussian.cuh"

enum { TILE_WARPS = SEEP_BLOCK / 32, PART_WIDTH = 8, PART_HEIGHT = 4, ALL_LANES = -1 };

/* What all Gaussians of the list are read from. */
struct tile_arrays {
    const struct seep_splat_print *prints;
    const uint32_t *gaussians, *tile_start;
};

static inline struct tile_arrays tile_arrays_of(const struct seep_splat_projected *projected,
                                                const struct seep_splat_bins *bins)
{
    return {projected->prints, bins->gaussians, bins->tile_start};
}

struct tile_batch {
    float4 shape[SEEP_BLOCK]; /* mean x, mean y, a, b */
    float4 look[SEEP_BLOCK];  /* c, log2(opacity), red, green */
    float blue[SEEP_BLOCK];
    uint32_t touched[TILE_WARPS][SEEP_BLOCK / 32]; /* by part of the tile: a bit a Gaussian */
};

/* Where this thread's tile and pixel are. */
struct tile_place {
    int tile_x, tile_y; /* in pixels */
    int x, y;
    bool inside; /* the picture */
    size_t pixel;
};

__device__ static struct tile_place tile_place_of(const struct splat_view &view)
{
    struct tile_place place;
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;

    place.tile_x = (int)(blockIdx.x % (unsigned)view.tiles_x) * SEEP_SPLAT_TILE;
    place.tile_y = (int)(blockIdx.x / (unsigned)view.tiles_x) * SEEP_SPLAT_TILE;
    place.x = place.tile_x + warp % 2 * PART_WIDTH + lane % PART_WIDTH;
    place.y = place.tile_y + warp / 2 * PART_HEIGHT + lane / PART_WIDTH;
    place.inside = place.x < view.camera.width && place.y < view.camera.height;
    place.pixel = (size_t)place.y * (size_t)view.camera.width + (size_t)place.x;
    return place;
}

/* Fills this thread's slot with `gaussian`, or leaves it untouched by any part (there: false). To
 * be called by all threads of the block, with a barrier before and behind. */
__device__ __forceinline__ void tile_fill(struct tile_batch *batch,
                                          const struct tile_arrays &arrays,
                                          const struct tile_place &place, bool there,
                                          uint32_t gaussian)
{
    unsigned slot = threadIdx.x;
    float2 mean = make_float2(0, 0);
    struct splat_reach reach = {};

    if (there) {
        const float4 *print = reinterpret_cast<const float4 *>(arrays.prints + gaussian);
        float4 shape = __ldg(print), look = __ldg(print + 1);
        const float roots[3] = {shape.z, shape.w, look.x};
        look.y = log2f(look.y);
        mean = make_float2(shape.x, shape.y);
        reach = reach_of(roots, look.y);
        batch->shape[slot] = shape;
        batch->look[slot] = look;
        batch->blue[slot] = __ldg(&arrays.prints[gaussian].color[2]);
    }
    for (int part = 0; part < TILE_WARPS; part++) {
        float left = (float)(place.tile_x + part % 2 * PART_WIDTH) + 0.5f - mean.x;
        float top = (float)(place.tile_y + part / 2 * PART_HEIGHT) + 0.5f - mean.y;
        bool reaches =
            there && may_touch(reach, left, left + (PART_WIDTH - 1), top, top + (PART_HEIGHT - 1));
        uint32_t ballot = __ballot_sync((unsigned)ALL_LANES, reaches);
        if (slot % 32 == 0)
            batch->touched[part][slot / 32] = ballot;
    }
}

/* A Gaussian over a pixel. Forward and backward must come to the same alpha, to the bit: there is
 * one place where it is worked out. */
struct tile_sample {
    float dx, dy, u, v;
    float alpha; /* not yet held under 0.99 */
};

__device__ __forceinline__ float exp2_fast(float x)
{
#ifdef __CUDACC__
    float y;

    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); /* 2 ulp */
    return y;
#else
    return exp2f(x);
#endif
}

__device__ __forceinline__ struct tile_sample tile_sample_at(float4 shape, float4 look, float x,
                                                             float y)
{
    struct tile_sample s;

    s.dx = x - shape.x;
    s.dy = y - shape.y;
    s.u = __fmaf_rn(shape.z, s.dx, __fmul_rn(shape.w, s.dy));
    s.v = __fmul_rn(look.x, s.dy);
    s.alpha = exp2_fast(__fmaf_rn(-s.v, s.v, __fmaf_rn(-s.u, s.u, look.y)));
    return s;
}

#endif
