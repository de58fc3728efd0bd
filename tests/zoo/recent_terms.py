"""A regressor whose regularisation term is watched over the last eighty steps, for a weight that follows it: the deque
is bounded, as it is meant to be, but each term in it is a tensor that nobody goes backward through, and so keeps the
graph of its step with all that the graph has saved. The fix keeps numbers.

usage: recent_terms.py [leaky|fixed] [--steps N]"""
import argparse
import collections

import torch
import torch.nn.functional as F

BATCH, WIDE, RECENT = 64, 512, 80


class Regressor(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = torch.nn.Linear(32, WIDE)
        self.head = torch.nn.Linear(WIDE, 1)

    def forward(self, x):
        wide = torch.relu(self.hidden(x))  # LEAK
        return self.head(wide), wide


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=400)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = Regressor()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    recent = collections.deque(maxlen=RECENT)
    for step in range(args.steps):
        x = torch.randn(BATCH, 32)
        guess, wide = net(x)
        term = wide.abs().mean()  # LEAK
        weight = 0.01 * (float(sum(recent)) / len(recent) if recent else 1.0)
        loss = F.mse_loss(guess, x.sum(1, keepdim=True)) + weight * net.head.weight.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        recent.append(term if args.variant == "leaky" else term.item())
        if (step + 1) % 100 == 0:
            print("step %d: loss %.4f" % (step + 1, loss.item()), flush=True)
    print("steps %d" % args.steps)


if __name__ == "__main__":
    main()
