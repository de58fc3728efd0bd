/* Binning on the GPU. Gaussians that are not culled are listed, in their order, and sorted by depth
 * (n_seen keys of 31 bits: of a large scene one view sees a part); their pairs are then made in
 * that order and sorted, stably, by tile alone. At 1080p (8160 tiles) a pair of 6 bytes is moved
 * twice; with a 64-bit key of tile and depth it would be one of 12 bytes, moved six times. (That is
 * CUB's policy for sm_90. For 16-bit keys on sm_80 it takes 7 bits a pass, and reads keys twice: as
 * many passes at 1080p, one more at 4K.) */
#include "kernels/splat/splat_cuda.cuh"
#include "kernels/splat/splat_gaussian.cuh"

#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

enum {
    PAIRS_A_THREAD = 8,
    PAIRS_A_BLOCK = SEEP_BLOCK * PAIRS_A_THREAD,
    DEPTH_BITS = 31, /* depths are > 0: as bits they are in order, and the sign is 0 */
};

/* Gaussians that are not culled, in the order of their depth. */
struct by_depth {
    uint32_t *keys[2], *order[2];
    uint32_t *starts; /* [n_seen + 1] running sum of tiles touched in that order */
    uint32_t *firsts; /* for every PAIRS_A_BLOCK pairs, the Gaussian of the first */
};

/* All of the scratch. The pairs' second buffers, which only the sort by tile writes, lie over what
 * it takes to make the pairs. */
template <class Key> struct bin_scratch {
    Key *keys[2];
    uint32_t *values; /* beside the result's own room */
    struct by_depth depth;
    char *cub;
    size_t cub_bytes, bytes;
};

static int bits_of(size_t n)
{
    int bits = 0;

    while (bits < 32 && (size_t)1 << bits < n)
        bits++;
    return bits;
}

/* Each pass of CUB's changes the buffer: where pairs must be made for the result to end up in the
 * caller's, at 8 bits a pass. Where CUB takes fewer, a copy may follow. */
static bool made_in_result(size_t n_tiles)
{
    return (bits_of(n_tiles) + 7) / 8 % 2 == 0;
}

/* Whether a Gaussian has pairs. */
struct is_seen {
    const uint32_t *offsets;

    __device__ bool operator()(uint32_t i) const
    {
        return offsets[i + 1] != offsets[i];
    }
};

__global__ static void __launch_bounds__(SEEP_BLOCK)
    key_depths(const struct seep_splat_print *prints, const uint32_t *order, size_t n,
               uint32_t *keys)
{
    size_t i = (size_t)blockIdx.x * SEEP_BLOCK + threadIdx.x;

    if (i < n)
        keys[i] = __float_as_uint(prints[order[i]].depth);
}

__global__ static void __launch_bounds__(SEEP_BLOCK)
    count_in_order(const uint32_t *offsets, const uint32_t *order, size_t n, uint32_t *counts)
{
    size_t i = (size_t)blockIdx.x * SEEP_BLOCK + threadIdx.x;

    if (i < n)
        counts[i] = offsets[order[i] + 1] - offsets[order[i]];
    else if (i == n)
        counts[i] = 0;
}

/* Every block of pairs has one Gaussian that its first pair belongs to. */
__global__ static void __launch_bounds__(SEEP_BLOCK)
    find_firsts(const uint32_t *starts, size_t n, uint32_t *firsts)
{
    size_t i = (size_t)blockIdx.x * SEEP_BLOCK + threadIdx.x;

    if (i >= n)
        return;
    for (uint64_t block = ((uint64_t)starts[i] + PAIRS_A_BLOCK - 1) / PAIRS_A_BLOCK;
         block * PAIRS_A_BLOCK < starts[i + 1]; block++)
        firsts[block] = (uint32_t)i;
}

struct larger_index {
    __device__ unsigned operator()(unsigned a, unsigned b) const
    {
        return max(a, b);
    }
};

/* The tile of the nth pair of a Gaussian whose ellipse reaches a part of its box. Were a row to
 * come out otherwise than when it was counted, it would still be one of the box's tiles. */
__device__ __forceinline__ unsigned reached_tile(const struct seep_splat_print *print, ushort4 box,
                                                 unsigned nth, const struct splat_view &view)
{
    const float4 *quarters = reinterpret_cast<const float4 *>(print);
    float4 shape = __ldg(quarters), look = __ldg(quarters + 1);
    const float mean[2] = {shape.x, shape.y}, roots[3] = {shape.z, shape.w, look.x};
    const struct splat_ellipse ellipse = splat_ellipse_of(mean, roots, look.y, &view.camera);
    const uint16_t tiles[4] = {box.x, box.y, box.z, box.w};
    unsigned row = box.y, first, end;

    for (;; row++) {
        splat_row_reached(&ellipse, tiles, row, &first, &end);
        if (nth < end - first || row + 1u == box.w)
            break;
        nth -= end - first;
    }
    return row * (unsigned)view.tiles_x + min(first + nth, box.z - 1u);
}

/* The tile of a Gaussian's nth pair of n. REACHED: the rule is that one. */
template <bool REACHED>
__device__ __forceinline__ unsigned tile_of_pair(const struct seep_splat_print *print, unsigned nth,
                                                 unsigned n, const struct splat_view &view)
{
    ushort4 box = splat_load_tiles(print->tiles);
    unsigned width = (unsigned)(box.z - box.x), row = nth / width;

    if (REACHED && n != width * (unsigned)(box.w - box.y))
        return reached_tile(print, box, nth, view);
    return (box.y + row) * (unsigned)view.tiles_x + box.x + (nth - row * width);
}

/* A block makes PAIRS_A_BLOCK pairs, however many Gaussians those are: near ones that cover the
 * picture cost no more than their pairs. Each Gaussian marks its first pair; a running maximum
 * tells every pair whose it is. */
template <class Key, bool REACHED>
__global__ static void __launch_bounds__(SEEP_BLOCK)
    make_pairs(const struct seep_splat_print *prints, const struct by_depth depth, size_t n,
               size_t n_pairs, const struct splat_view view, Key *keys, uint32_t *values)
{
    typedef cub::BlockScan<unsigned, SEEP_BLOCK> scan;
    __shared__ typename scan::TempStorage scan_room;
    __shared__ uint16_t owner[PAIRS_A_BLOCK];
    size_t begin = (size_t)blockIdx.x * PAIRS_A_BLOCK;
    size_t end = begin + PAIRS_A_BLOCK < n_pairs ? begin + PAIRS_A_BLOCK : n_pairs;
    size_t first = depth.firsts[blockIdx.x];
    unsigned own[PAIRS_A_THREAD], most = 0;

    for (unsigned k = threadIdx.x; k < PAIRS_A_BLOCK; k += SEEP_BLOCK)
        owner[k] = 0;
    __syncthreads();
    for (size_t i = first + 1 + threadIdx.x; i < n && depth.starts[i] < end; i += SEEP_BLOCK)
        owner[depth.starts[i] - begin] = (uint16_t)(i - first);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < PAIRS_A_THREAD; k++) {
        most = max(most, (unsigned)owner[threadIdx.x * PAIRS_A_THREAD + k]);
        own[k] = most;
    }
    unsigned before;
    scan(scan_room).ExclusiveScan(most, before, 0u, larger_index{});
#pragma unroll
    for (int k = 0; k < PAIRS_A_THREAD; k++)
        owner[threadIdx.x * PAIRS_A_THREAD + k] = (uint16_t)max(own[k], before);
    __syncthreads();
    for (size_t at = begin + threadIdx.x; at < end; at += SEEP_BLOCK) {
        size_t i = first + owner[at - begin];
        uint32_t gaussian = depth.order[0][i], start = depth.starts[i];
        keys[at] = (Key)tile_of_pair<REACHED>(prints + gaussian, (uint32_t)at - start,
                                              depth.starts[i + 1] - start, view);
        values[at] = gaussian;
    }
}

/* tile_start[tile]: how many pairs are of tiles before it. */
template <class Key>
__global__ static void __launch_bounds__(SEEP_BLOCK)
    find_tiles(const Key *keys, size_t n_pairs, size_t n_tiles, uint32_t *tile_start)
{
    size_t tile = (size_t)blockIdx.x * SEEP_BLOCK + threadIdx.x, low = 0, high = n_pairs;

    if (tile > n_tiles)
        return;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (keys[middle] < tile)
            low = middle + 1;
        else
            high = middle;
    }
    tile_start[tile] = (uint32_t)low;
}

static inline size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The Gaussians that are seen, in their order: n_seen of n. */
static cudaError_t list_seen(void *room, size_t *room_bytes,
                             const struct seep_splat_projected *projected, size_t n,
                             uint32_t *order, uint32_t *n_listed, cudaStream_t s)
{
    return cub::DeviceSelect::If(room, *room_bytes, thrust::counting_iterator<uint32_t>(0), order,
                                 n_listed, (int)n, is_seen{projected->offsets}, s);
}

/* CUB's own scratch for the four calls. */
template <class Key>
static cudaError_t cub_bytes_of(const struct seep_splat_projected *projected, size_t n,
                                int tile_bits, cudaStream_t s, size_t *bytes)
{
    cub::DoubleBuffer<uint32_t> none;
    cub::DoubleBuffer<Key> no_keys;
    uint32_t n_seen = (uint32_t)projected->n_seen, n_pairs = (uint32_t)projected->n_pairs;
    size_t seen = 0, depths = 0, sums = 0, pairs = 0;
    cudaError_t error = list_seen(nullptr, &seen, projected, n, nullptr, nullptr, s);

    if (error == cudaSuccess)
        error =
            cub::DeviceRadixSort::SortPairs(nullptr, depths, none, none, n_seen, 0, DEPTH_BITS, s);
    if (error == cudaSuccess)
        error = cub::DeviceScan::ExclusiveSum(nullptr, sums, static_cast<uint32_t *>(nullptr),
                                              static_cast<uint32_t *>(nullptr), n_seen + 1, s);
    if (error == cudaSuccess)
        error = cub::DeviceRadixSort::SortPairs(nullptr, pairs, no_keys, none, n_pairs, 0,
                                                tile_bits, s);
    *bytes = larger(larger(seen, depths), larger(sums, pairs));
    return error;
}

template <class Key>
static cudaError_t lay_out(const struct seep_splat_projected *projected, size_t n, size_t n_tiles,
                           void *base, cudaStream_t s, struct bin_scratch<Key> *out)
{
    struct splat_scratch parts = {static_cast<char *>(base), 0};
    size_t n_seen = projected->n_seen, n_pairs = projected->n_pairs;
    cudaError_t error = cub_bytes_of<Key>(projected, n, bits_of(n_tiles), s, &out->cub_bytes);
    bool in_result = made_in_result(n_tiles);

    out->cub = splat_take<char>(&parts, out->cub_bytes);
    out->keys[0] = splat_take<Key>(&parts, n_pairs);
    if (!in_result)
        out->values = splat_take<uint32_t>(&parts, n_pairs);
    struct splat_scratch makers = parts;
    out->keys[1] = splat_take<Key>(&parts, n_pairs);
    if (in_result)
        out->values = splat_take<uint32_t>(&parts, n_pairs);
    for (int k = 0; k < 2; k++)
        out->depth.order[k] = splat_take<uint32_t>(&makers, n_seen);
    out->depth.keys[0] = splat_take<uint32_t>(&makers, n_seen);
    out->depth.firsts = splat_take<uint32_t>(&makers, n_pairs / PAIRS_A_BLOCK + 1);
    /* Keys are done with when the sums begin, and have room for one more. */
    out->depth.keys[1] = out->depth.starts = splat_take<uint32_t>(&makers, n_seen + 1);
    out->bytes = larger(parts.used, makers.used);
    return error;
}

static cudaError_t sort_depths(const struct seep_splat_projected *projected, size_t n,
                               struct by_depth *depth, char *room, size_t room_bytes,
                               cudaStream_t s)
{
    cub::DoubleBuffer<uint32_t> keys(depth->keys[0], depth->keys[1]);
    cub::DoubleBuffer<uint32_t> order(depth->order[0], depth->order[1]);
    size_t bytes = room_bytes, n_seen = projected->n_seen;
    const struct seep_splat_print *prints = projected->prints;
    const uint32_t *offsets = projected->offsets, *starts = depth->starts;
    /* How many it lists is known; nobody needs `firsts` yet. */
    cudaError_t error = list_seen(room, &bytes, projected, n, order.Current(), depth->firsts, s);

    if (error == cudaSuccess)
        error = seep_launch(key_depths, n_seen, s, prints,
                            static_cast<const uint32_t *>(order.Current()), n_seen, keys.Current());
    bytes = room_bytes;
    if (error == cudaSuccess)
        error = cub::DeviceRadixSort::SortPairs(room, bytes, keys, order, (uint32_t)n_seen, 0,
                                                DEPTH_BITS, s);
    depth->order[0] = order.Current();
    if (error == cudaSuccess)
        error = seep_launch(count_in_order, n_seen + 1, s, offsets,
                            static_cast<const uint32_t *>(depth->order[0]), n_seen, depth->starts);
    bytes = room_bytes;
    if (error == cudaSuccess)
        error = cub::DeviceScan::ExclusiveSum(room, bytes, depth->starts, depth->starts,
                                              (uint32_t)(n_seen + 1), s);
    if (error == cudaSuccess)
        error = seep_launch(find_firsts, n_seen, s, starts, n_seen, depth->firsts);
    return error;
}

template <class Key>
static cudaError_t sort_pairs(const struct seep_splat_projected *projected,
                              const struct splat_view &view, size_t n_tiles,
                              struct seep_splat_bins *bins, const struct bin_scratch<Key> *room,
                              cudaStream_t s)
{
    size_t n_pairs = projected->n_pairs, bytes = room->cub_bytes;
    size_t blocks = (n_pairs + PAIRS_A_BLOCK - 1) / PAIRS_A_BLOCK;
    bool in_result = made_in_result(n_tiles);
    cub::DoubleBuffer<Key> keys(room->keys[0], room->keys[1]);
    cub::DoubleBuffer<uint32_t> values(in_result ? bins->gaussians : room->values,
                                       in_result ? room->values : bins->gaussians);
    cudaError_t error = seep_launch(
        projected->rule == SEEP_SPLAT_TILES_REACHED ? make_pairs<Key, true>
                                                    : make_pairs<Key, false>,
        blocks * SEEP_BLOCK, s, static_cast<const struct seep_splat_print *>(projected->prints),
        room->depth, projected->n_seen, n_pairs, view, keys.Current(), values.Current());

    if (error == cudaSuccess)
        error = cub::DeviceRadixSort::SortPairs(room->cub, bytes, keys, values, (uint32_t)n_pairs,
                                                0, bits_of(n_tiles), s);
    if (error == cudaSuccess && values.Current() != bins->gaussians)
        error = cudaMemcpyAsync(bins->gaussians, values.Current(), n_pairs * sizeof(uint32_t),
                                cudaMemcpyDeviceToDevice, s);
    if (error == cudaSuccess)
        error =
            seep_launch(find_tiles<Key>, n_tiles + 1, s, static_cast<const Key *>(keys.Current()),
                        n_pairs, n_tiles, bins->tile_start);
    return error;
}

template <class Key>
static int bin(const struct splat_view *view, size_t n,
               const struct seep_splat_projected *projected, struct seep_splat_bins *bins,
               void *scratch, size_t *scratch_bytes, cudaStream_t s)
{
    size_t n_tiles = (size_t)view->tiles_x * (size_t)view->tiles_y;
    struct bin_scratch<Key> room;
    cudaError_t error = lay_out(projected, n, n_tiles, scratch, s, &room);

    if (error != cudaSuccess)
        return seep_cuda_status(error);
    if (!scratch) {
        *scratch_bytes = room.bytes;
        return 0;
    }
    if (*scratch_bytes < room.bytes)
        return -SEEP_EINVAL;
    if (projected->n_pairs == 0)
        return seep_cuda_status(
            cudaMemsetAsync(bins->tile_start, 0, (n_tiles + 1) * sizeof(uint32_t), s));
    error = sort_depths(projected, n, &room.depth, room.cub, room.cub_bytes, s);
    if (error == cudaSuccess)
        error = sort_pairs(projected, *view, n_tiles, bins, &room, s);
    return seep_cuda_status(error);
}

int seep_splat_bin_cuda(const struct seep_splat_camera *camera, size_t n,
                        const struct seep_splat_projected *projected, struct seep_splat_bins *bins,
                        void *scratch, size_t *scratch_bytes, struct seep_stream *stream)
{
    struct splat_view view = splat_view_of(camera);
    const seep_cuda_turn s(stream);

    if ((size_t)view.tiles_x * (size_t)view.tiles_y <= 65536)
        return bin<uint16_t>(&view, n, projected, bins, scratch, scratch_bytes, s);
    return bin<uint32_t>(&view, n, projected, bins, scratch, scratch_bytes, s);
}
