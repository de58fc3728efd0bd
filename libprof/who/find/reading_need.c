#include "libprof/who/find/reading_need.h"

/* Measured (tests/e2e/test_reader_memory.py): up to 120 bytes a node, and 8 MiB without any. */
enum {
    BYTES_A_NODE = 136,
    FIXED_BYTES = 12 << 20,
};

uint64_t seep_reading_need(uint64_t n_nodes, uint64_t kept_bytes)
{
    const uint64_t most = UINT64_C(1) << 46; /* no machine has more, and no sum overflows */

    if (n_nodes > most / BYTES_A_NODE || kept_bytes > most)
        return most;
    return FIXED_BYTES + n_nodes * BYTES_A_NODE + kept_bytes;
}
