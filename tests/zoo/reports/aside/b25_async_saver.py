"""Saves a checkpoint every ten steps without waiting for the disk: a copy of all state goes to a thread through a queue
of one, and the thread writes it and removes the last but two. Copies come and go all the time; no more than three live.

usage: b25_async_saver.py [--steps N]"""
import argparse
import os
import queue
import tempfile
import threading

import torch
import torch.nn as nn


class Saver(threading.Thread):
    def __init__(self, folder, keep=2):
        super().__init__(daemon=True)
        self.folder, self.keep, self.written = folder, keep, []
        self.jobs = queue.Queue(maxsize=1)
        self.start()

    def submit(self, step, net, optimizer):
        state = {"net": {k: v.clone() for k, v in net.state_dict().items()},
                 "optimizer": [{k: torch.as_tensor(v).clone() for k, v in s.items()} for s in optimizer.state.values()]}
        self.jobs.put((step, state))

    def run(self):
        for step, state in iter(self.jobs.get, None):
            path = os.path.join(self.folder, "%06d.pt" % step)
            torch.save(state, path)
            self.written.append(path)
            while len(self.written) > self.keep:
                os.remove(self.written.pop(0))
            state = None

    def close(self):
        self.jobs.put(None)
        self.join()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=520)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Conv2d(3, 24, 3, stride=2), nn.ReLU(), nn.Conv2d(24, 32, 3, stride=2), nn.ReLU(), nn.Flatten(),
                        nn.Linear(32 * 49, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    prototypes = torch.rand(10, 3, 32, 32)
    with tempfile.TemporaryDirectory() as folder:
        saver = Saver(folder)
        for step in range(args.steps):
            y = torch.randint(10, (12,))
            x = prototypes[y] + 0.5 * torch.randn(12, 3, 32, 32)
            loss = nn.functional.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 10 == 9:
                saver.submit(step, net, optimizer)
        saver.close()
        print("steps %d, loss %.4f, kept %d" % (args.steps, loss.item(), len(os.listdir(folder))))


if __name__ == "__main__":
    main()
