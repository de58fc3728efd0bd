"""Regression with an evaluation after each epoch that forgets torch.no_grad(): the predictions it keeps for a
later plot carry their graphs, and as no backward ever runs over those, they keep all that the layers have saved
for it. Memory climbs by a stair each epoch (pytorch#1840's kin; "validation runs out of memory, training does
not"). The fix evaluates under no_grad and keeps the metric.

usage: eval_without_no_grad.py [leaky|fixed] [--epochs N]"""
import argparse

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

INPUTS, WIDTH, OUTPUTS = 48, 256, 16
BATCH = 64


class Regressor(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(INPUTS, WIDTH)
        self.second = torch.nn.Linear(WIDTH, WIDTH)
        self.head = torch.nn.Linear(WIDTH, OUTPUTS)

    def forward(self, x):
        x = torch.relu(self.first(x))  # LEAK
        x = torch.tanh(self.second(x))  # LEAK
        return self.head(x)  # LEAK


def made(n, seed):
    """Inputs and what a fixed random map makes of them, with noise."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, INPUTS, generator=generator)
    truth = torch.randn(INPUTS, OUTPUTS, generator=torch.Generator().manual_seed(99)) / INPUTS ** 0.5
    return x, torch.sin(x @ truth) + 0.05 * torch.randn(n, OUTPUTS, generator=generator)


def evaluate_leaky(net, x, y, results):
    net.eval()
    total = 0.0
    for inputs, wanted in zip(x.split(BATCH), y.split(BATCH)):
        predictions = net(inputs)
        total += F.mse_loss(predictions, wanted).item()
        results.append(predictions)
    net.train()
    return total


def evaluate_fixed(net, x, y, results):
    net.eval()
    total = 0.0
    with torch.no_grad():
        for inputs, wanted in zip(x.split(BATCH), y.split(BATCH)):
            total += F.mse_loss(net(inputs), wanted).item()
    results.append(total)
    net.train()
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--epochs", type=int, default=6)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    evaluate = evaluate_leaky if args.variant == "leaky" else evaluate_fixed
    loader = DataLoader(TensorDataset(*made(40 * BATCH, 1)), batch_size=BATCH, shuffle=True)
    x, y = made(10 * BATCH, 2)
    net = Regressor()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    results, steps = [], 0
    for epoch in range(args.epochs):
        for inputs, wanted in loader:
            optimizer.zero_grad()
            F.mse_loss(net(inputs), wanted).backward()
            optimizer.step()
            steps += 1
        print("epoch %d: error %.4f" % (epoch + 1, evaluate(net, x, y, results)), flush=True)
    print("steps %d, results kept %d" % (steps, len(results)))


if __name__ == "__main__":
    main()
