"""How spread out are the features? After each epoch a probe looks at two layers over the validation batches."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Conv2d(3, 12, 3, stride=2, padding=1)
        self.layer2 = nn.Conv2d(12, 16, 3, stride=2, padding=1)
        self.fc = nn.Linear(16, 5)

    def forward(self, x):
        x = F.relu(self.layer1(x))
        x = F.relu(self.layer2(x))
        return self.fc(x.mean((2, 3)))


class Probe:
    def __init__(self, net, names):
        self.outputs = {n: [] for n in names}
        self.handles = [getattr(net, n).register_forward_hook(self.hook(n)) for n in names]

    def hook(self, name):
        def collect(module, inputs, output):
            self.outputs[name].append(output.detach().clone())  # LEAK HELD
        return collect

    def spread(self):
        return {n: torch.cat(v).flatten(1).std(0).mean().item() for n, v in self.outputs.items()}

    def close(self):
        for h in self.handles:
            h.remove()


def data(n, seed):
    g = torch.Generator().manual_seed(seed)
    for _ in range(n):
        y = torch.randint(5, (12,), generator=g)
        yield torch.rand(12, 3, 16, 16, generator=g) + y.view(-1, 1, 1, 1) / 5, y


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--close-probes", action="store_true")
    a = p.parse_args()
    torch.manual_seed(0)
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(a.epochs):
        for x, y in data(25, epoch):
            loss = F.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        net.eval()
        probe = Probe(net, ["layer1", "layer2"])
        with torch.no_grad():
            right = sum((net(x).argmax(1) == y).sum().item() for x, y in data(6, 999))
        spread = probe.spread()
        if a.close_probes:
            probe.close()
        net.train()
    print("epochs %d accuracy %.2f spread %s" % (a.epochs, right / 72, {k: round(v, 3) for k, v in spread.items()}))


if __name__ == "__main__":
    main()
