/* What CUB's calls for a whole device have in common here: their room, and one thread that works.
 */
#ifndef SEEP_TESTS_CUB_ONE_THREAD_CUH
#define SEEP_TESTS_CUB_ONE_THREAD_CUH

#include <cuda_runtime.h>

namespace cub
{

/* Whether the call is over, with *error, before it has done any work. As everywhere in CUB, with no
 * room given it tells how much it wants; what is given is overwritten, so that nobody else's data
 * may lie there. */
static inline bool is_over(void *room, size_t &room_bytes, size_t wanted, cudaStream_t stream,
                           cudaError_t *error)
{
    *error = cudaSuccess;
    if (!room)
        room_bytes = wanted;
    else if (room_bytes < wanted)
        *error = cudaErrorInvalidValue;
    else
        *error = cudaMemsetAsync(room, 0xff, wanted, stream);
    return !room || *error != cudaSuccess;
}

template <class Work> static cudaError_t on_one_thread(cudaStream_t stream, Work work)
{
    const cudaLaunchConfig_t one_warp = {dim3(1), dim3(32), 0, stream, nullptr, 0};

    return cuda_on_cpu_launch(one_warp, [=] {
        if (threadIdx.x == 0)
            work();
    });
}

} // namespace cub

#endif
