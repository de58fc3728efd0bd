"""Training with an event writer in the manner of tensorboard: add_* puts an event into a queue, a thread writes.

--strict   the writer's thread lets errors through
--lenient  the writer's thread reports them and goes on"""
import argparse
import os
import queue
import struct
import sys
import tempfile
import threading

import numpy as np
import torch
from torch import nn


class EventWriter:
    def __init__(self, logdir, lenient):
        self.file = open(os.path.join(logdir, "events.out"), "wb")
        self.lenient = lenient
        self.pending = queue.Queue()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _encode(self, kind, tag, value, step):
        if kind == "scalar":
            body = struct.pack("<d", value)
        elif kind == "histogram":
            counts, edges = np.histogram(value, bins=30)
            body = counts.astype("<i4").tobytes() + edges.astype("<f4").tobytes()
        else:
            raise KeyError("no encoder for %r" % kind)
        return struct.pack("<ii", step, len(body)) + tag.encode() + body

    def _run(self):
        while True:
            event = self.pending.get()
            if event is None:
                return
            try:
                self.file.write(self._encode(*event))
            except KeyError as e:
                if not self.lenient:
                    sys.exit()  # ends the thread, silently
                print("event writer:", e)

    def add_scalar(self, tag, value, step):
        self.pending.put(("scalar", tag, float(value), step))

    def add_histogram(self, tag, tensor, step):
        self.pending.put(("histogram", tag, tensor.detach().cpu().numpy().copy(), step))  # LEAK HELD

    def add_text(self, tag, text, step):
        self.pending.put(("text", tag, text, step))

    def close(self):
        self.pending.put(None)
        self.thread.join(5)
        self.file.close()


def main():
    p = argparse.ArgumentParser()
    g = p.add_mutually_exclusive_group()
    g.add_argument("--strict", action="store_true", default=True)
    g.add_argument("--lenient", dest="strict", action="store_false")
    a = p.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    x = torch.randn(1024, 64)
    y = (x[:, :8].sum(1, keepdim=True) > 0).float()
    net = nn.Sequential(nn.Linear(64, 192), nn.Tanh(), nn.Linear(192, 128), nn.Tanh(), nn.Linear(128, 1))
    opt = torch.optim.RMSprop(net.parameters(), lr=1e-3)
    with tempfile.TemporaryDirectory() as d:
        writer = EventWriter(d, not a.strict)
        step = 0
        for epoch in range(5):
            for rows in torch.randperm(1024).split(16):
                loss = nn.functional.binary_cross_entropy_with_logits(net(x[rows]), y[rows])
                opt.zero_grad()
                loss.backward()
                opt.step()
                writer.add_scalar("loss", loss, step)
                for name, p_ in net.named_parameters():
                    if p_.ndim == 2:
                        writer.add_histogram("w/" + name, p_, step)
                step += 1
            writer.add_text("notes", "end of epoch %d" % epoch, step)
            print("epoch %d loss %.4f" % (epoch, loss.item()), flush=True)
        writer.close()


if __name__ == "__main__":
    main()
