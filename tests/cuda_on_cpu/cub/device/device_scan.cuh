/* CUB's running sum over an array. */
#ifndef SEEP_TESTS_CUB_DEVICE_SCAN_CUH
#define SEEP_TESTS_CUB_DEVICE_SCAN_CUH

#include <cub/one_thread.cuh>

namespace cub
{

struct DeviceScan {
    template <class T>
    static cudaError_t ExclusiveSum(void *room, size_t &room_bytes, const T *in, T *out, unsigned n,
                                    cudaStream_t stream = nullptr)
    {
        cudaError_t error;

        if (is_over(room, room_bytes, 768 + n / 256 * sizeof(T), stream, &error))
            return error;
        return on_one_thread(stream, [=] {
            T sum = 0;
            for (unsigned i = 0; i < n; i++) {
                T mine = in[i];
                out[i] = sum;
                sum = (T)(sum + mine);
            }
        });
    }
};

} // namespace cub

#endif
