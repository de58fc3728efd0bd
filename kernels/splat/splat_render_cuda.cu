/* Blending on the GPU: a block a tile, a thread a pixel, front to back. */
#include "kernels/splat/splat_tile.cuh"

struct render_pixel {
    float transmittance, red, green, blue;
    uint32_t last;
    bool done;
};

/* The Gaussians of one batch that the warp's part of the tile can see. */
__device__ static void blend_batch(const struct tile_batch *batch, const struct tile_place &place,
                                   uint32_t base, struct render_pixel *pixel)
{
    float x = (float)place.x + 0.5f, y = (float)place.y + 0.5f;
    const uint32_t *touched = batch->touched[threadIdx.x / 32];

    for (unsigned word = 0; word < SEEP_BLOCK / 32; word++) {
        if (__all_sync((unsigned)ALL_LANES, pixel->done))
            return;
        for (uint32_t bits = touched[word]; bits; bits &= bits - 1) {
            unsigned slot = word * 32 + (unsigned)__ffs((int)bits) - 1;
            float4 look = batch->look[slot];
            struct tile_sample s = tile_sample_at(batch->shape[slot], look, x, y);
            float alpha = fminf(s.alpha, SEEP_SPLAT_MAX_ALPHA);
            if (pixel->done || !(alpha >= SEEP_SPLAT_MIN_ALPHA))
                continue;
            float next = pixel->transmittance * (1 - alpha);
            if (next < SEEP_SPLAT_MIN_TRANSMITTANCE) {
                pixel->done = true;
                continue;
            }
            float weight = alpha * pixel->transmittance;
            pixel->red += weight * look.z;
            pixel->green += weight * look.w;
            pixel->blue += weight * batch->blue[slot];
            pixel->transmittance = next;
            pixel->last = base + slot + 1;
        }
    }
}

__global__ static void __launch_bounds__(SEEP_BLOCK)
    render(const struct splat_view view, const struct tile_arrays arrays,
           const struct seep_splat_picture out)
{
    __shared__ struct tile_batch batch;
    struct tile_place place = tile_place_of(view);
    uint32_t begin = arrays.tile_start[blockIdx.x];
    uint32_t n = arrays.tile_start[blockIdx.x + 1] - begin;
    struct render_pixel pixel = {1, 0, 0, 0, 0, !place.inside};

    /* `left` counts down: a list may be as long as 2^32 − 1, where a sum with 256 would wrap. */
    for (uint32_t base = 0, left = n; left > 0; base += SEEP_BLOCK) {
        if (__syncthreads_count(pixel.done) == SEEP_BLOCK)
            break;
        bool there = threadIdx.x < left;
        tile_fill(&batch, arrays, place, there,
                  there ? arrays.gaussians[begin + base + threadIdx.x] : 0);
        __syncthreads();
        blend_batch(&batch, place, base, &pixel);
        left -= left < SEEP_BLOCK ? left : SEEP_BLOCK;
    }
    if (!place.inside)
        return;
    const float *background = view.camera.background;
    float *image = out.image + place.pixel * 3;
    image[0] = pixel.red + pixel.transmittance * background[0];
    image[1] = pixel.green + pixel.transmittance * background[1];
    image[2] = pixel.blue + pixel.transmittance * background[2];
    out.transmittance[place.pixel] = pixel.transmittance;
    out.last[place.pixel] = pixel.last;
}

int seep_splat_render_cuda(const struct seep_splat_camera *camera,
                           const struct seep_splat_model *model,
                           const struct seep_splat_projected *projected,
                           const struct seep_splat_bins *bins, struct seep_splat_picture *out,
                           struct seep_stream *stream)
{
    struct splat_view view = splat_view_of(camera);
    const seep_cuda_turn s(stream);
    size_t blocks = (size_t)view.tiles_x * (size_t)view.tiles_y;

    (void)model;
    return seep_cuda_status(
        seep_launch(render, blocks * SEEP_BLOCK, s, view, tile_arrays_of(projected, bins), *out));
}
