"""Checkpoints every ten steps: model and optimizer go to a file that is overwritten, every fortieth step to one of its
own, of which the last two stay; the best weights so far are kept in memory, the newer copy in place of the older.

usage: healthy_checkpoints.py [--steps N]"""
import argparse
import copy
import glob
import os
import tempfile

import torch
import torch.nn.functional as F

INPUTS, WIDTH, OUTPUTS, BATCH = 48, 512, 6, 32


class Saver:
    def __init__(self, folder, keep=2):
        self.folder, self.keep = folder, keep
        self.best, self.best_loss = None, float("inf")

    def path(self, name):
        return os.path.join(self.folder, "checkpoint_%s.pt" % name)

    def save(self, name, net, optimizer, step):
        state = {"model": net.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
        torch.save(state, self.path(name) + ".tmp")
        os.replace(self.path(name) + ".tmp", self.path(name))

    def trim(self):
        for old in sorted(glob.glob(self.path("0*")))[:-self.keep]:
            os.remove(old)

    def remember(self, net, loss):
        if loss < self.best_loss:
            self.best, self.best_loss = copy.deepcopy(net.state_dict()), loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=200)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    truth = torch.randn(INPUTS, OUTPUTS) / INPUTS ** 0.5
    held_out = torch.randn(128, INPUTS)
    net = torch.nn.Sequential(torch.nn.Linear(INPUTS, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, WIDTH),
                              torch.nn.ReLU(), torch.nn.Linear(WIDTH, OUTPUTS))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    with tempfile.TemporaryDirectory() as folder:
        saver = Saver(folder)
        for step in range(1, args.steps + 1):
            x = torch.randn(BATCH, INPUTS)
            loss = F.mse_loss(net(x), torch.sin(x @ truth))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 10 == 0:
                with torch.no_grad():
                    held_out_loss = F.mse_loss(net(held_out), torch.sin(held_out @ truth)).item()
                saver.remember(net, held_out_loss)
                saver.save("last", net, optimizer, step)
            if step % 40 == 0:
                saver.save("%06d" % step, net, optimizer, step)
                saver.trim()
                print("step %d: loss %.4f, best %.4f" % (step, held_out_loss, saver.best_loss), flush=True)
        last = torch.load(saver.path("last"))
        net.load_state_dict(saver.best)
    print("steps %d" % last["step"])


if __name__ == "__main__":
    main()
