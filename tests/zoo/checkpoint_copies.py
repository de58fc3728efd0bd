"""Training that remembers its best models: every ten steps, where the validation loss is lower than ever, a deep
copy of the state dict goes to a list, "to average them later", and nobody trims the list. Memory climbs by a
model every ten steps. The fix keeps the latest only.

usage: checkpoint_copies.py [leaky|fixed] [--steps N]"""
import argparse
import copy

import torch
import torch.nn.functional as F

INPUTS, WIDTH, OUTPUTS = 64, 448, 8
BATCH = 32
EVERY = 10


class Checkpoints(object):
    """The best models so far, best last."""

    def __init__(self, keep):
        self.keep = keep
        self.best = []

    def save(self, net, loss):
        """Keeps the model as it is now."""
        state = copy.deepcopy(net.state_dict())  # LEAK
        self.best.append((loss, state))
        if self.keep:
            del self.best[:-self.keep]

    def restore(self, net):
        net.load_state_dict(self.best[-1][1])


def validate(net, x, y):
    net.eval()
    with torch.no_grad():
        loss = F.mse_loss(net(x), y).item()
    net.train()
    return loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=240)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    truth = torch.randn(INPUTS, OUTPUTS) / INPUTS ** 0.5
    held_out = torch.randn(64, INPUTS)
    wanted = torch.tanh(held_out @ truth)
    net = torch.nn.Sequential(torch.nn.Linear(INPUTS, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, WIDTH),
                              torch.nn.ReLU(), torch.nn.Linear(WIDTH, OUTPUTS))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    checkpoints = Checkpoints(keep=0 if args.variant == "leaky" else 1)
    lowest = float("inf")
    for step in range(args.steps):
        x = torch.randn(BATCH, INPUTS)
        loss = F.mse_loss(net(x), torch.tanh(x @ truth))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % EVERY == 0:
            held_out_loss = validate(net, held_out, wanted)
            if held_out_loss < lowest:
                lowest = held_out_loss
                checkpoints.save(net, held_out_loss)
        if (step + 1) % 60 == 0:
            print("step %d: loss %.4f, best %.4f" % (step + 1, loss.item(), lowest), flush=True)
    checkpoints.restore(net)
    print("steps %d, %d models kept, validation loss %.4f" % (args.steps, len(checkpoints.best),
                                                             validate(net, held_out, wanted)))


if __name__ == "__main__":
    main()
