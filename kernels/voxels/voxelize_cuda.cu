// Voxels on a GPU. Points are put into a hash table in which each slot is the index of one point
// of the voxel, lowered until it is the first: 4 bytes a slot, 8 MB for 10^6 points, which stays in
// L2. A sort by coordinates would take 8 passes over 12 bytes per point, and 64-bit keys would not
// even hold all batches and coordinates. With the table only a short sort by voxel number is left:
// 3 passes over 8 bytes for 10^6 points. It is stable, so the order within a voxel is the points',
// on every GPU and in every run.
#include "kernels/compute/cuda_launch.cuh"
#include "kernels/voxels/voxel_keys.h"
#include "kernels/voxels/voxelize_twins.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda_runtime.h>

namespace
{

constexpr uint32_t none = 0xffffffffu;

__device__ inline size_t thread_index()
{
    return static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// ---- quantise -------------------------------------------------------------------------------

// batch, x, y, z; the batch is −1 if the point is refused. NaN is out of range.
__device__ int4 cell_of(const float (*points)[3], const int32_t *batch, size_t i, float size)
{
    constexpr float reach = SEEP_VOXEL_REACH;
    const float x = floorf(__fdiv_rn(points[i][0], size));
    const float y = floorf(__fdiv_rn(points[i][1], size));
    const float z = floorf(__fdiv_rn(points[i][2], size));
    const int32_t b = batch ? batch[i] : 0;
    const bool good =
        b >= 0 && x >= -reach && x < reach && y >= -reach && y < reach && z >= -reach && z < reach;

    return good ? make_int4(b, static_cast<int>(x), static_cast<int>(y), static_cast<int>(z))
                : make_int4(-1, 0, 0, 0);
}

__global__ void count_refused(const float (*points)[3], const int32_t *batch, size_t n, float size,
                              unsigned *n_refused)
{
    const size_t i = thread_index();
    const int refused = i < n && cell_of(points, batch, i, size).x < 0;
    const int in_block = __syncthreads_count(refused);

    if (threadIdx.x == 0 && in_block)
        atomicAdd(n_refused, static_cast<unsigned>(in_block));
}

__global__ void quantize(const float (*points)[3], const int32_t *batch, size_t n, float size,
                         int4 *coords)
{
    const size_t i = thread_index();

    if (i < n)
        coords[i] = cell_of(points, batch, i, size);
}

// ---- grouping -------------------------------------------------------------------------------

// Random, drawn once per process: so nobody can write a file whose voxels all have the same hash,
// which would take quadratic time.
struct hash_factors {
    uint64_t batch, x, y, z, last;
};

struct hash_factors draw_factors()
{
    struct seep_chance chance = seep_voxel_chance();
    uint64_t drawn[5];

    for (uint64_t &factor : drawn)
        factor = seep_chance_next(&chance) | 1;
    return {drawn[0], drawn[1], drawn[2], drawn[3], drawn[4]};
}

__device__ uint32_t hash_of(int4 c, const struct hash_factors &by)
{
    uint64_t h = static_cast<uint32_t>(c.x) * by.batch + static_cast<uint32_t>(c.y) * by.x +
                 static_cast<uint32_t>(c.z) * by.y + static_cast<uint32_t>(c.w) * by.z;

    h ^= h >> 32;
    h *= by.last;
    return static_cast<uint32_t>(h >> 32);
}

__device__ bool same(int4 a, int4 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
}

// slots[i]: the slot of point i's voxel in the table, none for a refused point. A slot that is
// taken belongs to its voxel for good, whichever of the voxel's points it names: so comparing with
// an old value is correct. n_slots is at least twice the number of points, so there is always an
// empty one.
__global__ void insert(const int4 *coords, uint32_t n, const struct hash_factors by,
                       uint32_t *table, uint32_t n_slots, uint32_t *slots)
{
    const size_t index = thread_index();

    if (index >= n)
        return;
    const uint32_t i = static_cast<uint32_t>(index);
    const int4 c = coords[i];
    if (c.x < 0) {
        slots[i] = none;
        return;
    }
    uint32_t slot = __umulhi(hash_of(c, by), n_slots);
    for (;;) {
        uint32_t owner = __ldcg(table + slot);
        if (owner == none)
            owner = atomicCAS(table + slot, none, i);
        if (owner == none)
            break;
        if (same(coords[owner], c)) {
            if (i < owner)
                atomicMin(table + slot, i);
            break;
        }
        slot = slot + 1 == n_slots ? 0 : slot + 1;
    }
    slots[i] = slot;
}

// Turns slots into first points of voxels. is_first[0 … n], the last of which is 0, is for the
// running sum.
__global__ void find_firsts(const uint32_t *table, uint32_t n, uint32_t *slots, uint32_t *is_first)
{
    const size_t i = thread_index();

    if (i > n)
        return;
    const uint32_t slot = i < n ? slots[i] : none;
    const uint32_t first = slot == none ? none : table[slot];
    if (i < n)
        slots[i] = first;
    is_first[i] = first == i;
}

struct grouping {
    uint32_t *table, *firsts; // [n_slots], [n]
    uint32_t *numbers;        // [n + 1]: voxels that begin before a point; [n]: all voxels
    uint32_t *sorted;         // [n] voxels, by voxel; only if points are sorted
    void *cub_room;
    uint32_t n_slots;
    size_t cub_bytes;
    int n_bits; // of voxel numbers: enough for n, and all ones exceed every number
};

void *take(void *base, size_t *at, size_t bytes)
{
    void *part = base ? static_cast<char *>(base) + *at : nullptr;

    *at += (bytes + 255) / 256 * 256;
    return part;
}

// The bytes that CUB needs for the calls below.
cudaError_t room_of(size_t n, bool sorts, int n_bits, size_t *bytes)
{
    const uint32_t *const in = nullptr;
    uint32_t *const out = nullptr;
    const int items = static_cast<int>(n);
    size_t scan_bytes = 0, sort_bytes = 0;
    cudaError_t error = cub::DeviceScan::ExclusiveSum(nullptr, scan_bytes, out, out, items + 1);

    if (error == cudaSuccess && sorts)
        error = cub::DeviceRadixSort::SortPairs(nullptr, sort_bytes, in, out, in, out, items, 0,
                                                n_bits);
    *bytes = scan_bytes > sort_bytes ? scan_bytes : sort_bytes;
    return error;
}

// Sets *at to the total of bytes; with scratch == NULL the pointers are meaningless. `sorts`:
// points will also be sorted by voxel.
cudaError_t lay_out(size_t n, bool sorts, void *scratch, size_t *at, struct grouping *g)
{
    *at = 0;
    g->n_bits = 0;
    while (n >> g->n_bits)
        g->n_bits++;
    g->n_slots = static_cast<uint32_t>(2 * n);
    cudaError_t error = room_of(n, sorts, g->n_bits, &g->cub_bytes);
    g->table = static_cast<uint32_t *>(take(scratch, at, sizeof(uint32_t) * g->n_slots));
    g->firsts = static_cast<uint32_t *>(take(scratch, at, sizeof(uint32_t) * n));
    g->numbers = static_cast<uint32_t *>(take(scratch, at, sizeof(uint32_t) * (n + 1)));
    g->sorted = static_cast<uint32_t *>(take(scratch, at, sorts ? sizeof(uint32_t) * n : 0));
    g->cub_room = take(scratch, at, g->cub_bytes);
    return error;
}

// Fills firsts and numbers.
cudaError_t group(const int4 *coords, size_t n, struct grouping *g, cudaStream_t stream)
{
    const uint32_t n_points = static_cast<uint32_t>(n);
    cudaError_t error = cudaMemsetAsync(g->table, 0xff, sizeof(uint32_t) * g->n_slots, stream);

    if (error != cudaSuccess)
        return error;
    error = seep_launch(insert, n, stream, coords, n_points, draw_factors(), g->table, g->n_slots,
                        g->firsts);
    if (error == cudaSuccess)
        error = seep_launch(find_firsts, n + 1, stream, g->table, n_points, g->firsts, g->numbers);
    if (error != cudaSuccess)
        return error;
    return cub::DeviceScan::ExclusiveSum(g->cub_room, g->cub_bytes, g->numbers, g->numbers,
                                         static_cast<int>(n) + 1, stream);
}

// The number of voxels, once all work is done.
int finish(const struct grouping *g, size_t n, size_t *n_voxels, cudaStream_t stream)
{
    uint32_t count = 0;
    cudaError_t error =
        cudaMemcpyAsync(&count, g->numbers + n, sizeof count, cudaMemcpyDeviceToHost, stream);
    const cudaError_t waited = cudaStreamSynchronize(stream);

    if (error == cudaSuccess)
        error = waited;
    *n_voxels = error == cudaSuccess ? count : 0;
    return seep_cuda_status(error);
}

// ---- maps -----------------------------------------------------------------------------------

// Writes numbers of voxels; firsts become 0 … n − 1, the values of the sort.
__global__ void number(const int4 *coords, uint32_t n, const uint32_t *numbers, uint32_t *firsts,
                       int32_t *point_to_voxel, int4 *voxel_coords)
{
    const size_t i = thread_index();

    if (i >= n)
        return;
    const uint32_t first = firsts[i];
    const uint32_t voxel = first == none ? none : numbers[first];
    point_to_voxel[i] = static_cast<int32_t>(voxel);
    if (first == i)
        voxel_coords[voxel] = coords[i];
    firsts[i] = static_cast<uint32_t>(i);
}

// Finds where each voxel begins; refused points come last.
__global__ void find_starts(const uint32_t *sorted, uint32_t n, const uint32_t *n_voxels,
                            int32_t *voxel_start)
{
    const size_t j = thread_index();

    if (j >= n)
        return;
    const uint32_t voxel = sorted[j];
    if (j == 0 || sorted[j - 1] != voxel)
        voxel_start[voxel == none ? *n_voxels : voxel] = static_cast<int32_t>(j);
    if (j + 1 == n && voxel != none)
        voxel_start[voxel + 1] = static_cast<int32_t>(n);
}

// ---- one point per voxel --------------------------------------------------------------------

__global__ void pick(const int32_t *labels, uint32_t n, const uint32_t *numbers,
                     const uint32_t *firsts, int32_t *first_points, int32_t *voxel_labels,
                     int32_t *inverse)
{
    const size_t i = thread_index();

    if (i >= n)
        return;
    const uint32_t first = firsts[i];
    const uint32_t voxel = first == none ? none : numbers[first];
    if (inverse)
        inverse[i] = static_cast<int32_t>(voxel);
    if (first != i)
        return;
    first_points[voxel] = static_cast<int32_t>(i);
    if (labels)
        voxel_labels[voxel] = labels[i];
}

// Threads that write to the same voxel write the same value; plain stores would still be a race.
__global__ void ignore_disagreement(const int32_t *labels, uint32_t n, const uint32_t *numbers,
                                    const uint32_t *firsts, int32_t ignore_label,
                                    int32_t *voxel_labels)
{
    const size_t i = thread_index();

    if (i < n && firsts[i] != none && labels[i] != labels[firsts[i]])
        atomicExch(voxel_labels + numbers[firsts[i]], ignore_label);
}

} // namespace

// The count is in the last row of coords until rows are written, so it needs no memory of its own.
int seep_quantize_cuda(const float (*points)[3], const int32_t *batch, size_t n_points, float size,
                       int32_t (*coords)[4], size_t *n_refused, struct seep_stream *stream)
{
    const seep_cuda_turn s(stream);
    unsigned *counter = reinterpret_cast<unsigned *>(coords[n_points - 1]), count = 0;

    cudaError_t error = cudaMemsetAsync(counter, 0, sizeof *counter, s);
    if (error == cudaSuccess)
        error = seep_launch(count_refused, n_points, s, points, batch, n_points, size, counter);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(&count, counter, sizeof count, cudaMemcpyDeviceToHost, s);
    if (error == cudaSuccess)
        error = seep_launch(quantize, n_points, s, points, batch, n_points, size,
                            reinterpret_cast<int4 *>(coords));
    const cudaError_t waited = cudaStreamSynchronize(s);
    *n_refused = count;
    return seep_cuda_status(error == cudaSuccess ? waited : error);
}

int seep_voxelize_scratch_cuda(size_t n_points, size_t *bytes, struct seep_stream *stream)
{
    const seep_cuda_turn s(stream);
    struct grouping g;

    return seep_cuda_status(lay_out(n_points, true, nullptr, bytes, &g));
}

int seep_voxelize_cuda(const int32_t (*coords)[4], size_t n_points, struct seep_voxel_maps *maps,
                       void *scratch, size_t scratch_bytes, struct seep_stream *stream)
{
    const int4 *rows = reinterpret_cast<const int4 *>(coords);
    const uint32_t n = static_cast<uint32_t>(n_points);
    const seep_cuda_turn s(stream);
    struct grouping g;

    maps->n_voxels = 0;
    cudaError_t error = lay_out(n_points, true, scratch, &scratch_bytes, &g);
    if (error == cudaSuccess)
        error = group(rows, n_points, &g, s);
    if (error == cudaSuccess)
        error = seep_launch(number, n, s, rows, n, g.numbers, g.firsts, maps->point_to_voxel,
                            reinterpret_cast<int4 *>(maps->voxel_coords));
    if (error == cudaSuccess)
        error = cub::DeviceRadixSort::SortPairs(
            g.cub_room, g.cub_bytes, reinterpret_cast<const uint32_t *>(maps->point_to_voxel),
            g.sorted, static_cast<const uint32_t *>(g.firsts),
            reinterpret_cast<uint32_t *>(maps->voxel_points), static_cast<int>(n), 0, g.n_bits, s);
    if (error == cudaSuccess)
        error = seep_launch(find_starts, n, s, g.sorted, n, g.numbers + n, maps->voxel_start);
    if (error != cudaSuccess)
        return seep_cuda_status(error);
    return finish(&g, n_points, &maps->n_voxels, s);
}

int seep_sparse_quantize_scratch_cuda(size_t n_points, size_t *bytes, struct seep_stream *stream)
{
    const seep_cuda_turn s(stream);
    struct grouping g;

    return seep_cuda_status(lay_out(n_points, false, nullptr, bytes, &g));
}

int seep_sparse_quantize_cuda(const int32_t (*coords)[4], const int32_t *labels, size_t n_points,
                              int32_t ignore_label, int32_t *first, int32_t *voxel_labels,
                              int32_t *inverse, size_t *n_voxels, void *scratch,
                              size_t scratch_bytes, struct seep_stream *stream)
{
    const uint32_t n = static_cast<uint32_t>(n_points);
    const seep_cuda_turn s(stream);
    struct grouping g;

    cudaError_t error = lay_out(n_points, false, scratch, &scratch_bytes, &g);
    if (error == cudaSuccess)
        error = group(reinterpret_cast<const int4 *>(coords), n_points, &g, s);
    if (error == cudaSuccess)
        error =
            seep_launch(pick, n, s, labels, n, g.numbers, g.firsts, first, voxel_labels, inverse);
    if (error == cudaSuccess && labels)
        error = seep_launch(ignore_disagreement, n, s, labels, n, g.numbers, g.firsts, ignore_label,
                            voxel_labels);
    if (error != cudaSuccess)
        return seep_cuda_status(error);
    return finish(&g, n_points, n_voxels, s);
}
