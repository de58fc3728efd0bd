/* CUB's list of the items that a condition holds for, in their order. */
#ifndef SEEP_TESTS_CUB_DEVICE_SELECT_CUH
#define SEEP_TESTS_CUB_DEVICE_SELECT_CUH

#include <cub/one_thread.cuh>

namespace cub
{

struct DeviceSelect {
    template <class In, class Out, class Count, class Condition>
    static cudaError_t If(void *room, size_t &room_bytes, In in, Out *out, Count *n_listed, int n,
                          Condition condition, cudaStream_t stream = nullptr)
    {
        cudaError_t error;

        if (is_over(room, room_bytes, 512 + (size_t)n / 256 * 16, stream, &error))
            return error;
        return on_one_thread(stream, [=] {
            Count listed = 0;
            for (unsigned i = 0; i < (unsigned)n; i++)
                if (condition(in[i]))
                    out[listed++] = in[i];
            *n_listed = listed;
        });
    }
};

} // namespace cub

#endif
