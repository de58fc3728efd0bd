"""Asks PyTorch's allocator for the blocks of tests/torch/test_torch_allocator.c, and says what it had reserved: a line of
JSON. requests.py SEED [SNAPSHOT]; settings by PYTORCH_CUDA_ALLOC_CONF, the device's size by STANDIN_CAPACITY."""
import json
import sys

import torch

MIB = 1 << 20
SLOTS, ROUNDS = 48, 4000


def numbers(seed):
    """What the test's next_number() gives."""
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        yield state >> 33


def size(n, kind):
    return 1 + n % MIB if kind < 5 else MIB + n % (9 * MIB) if kind < 8 else 10 * MIB + n % (30 * MIB)


def main():
    number, slots, refused = numbers(int(sys.argv[1])), [None] * SLOTS, 0
    free, _ = torch.cuda.mem_get_info()
    if len(sys.argv) > 2:
        torch.cuda.memory._record_memory_history()
    for i in range(ROUNDS):
        slot, kind, n = next(number) % SLOTS, next(number) % 10, next(number)
        if i == ROUNDS // 2:
            torch.cuda.empty_cache()
        if slots[slot] is not None:
            slots[slot] = None
            continue
        try:
            slots[slot] = torch.empty(size(n, kind), dtype=torch.uint8, device="cuda")
        except torch.cuda.OutOfMemoryError:
            refused += 1
    stats = torch.cuda.memory_stats()
    if len(sys.argv) > 2:
        torch.cuda.memory._dump_snapshot(sys.argv[2])
    print(json.dumps({"free": free, "peak": stats["reserved_bytes.all.peak"], "reserved": stats["reserved_bytes.all.current"],
                      "refused": refused}))


main()
