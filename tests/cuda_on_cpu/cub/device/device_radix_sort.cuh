/* CUB's stable sort of pairs by some bits of their keys. */
#ifndef SEEP_TESTS_CUB_DEVICE_RADIX_SORT_CUH
#define SEEP_TESTS_CUB_DEVICE_RADIX_SORT_CUH

#include <cub/one_thread.cuh>

#include <numeric>
#include <vector>

namespace cub
{

template <class T> struct DoubleBuffer {
    T *d_buffers[2];
    int selector;

    DoubleBuffer() : d_buffers{nullptr, nullptr}, selector(0)
    {
    }
    DoubleBuffer(T *current, T *alternate) : d_buffers{current, alternate}, selector(0)
    {
    }
    T *Current() const
    {
        return d_buffers[selector];
    }
    T *Alternate() const
    {
        return d_buffers[selector ^ 1];
    }
};

class DeviceRadixSort
{
    enum { BITS_A_PASS = 8, ONE_TILE = 1024 };

  public:
    template <class Key, class Value>
    static cudaError_t SortPairs(void *room, size_t &room_bytes, const Key *keys, Key *keys_out,
                                 const Value *values, Value *values_out, unsigned n, int begin_bit,
                                 int end_bit, cudaStream_t stream = nullptr)
    {
        cudaError_t error;

        /* Besides its counts it keeps a copy of the pairs. */
        if (is_over(room, room_bytes, 1024 + (size_t)n * (sizeof(Key) + sizeof(Value)), stream,
                    &error))
            return error;
        cuda_on_cpu_count_sorted(n);
        return on_one_thread(
            stream, [=] { sort(keys, keys_out, values, values_out, n, begin_bit, end_bit); });
    }

    /* Either buffer may end up as the current one: a single pass for few pairs, one for each 8 bits
     * else. What is then the other is rubbish. */
    template <class Key, class Value>
    static cudaError_t SortPairs(void *room, size_t &room_bytes, DoubleBuffer<Key> &keys,
                                 DoubleBuffer<Value> &values, unsigned n, int begin_bit,
                                 int end_bit, cudaStream_t stream = nullptr)
    {
        int passes = n <= ONE_TILE ? 1 : (end_bit - begin_bit + BITS_A_PASS - 1) / BITS_A_PASS;
        cudaError_t error;

        if (is_over(room, room_bytes, 1024, stream, &error))
            return error;
        cuda_on_cpu_count_sorted(n);
        for (int pass = 0; error == cudaSuccess && pass < passes; pass++) {
            const Key *from = keys.Current();
            const Value *from_values = values.Current();
            Key *to = keys.Alternate();
            Value *to_values = values.Alternate();
            int begin = begin_bit + pass * BITS_A_PASS, end = begin + BITS_A_PASS;
            if (passes == 1 || end > end_bit)
                end = end_bit;
            error = on_one_thread(stream,
                                  [=] { sort(from, to, from_values, to_values, n, begin, end); });
            keys.selector ^= 1;
            values.selector ^= 1;
        }
        return error;
    }

  private:
    template <class Key, class Value>
    static void sort(const Key *keys, Key *keys_out, const Value *values, Value *values_out,
                     unsigned n, int begin_bit, int end_bit)
    {
        std::vector<unsigned> order(n);
        const uint64_t mask = ((uint64_t)1 << end_bit) - ((uint64_t)1 << begin_bit);

        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(), [=](unsigned a, unsigned b) {
            return (keys[a] & mask) < (keys[b] & mask);
        });
        for (unsigned i = 0; i < n; i++) {
            keys_out[i] = keys[order[i]];
            values_out[i] = values[order[i]];
        }
    }
};

} // namespace cub

#endif
