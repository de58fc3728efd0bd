"""A training whose memory is known, as any PyTorch from 1.13 on runs it: snapshot_job.py FILE ENTRIES. It writes PyTorch's
memory snapshot, whose history has at most so many entries of each device, to FILE.pickle and what PyTorch's own books say
at that moment to FILE.json. Both devices are used, and all that a
version knows: private pools, a stream that a block waits for, a request without room, marks, annotations, pinned memory."""
import inspect
import json
import pickle
import sys

import own_runtime
import torch
from torch import nn

STEPS = 30
KEPT = 1000003  # bytes a step
HALF = STEPS // 2
NAMES = ("compile_context", "global_record_annotations", "record_pinned_host_memory")  # of what a version may record, too
memory = torch.cuda.memory
kept, blocks = [], []


def record(entries):
    """The way to ask has changed twice. The first two ways are of the current device."""
    modern = getattr(memory, "_record_memory_history_impl", None)
    known = inspect.signature(modern or memory._record_memory_history).parameters
    if modern:
        more = {name: True for name in NAMES if name in known}
        memory._record_memory_history(stacks="python", max_entries=entries, **more)
        return
    more = {"trace_alloc_max_entries": entries, "trace_alloc_record_context": True}
    for device in range(2):
        with torch.cuda.device(device):
            memory._record_memory_history(True, **{name: value for name, value in more.items() if name in known})


def block(size, device="cuda:0"):
    return torch.empty(size, dtype=torch.uint8, device=device)


def remember():
    kept.append(torch.empty(KEPT, dtype=torch.uint8, device="cuda:0"))  # the leak


def step(model, optimizer, number):
    if hasattr(memory, "_set_memory_metadata"):
        memory._set_memory_metadata("step %d" % number)
    with torch.autograd.profiler.record_function("a step"):
        batch = torch.randn(64, 256).pin_memory().to("cuda:0", non_blocking=True)
        model(batch).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        remember()


def train():
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)).to("cuda:0")
    optimizer = torch.optim.Adam(model.parameters())
    for number in range(STEPS):
        step(model, optimizer, number)
        if number == HALF:
            memory._snapshot()  # is an event itself
    return model, optimizer


def use_pools():
    if hasattr(torch.cuda, "use_mem_pool"):
        pool = torch.cuda.MemPool()
        try:
            with torch.cuda.use_mem_pool(pool):
                blocks.append(block(5000000))
        except RuntimeError as error:  # of 2.7
            assert "doesn't currently support expandable_segments" in str(error), error
        blocks.append(pool)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        blocks.append(block(2500001))
    blocks.append(graph)


def run_out_of_memory():
    """The stand-in's devices are small. Afterwards some is given back, and some segments go."""
    many = []
    try:
        while True:
            many.append(block((50 << 20) + 7))
    except RuntimeError as error:  # OutOfMemoryError is one, and is younger
        assert "out of memory" in str(error), error
    del many[::2]
    torch.cuda.empty_cache()
    blocks.extend(many)


def main(name, entries):
    own_runtime.replace()
    torch.cuda.init()
    torch.backends.cudnn.enabled = False
    record(entries)
    held = train()
    blocks.append(block(777, "cuda:1"))
    use_pools()
    run_out_of_memory()
    if hasattr(memory, "_annotate_tensor"):
        memory._annotate_tensor(kept[0], "the first")
    pinned = torch.zeros(3000).pin_memory()
    waited_for = block(3000001)
    waited_for.record_stream(torch.cuda.Stream())
    del waited_for  # its end is noticed with the next request
    snapshot = memory._snapshot()
    host = getattr(torch.cuda, "host_memory_stats", dict)()
    with open(name + ".json", "w") as f:
        json.dump({"steps": STEPS, "kept": KEPT, "devices": [memory.memory_stats(d) for d in range(2)], "host": host}, f)
    with open(name + ".pickle", "wb") as f:
        pickle.dump(snapshot, f)
    return held, pinned


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
