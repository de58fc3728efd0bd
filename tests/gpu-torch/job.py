"""What PyTorch does on up to two devices, case by case: job.py CASE. At the end of each step PyTorch's own totals, and
those of the stand-in where the devices are its, are a line of its output, and it goes on once somebody has compared
them and answers."""
import ctypes
import json
import os
import random
import sys
import threading
import time

import seep
import torch
from torch import nn

STEPS = 12
DEVICES = tuple(range(min(2, torch.cuda.device_count())))
TAKEN = (0, 1, 2, 3, 6)  # of the stand-in's kinds: what takes memory of a device; 6 is what is mapped
PINNED = 8

driver = ctypes.CDLL("libcuda.so.1")
is_standin = hasattr(driver, "standin_live")
if is_standin:
    driver.standin_live.restype = ctypes.c_uint64


other_threads = None  # how many make blocks beside this one, where PyTorch writes a history


def remember(others, **how):
    """From here on, which is before the first block."""
    global other_threads
    torch.cuda.init()
    torch.cuda.memory._record_memory_history(**how)
    other_threads = others


def remembered():
    """What happened to blocks and segments, in that order, and what is live now (tests/gpu-torch/history.py)."""
    said = torch.cuda.memory._snapshot()
    blocks = [[] for _ in DEVICES]
    for segment in said["segments"]:
        blocks[segment["device"]] += [(block["address"], block["size"]) for block in segment["blocks"]
                                      if block["state"] == "active_allocated"]
    return {"history": [[(e["action"], e["addr"], e["size"]) for e in said["device_traces"][d]] for d in DEVICES],
            "blocks": blocks, "peak": [torch.cuda.max_memory_allocated(d) for d in DEVICES],
            "other_threads": other_threads, "reports": os.environ.get("REPORTS")}


shortages_told = []  # of each request that failed: what was asked for, where all else lay


def on_shortage(device, asked, capacity, free):
    """PyTorch calls this as it gives up."""
    segments = [s for s in torch.cuda.memory._snapshot()["segments"] if s["device"] == device]
    shortages_told.append({
        "asked": asked, "segments": [[s["address"], s["total_size"]] for s in segments],
        "blocks": [[b["address"], b["size"]] for s in segments for b in s["blocks"] if b["state"] == "active_allocated"]})


def end_step(reported=True):
    """PyTorch has totals only where its own allocator is asked."""
    def totals(of):
        return [of(d) if reported else 0 for d in DEVICES]

    row = {"allocated": totals(torch.cuda.memory_allocated), "reserved": totals(torch.cuda.memory_reserved)}
    if is_standin:
        row["driver"] = [sum(driver.standin_live(kind, d) for kind in TAKEN) for d in DEVICES]
        row["pinned"] = driver.standin_live(PINNED, -1)
    if other_threads is not None:
        row.update(remembered())
    if shortages_told:
        row["shortage"] = shortages_told[-1]
    seep.step()
    print(json.dumps(row), flush=True)
    sys.stdin.readline()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(4))
        self.back = nn.Sequential(nn.Flatten(), nn.Linear(128, 64), nn.GELU(), nn.Linear(64, 10))

    def forward(self, x):
        return self.back(self.front(x))


def train(batches, losses=None, before_end=lambda: None):
    """On both devices; sizes differ from step to step."""
    models = [Model().to("cuda:%d" % d) for d in DEVICES]
    optimizers = [torch.optim.Adam(m.parameters()) for m in models]
    for batch in batches:
        for d, model in enumerate(models):
            optimizers[d].zero_grad()
            loss = model(batch.to("cuda:%d" % d, non_blocking=True)).square().mean()
            loss.backward()
            optimizers[d].step()
            if losses is not None:
                losses.append(loss)
        before_end()
        end_step()


def made(n=STEPS):
    for i in range(n):
        yield torch.randn(1 + i * 7 % 5, 3, 16 + i % 3 * 16, 32)


def plain():
    train(made())


def kept_losses():
    train(made(), losses=[])


class Pictures(torch.utils.data.Dataset):
    def __len__(self):
        return 4 * STEPS

    def __getitem__(self, i):
        return torch.randn(3, 16, 32)


def pinned():
    """What a step is compared with must not change meanwhile: each step ends when the loader's thread has pinned all
    batches that are on their way."""
    batches = iter(torch.utils.data.DataLoader(Pictures(), batch_size=4, num_workers=2, pin_memory=True))

    def wait_for_loader():
        while batches._data_queue.qsize() < batches._tasks_outstanding:
            time.sleep(0.001)

    train(batches, before_end=wait_for_loader)


def churn(seed, shared, lock, n):
    """Blocks of all sizes, each freed by whoever comes to it: addresses go from thread to thread."""
    rng, device = random.Random(seed), "cuda:%d" % DEVICES[seed % len(DEVICES)]
    with torch.cuda.stream(torch.cuda.Stream(device)):
        for _ in range(n):
            block = torch.empty(rng.randrange(1, 300000), device=device, dtype=torch.uint8)
            with lock:
                shared[rng.randrange(64)], block = block, None


def many_threads():
    shared, lock = [None] * 64, threading.Lock()
    for step in range(5):
        threads = [threading.Thread(target=churn, args=(step * 8 + i, shared, lock, 1000)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        end_step()


def history():
    """One thread on both devices and many streams; of some blocks a free waits for another stream."""
    remember(0, stacks="python")
    shared, other = [None] * 64, [torch.cuda.Stream(d) for d in DEVICES]
    for step in range(STEPS):
        for i in range(4):
            churn(step * 4 + i, shared, threading.Lock(), 100)
        for i in range(0, 64, 5):
            if shared[i] is not None:
                shared[i].record_stream(other[shared[i].device.index])
                shared[i] = None
        if step % 4 == 3:
            torch.cuda.empty_cache()
        end_step()


def history_threads():
    """A training, whose backward has a thread for each device, and eight that churn."""
    remember(8 + len(DEVICES), context=None)
    train(made(3))
    many_threads()


def shortage():
    """The device is full at last, which the job survives, three times; the last time blocks of all sizes have come and
    gone. The stand-in's is small."""
    if not is_standin:
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1, (512 << 20) / total))
    torch._C._cuda_attach_out_of_memory_observer(on_shortage)
    rng = random.Random(5)
    for size in (48 << 20, 30 << 20, None):
        kept = []
        try:
            while True:
                for _ in range(1 if size else 20):
                    some = size or int(2 ** rng.uniform(5, 24.5))
                    kept.append(torch.empty(some, dtype=torch.uint8, device="cuda:0"))
                    if not size and rng.random() < 0.4:
                        del kept[rng.randrange(len(kept))]
                end_step()
        except RuntimeError as error:  # OutOfMemoryError is one, and is older under this name
            assert "out of memory" in str(error), error
        end_step()
        del kept
        torch.cuda.empty_cache()
        end_step()


def pool():
    """Memory of a plugged-in allocator, in a pool beside PyTorch's own."""
    if not hasattr(torch.cuda, "MemPool"):
        sys.exit(77)
    own = torch.cuda.memory.CUDAPluggableAllocator(os.environ["PLUGGABLE"], "plugged_in", "plugged_out")
    memory = torch.cuda.MemPool(own.allocator())
    kept = []
    for i in range(STEPS):
        kept.append(torch.empty(100000, device="cuda:0"))
        with torch.cuda.use_mem_pool(memory):
            kept.append(torch.empty((1 + i % 3) << 20, device="cuda:0"))
        if i % 4 == 3:
            del kept[:3]
        end_step()


def plugged():
    """PyTorch asks the plugged-in allocator only, and reports nothing."""
    torch.cuda.memory.change_current_allocator(
        torch.cuda.memory.CUDAPluggableAllocator(os.environ["PLUGGABLE"], "plugged_in", "plugged_out"))
    kept = []
    for i in range(STEPS):
        kept.append(torch.empty(1000 * (i + 1), device="cuda:%d" % DEVICES[i % len(DEVICES)]))
        if i % 4 == 3:
            del kept[:3]
        end_step(reported=False)


def graphs():
    """Captured with a private pool each, and kept."""
    kept, held = [], torch.zeros(1000, device="cuda:0")
    for i in range(6):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = (held * 2).expand(1000, 1000).contiguous() + i
        graph.replay()
        kept.append((graph, result))
        if i % 3 == 2:
            del kept[0]
        end_step()


def child(queue):
    tensor = queue.get()
    assert tensor.is_cuda
    del tensor


def ipc():
    """A spawned process gets a tensor."""
    context = torch.multiprocessing.get_context("spawn")
    queue = context.Queue()
    tensor = torch.zeros(1 << 20, device="cuda:%d" % DEVICES[-1])
    other = context.Process(target=child, args=(queue,))
    other.start()
    queue.put(tensor)
    other.join()
    assert other.exitcode == 0
    end_step()


def forked():
    """A child lets go of its parent's tensors."""
    tensor = torch.zeros(1 << 20, device="cuda:0")
    end_step()
    pid = os.fork()
    if not pid:
        del tensor
        os._exit(0)
    os.waitpid(pid, 0)
    end_step()


def timed():
    """Small steps, one after the other: the worst case for who looks at each block."""
    model, device = Model().to("cuda:0"), torch.device("cuda:0")
    optimizer = torch.optim.Adam(model.parameters())
    batch = torch.randn(16, 3, 32, 32, device=device)
    for step in range(330):
        if step == 30:
            torch.cuda.synchronize()
            began = time.perf_counter()
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
    torch.cuda.synchronize()
    print(json.dumps({"seconds": time.perf_counter() - began}))


if __name__ == "__main__":
    torch.backends.cudnn.enabled = not is_standin
    globals()[sys.argv[1]]()
