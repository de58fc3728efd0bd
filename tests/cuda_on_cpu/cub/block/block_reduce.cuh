/* CUB's sums over a block. */
#ifndef SEEP_TESTS_CUB_BLOCK_REDUCE_CUH
#define SEEP_TESTS_CUB_BLOCK_REDUCE_CUH

#include <cuda_runtime.h>

namespace cub
{

template <class T, int THREADS> class BlockReduce
{
  public:
    struct TempStorage {
        T given[THREADS];
    };

    explicit BlockReduce(TempStorage &room_) : room(room_)
    {
    }

    /* The result is thread 0's alone: others get rubbish, as they may on a GPU. */
    template <class Op> T Reduce(T mine, Op op)
    {
        T sum;

        room.given[threadIdx.x] = mine;
        __syncthreads();
        memset(&sum, 0xff, sizeof sum);
        if (threadIdx.x == 0) {
            sum = room.given[0];
            for (int k = 1; k < THREADS; k++)
                sum = op(sum, room.given[k]);
        }
        return sum;
    }

  private:
    TempStorage &room;
};

} // namespace cub

#endif
