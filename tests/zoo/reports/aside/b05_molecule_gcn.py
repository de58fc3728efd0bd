"""Graph convolution on molecules that are generated as one goes. A Molecule computes its normalised adjacency when
it is first asked for and remembers it, because each layer wants it.

leaky: by functools.lru_cache on the method; the cache belongs to the class and its keys are the molecules.
fixed: by functools.cached_property; what it remembers goes with the molecule.

usage: b05_molecule_gcn.py leaky|fixed [--steps N]"""
import argparse
import functools

import torch
import torch.nn as nn

ATOMS, FEATURES, CLASSES = 88, 24, 3


class Molecule:
    def __init__(self, generator):
        self.atoms = torch.randn(ATOMS, FEATURES, generator=generator)
        self.bonds = torch.rand(ATOMS, ATOMS, generator=generator) < 0.06
        self.label = int(self.bonds.sum(1).max() > 10) + int(self.bonds.sum(1).max() > 12)

    def normalise(self):
        a = (self.bonds | self.bonds.T).float() + torch.eye(ATOMS)
        d = a.sum(1).rsqrt()
        return d[:, None] * a * d[None, :]  # LEAK


class MethodCached(Molecule):
    @functools.lru_cache(maxsize=None)  # HELD
    def adjacency(self):
        return self.normalise()


class PropertyCached(Molecule):
    @functools.cached_property
    def normalised(self):
        return self.normalise()

    def adjacency(self):
        return self.normalised


class GCN(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(FEATURES, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)])
        self.head = nn.Linear(hidden, CLASSES)

    def forward(self, molecule):
        h = molecule.atoms
        for layer in self.layers:
            h = torch.relu(molecule.adjacency() @ layer(h))
        return self.head(h.mean(0))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=250)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    kind = MethodCached if args.variant == "leaky" else PropertyCached
    generator = torch.Generator().manual_seed(3)
    net = GCN()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    right = 0
    for step in range(args.steps):
        batch = [kind(generator) for _ in range(6)]
        logits = torch.stack([net(molecule) for molecule in batch])
        labels = torch.tensor([molecule.label for molecule in batch])
        loss = nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += int((logits.argmax(1) == labels).sum())
    print("steps %d, %.3f right" % (args.steps, right / 6 / args.steps))


if __name__ == "__main__":
    main()
