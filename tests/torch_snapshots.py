"""Memory snapshots as versions of PyTorch write them, made up: a training whose blocks, events and frames are known. What
each version writes is in torch_versions.py."""
from tests import torch_versions

ROOT = "/venv/lib/python3.11/site-packages/torch/"
MIB = 1 << 20
BASE = 0x7f0000000000
VERSIONS = tuple(version.rpartition(".")[0] for version in torch_versions.READ)
EMPTY = {"int": int, "str": str, "bool": bool, "float": float, "list": list, "dict": dict, "(int, int)": lambda: (0, 0)}


def written(torch, place, **known):
    """A record as a version writes it: what is not known is empty or left out."""
    keys = torch_versions.keys_of(torch, place).items()
    return {key: known[key] if key in known else EMPTY[type_]() for key, type_ in keys if key in known or type_ in EMPTY}


def frame(file, line, name):
    return {"filename": file, "line": line, "name": name}


MAIN = [frame("/job/train.py", 40, "main"), frame("/job/train.py", 50, "<module>")]
STEP = [frame("/job/train.py", 20, "train_step")] + MAIN
FORWARD = [frame(ROOT + "nn/modules/linear.py", 134, "forward"), frame("/job/model.py", 8, "forward")] + STEP
BACKWARD = [frame(ROOT + "autograd/__init__.py", 150, "_make_grads"), frame(ROOT + "autograd/__init__.py", 300, "backward"),
            frame(ROOT + "_tensor.py", 600, "backward"), frame("/job/train.py", 21, "train_step")] + MAIN
OPTIMIZER = [frame(ROOT + "optim/adam.py", 200, "_multi_tensor_adam"), frame(ROOT + "optim/adam.py", 240, "step"),
             frame(ROOT + "optim/optimizer.py", 400, "wrapper"), frame("/job/train.py", 22, "train_step")] + MAIN
ZERO_GRAD = [frame(ROOT + "optim/optimizer.py", 900, "zero_grad"), frame("/job/train.py", 23, "train_step")] + MAIN
KEPT = [frame("/job/train.py", 30, "remember"), frame("/job/train.py", 24, "train_step")] + MAIN
PARAMETERS = [frame("/job/model.py", 3, "__init__")] + MAIN


class Allocator:
    """Of one device, as one long segment: blocks lie one after the other, and are used again by size."""

    def __init__(self, torch, device=0):
        self.torch, self.device = torch, device
        self.base = BASE + (device << 40)
        self.end = 0  # of what was ever handed out
        self.live, self.free_lists, self.events = {}, {}, []
        self.now = 1_700_000_000_000_000

    def event(self, action, addr, size, frames):
        self.now += 100
        where = {"device_free" if action == "oom" else "addr": addr}
        self.events.append(written(self.torch, "event", action=action, size=size, time_us=self.now, frames=frames, **where))

    def mark(self, stage, name):
        return written(self.torch, "annotation", stage=stage, name=name, device=self.device, time_us=self.now)

    def alloc(self, size, frames):
        rounded = (size + 511) // 512 * 512
        free = self.free_lists.setdefault(rounded, [])
        if not free and self.end % (64 * MIB) + rounded > 64 * MIB:
            self.end = (self.end // (64 * MIB) + 1) * 64 * MIB
        if not free and self.end % (64 * MIB) == 0:
            self.event("segment_alloc", self.base + self.end, 64 * MIB, frames)
        addr = free.pop() if free else self.base + self.end
        if addr == self.base + self.end:
            self.end += rounded
        self.live[addr] = (size, rounded, frames)
        self.event("alloc", addr, size, frames)
        return addr

    def free(self, addr, frames):
        size, rounded, _ = self.live.pop(addr)
        self.free_lists[rounded].append(addr)
        self.event("free_requested", addr, size, frames)
        self.event("free_completed", addr, size, frames)

    def blocks_of(self, start):
        """The blocks of a segment, with the gaps between them."""
        blocks, at = [], start
        for addr in sorted(a for a in self.live if start <= a < start + 64 * MIB) + [start + 64 * MIB]:
            if addr > at:
                blocks.append(written(self.torch, "block", size=addr - at, state="inactive", address=at))
            if addr in self.live:
                size, rounded, frames = self.live[addr]
                blocks.append(written(self.torch, "block", size=rounded, requested_size=size, state="active_allocated",
                                      address=addr, frames=frames, history=self.history_of(addr)))
                at = addr + rounded
        return blocks

    def history_of(self, addr):
        """What a block was, the newest first, before it had an address and frames."""
        size, _, frames = self.live[addr]
        return [written(self.torch, "history", addr=addr, real_size=size, frames=frames)]

    def segments(self):
        found = []
        for start in range(self.base, self.base + self.end, 64 * MIB):
            blocks = self.blocks_of(start)
            asked = sum(size for addr, (size, _, _) in self.live.items() if start <= addr < start + 64 * MIB)
            active = sum(b["size"] for b in blocks if b["state"] == "active_allocated")
            found.append(written(self.torch, "segment", device=self.device, address=start, total_size=64 * MIB,
                                 allocated_size=active, active_size=active, requested_size=asked, segment_type="large",
                                 blocks=blocks))
        return found


def train(a, steps, kept=1 * MIB, backward_frames=BACKWARD, optimizer_frames=OPTIMIZER, zero_grad_frames=ZERO_GRAD,
          parameters=8):
    """A training of some steps; each keeps a block of `kept` bytes."""
    for i in range(parameters):
        a.alloc(2 * MIB + i, PARAMETERS)
    for _ in range(steps):
        activations = [a.alloc(3 * MIB, FORWARD) for _ in range(4)]
        if kept:
            a.alloc(kept, KEPT)
        root = a.alloc(4, backward_frames)
        gradients = [a.alloc(2 * MIB + i, []) for i in range(8)]  # by autograd's thread, which has no frames
        for addr in activations:
            a.free(addr, [])
        a.free(root, backward_frames)
        scratch = a.alloc(2 * MIB, optimizer_frames)
        a.free(scratch, optimizer_frames)
        for addr in gradients:
            a.free(addr, zero_grad_frames)


def snapshot(*allocators, entries=None, host=None, marks=()):
    """What _snapshot() returns; `entries`: of each ring buffer; `host`: the allocator of pinned memory."""
    torch = allocators[0].torch
    segments = [s for a in allocators for s in a.segments()]
    traces = [a.events[-entries:] if entries else a.events for a in allocators]
    whole = written(torch, "snapshot", segments=segments, device_traces=traces,
                    allocator_settings=written(torch, "settings", max_split_size=-1, roundup_power2_divisions={"1": 0, "256": 0}),
                    external_annotations=list(marks), host_segments=host.segments() if host else [], host_traces=host.events if host else [])
    return whole or segments


def of_version(torch, steps=30, **how):
    a = Allocator(torch)
    train(a, steps, **how)
    return snapshot(a)
