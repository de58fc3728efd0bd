/* CUB's running sum over an array. As everywhere in CUB, with no room given it tells how much it
 * wants; what is given is overwritten, so that nobody else's data may lie there. */
#ifndef SEEP_TESTS_CUB_DEVICE_SCAN_CUH
#define SEEP_TESTS_CUB_DEVICE_SCAN_CUH

#include <cuda_runtime.h>

namespace cub
{

struct DeviceScan {
    template <class T>
    static cudaError_t ExclusiveSum(void *room, size_t &room_bytes, const T *in, T *out, unsigned n,
                                    cudaStream_t stream = nullptr)
    {
        size_t wanted = 768 + n / 256 * sizeof(T);

        if (!room) {
            room_bytes = wanted;
            return cudaSuccess;
        }
        if (room_bytes < wanted)
            return cudaErrorInvalidValue;
        cudaError_t error = cudaMemsetAsync(room, 0xff, wanted, stream);
        const cudaLaunchConfig_t one_warp = {dim3(1), dim3(32), 0, stream, nullptr, 0};
        return error != cudaSuccess ? error : cuda_on_cpu_launch(one_warp, [=] {
            T sum = 0;
            for (unsigned i = 0; threadIdx.x == 0 && i < n; i++) {
                T mine = in[i];
                out[i] = sum;
                sum = (T)(sum + mine);
            }
        });
    }
};

} // namespace cub

#endif
