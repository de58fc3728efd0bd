/* A block of CUDA threads on one thread of the CPU: each is a fibre, which runs until it waits. */
#ifndef SEEP_TESTS_CUDA_ON_CPU_BLOCK_H
#define SEEP_TESTS_CUDA_ON_CPU_BLOCK_H

#include <cstddef>
#include <cstdint>
#include <functional>

struct uint3 {
    unsigned x, y, z;
};

/* Of the fibre that runs. */
extern uint3 threadIdx, blockIdx, blockDim, gridDim;

/* Runs `thread` once for every thread of the block, in an order that `seed` chooses. threads: a
 * multiple of 32, at most 1024. Ends the program if threads wait that no other will wake. */
void run_block(unsigned threads, uint64_t seed, const std::function<void()> &thread);

/* Kernels may call what follows; they return when all threads of the warp or block have called it.
 */
enum meeting_kind {
    MEET_SYNCTHREADS = 1,
    MEET_COUNT,
    MEET_SYNCWARP,
    MEET_BALLOT,
    MEET_SHUFFLE,
    MEET_ADD,
    MEET_MAX
};

/* All lanes of the warp give 8 bytes and see what the others gave: [32], until the next meeting.
 *   votes  out, may be NULL: a bit for each lane that gave more than 0 */
const uint64_t *meet_warp(meeting_kind kind, unsigned mask, uint64_t mine,
                          unsigned *votes = nullptr);

/* How many threads of the block gave true. */
int meet_block(meeting_kind kind, bool mine);

static inline void __syncthreads()
{
    meet_block(MEET_SYNCTHREADS, false);
}

static inline int __syncthreads_count(int predicate)
{
    return meet_block(MEET_COUNT, predicate != 0);
}

static inline void __syncwarp(unsigned mask = ~0u)
{
    meet_warp(MEET_SYNCWARP, mask, 0);
}

static inline unsigned __ballot_sync(unsigned mask, int predicate)
{
    unsigned ballot;

    meet_warp(MEET_BALLOT, mask, predicate != 0, &ballot);
    return ballot;
}

static inline int __any_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}

static inline int __all_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, predicate) == ~0u;
}

template <class T> static inline T __shfl_xor_sync(unsigned mask, T mine, unsigned lanes)
{
    uint64_t bits = 0;
    T theirs;

    static_assert(sizeof mine <= sizeof bits, "more than a lane hands over");

    __builtin_memcpy(&bits, &mine, sizeof mine);
    const uint64_t *given = meet_warp(MEET_SHUFFLE, mask, bits);
    __builtin_memcpy(&theirs, &given[(threadIdx.x % 32) ^ lanes], sizeof theirs);
    return theirs;
}

static inline unsigned __reduce_add_sync(unsigned mask, unsigned mine)
{
    const uint64_t *given = meet_warp(MEET_ADD, mask, mine);
    unsigned sum = 0;

    for (unsigned lane = 0; lane < 32; lane++)
        sum += (unsigned)given[lane];
    return sum;
}

static inline unsigned __reduce_max_sync(unsigned mask, unsigned mine)
{
    const uint64_t *given = meet_warp(MEET_MAX, mask, mine);
    unsigned most = 0;

    for (unsigned lane = 0; lane < 32; lane++)
        most = given[lane] > most ? (unsigned)given[lane] : most;
    return most;
}

#endif
