/* CUB's running sums over a block, one after the other. */
#ifndef SEEP_TESTS_CUB_BLOCK_SCAN_CUH
#define SEEP_TESTS_CUB_BLOCK_SCAN_CUH

#include <cuda_runtime.h>

namespace cub
{

template <class T, int THREADS> class BlockScan
{
  public:
    struct TempStorage {
        T given[THREADS];
    };

    explicit BlockScan(TempStorage &room_) : room(room_)
    {
    }

    template <class Op> void ExclusiveScan(T mine, T &out, T first, Op op)
    {
        room.given[threadIdx.x] = mine;
        __syncthreads();
        out = first;
        for (unsigned k = 0; k < threadIdx.x; k++)
            out = op(out, room.given[k]);
    }

  private:
    TempStorage &room;
};

} // namespace cub

#endif
