"""Direct preference optimization: a policy, and a frozen reference that it began as, both from one file."""
import argparse
import copy
import os
import tempfile

import torch
import torch.nn.functional as F
from torch import nn


class LM(nn.Module):
    def __init__(self, vocab=800, d=320):
        super().__init__()
        self.inp = nn.Linear(vocab, d, bias=False)
        self.ff = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
        self.out = nn.Linear(d, vocab, bias=False)

    def logps(self, ids):
        h = self.inp(F.one_hot(ids, 800).float().cuda())
        lp = self.out(h + self.ff(h)).log_softmax(-1)
        return lp[:, :, 0].sum(1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--copy", action="store_true")
    args = ap.parse_args()
    with tempfile.TemporaryDirectory() as tmp:
        torch.save(LM().cuda().state_dict(), os.path.join(tmp, "sft.pt"))
        weights = torch.load(os.path.join(tmp, "sft.pt"), map_location="cuda:0", weights_only=True)
    policy = LM().cuda()
    policy.load_state_dict(weights)
    if args.copy:
        reference = copy.deepcopy(policy)
    else:
        reference = LM().cuda()
        reference.load_state_dict(weights, assign=True)
    reference.eval().requires_grad_(False)
    del weights
    optimizer = torch.optim.RMSprop(policy.parameters(), lr=5e-7)
    for step in range(80):
        chosen, rejected = torch.randint(0, 800, (4, 24)), torch.randint(0, 800, (4, 24))
        with torch.no_grad():
            rc, rr = reference.logps(chosen), reference.logps(rejected)
        pc, pr = policy.logps(chosen), policy.logps(rejected)
        loss = -F.logsigmoid(0.1 * ((pc - pr) - (rc - rr))).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("done")


if __name__ == "__main__":
    main()
