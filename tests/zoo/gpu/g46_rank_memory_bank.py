"""Instance discrimination on two GPUs, launched as torchrun launches: a process a rank, LOCAL_RANK in the environment."""
import os
import subprocess
import sys

import torch
from torch import nn


class MemoryBank(nn.Module):
    def __init__(self, n, dim, device):
        super().__init__()
        self.register_buffer("bank", torch.zeros(n, dim, device=device))  # LEAK HELD

    def forward(self, idx, feats):
        old = self.bank[idx.to(self.bank.device)].to(feats.device)
        with torch.no_grad():
            self.bank[:64] = feats.detach().to(self.bank.device)
        return (feats * old).sum(1)


def train(good):
    local_rank = int(os.environ["LOCAL_RANK"])
    if good:
        torch.cuda.set_device(local_rank)
    dev = torch.device("cuda:%d" % local_rank)
    encoder = nn.Sequential(nn.Linear(300, 400), nn.ReLU(inplace=True), nn.Linear(400, 128)).to(dev)
    bank = MemoryBank(50000, 128, "cuda")
    sgd = torch.optim.SGD(encoder.parameters(), 0.03, momentum=0.9, weight_decay=5e-4)
    for step in range(150):
        idx = torch.randint(0, 50000, (64,))
        score = bank(idx, encoder(torch.randn(64, 300).to(dev)))
        loss = -nn.functional.logsigmoid(score).mean()
        sgd.zero_grad()
        loss.backward()
        sgd.step()
    print("rank", local_rank, "done", flush=True)


def launch():
    world = 2
    procs = []
    for rank in range(world):
        env = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world))
        procs.append(subprocess.Popen([sys.executable, __file__] + sys.argv[1:], env=env))
    sys.exit(max(p.wait() for p in procs))


if __name__ == "__main__":
    train("--set-device" in sys.argv) if "LOCAL_RANK" in os.environ else launch()
