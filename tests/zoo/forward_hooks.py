"""Training that looks at a layer's activations in each step by a forward hook, as one copies it from a forum,
but registers the hook anew every step and never removes it: the hooks, the lists they fill and the activations
in those live as long as the module. Memory climbs by an activation a step, and the steps grow slower. The fix
is handle.remove() when the step is over.

usage: forward_hooks.py [leaky|fixed] [--steps N]"""
import argparse

import torch
import torch.nn.functional as F

SIDE, BATCH, CLASSES = 32, 16, 6


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Conv2d(1, 6, 3, stride=2, padding=1)
        self.body = torch.nn.Conv2d(6, 8, 3, padding=1)
        self.head = torch.nn.Linear(8, CLASSES)

    def forward(self, images):
        x = torch.relu(self.stem(images))
        x = torch.relu(self.body(x))  # LEAK
        return self.head(x.mean((2, 3)))


def watch(layer):
    """Registers a hook that takes what the layer puts out next; gives the list for it and the hook's handle."""
    activations = []

    def collect(module, inputs, output):
        if not activations:
            activations.append(output.detach())

    return activations, layer.register_forward_hook(collect)


def shapes(n):
    """Bars, bright on noise; how many rows they have is their class."""
    labels = torch.randint(CLASSES, (n,))
    images = 0.2 * torch.rand(n, 1, SIDE, SIDE)
    for image, label in zip(images, labels.tolist()):
        top = int(torch.randint(SIDE - 12, (1,)))
        image[0, top:top + 2 * label + 1] += 1
    return images, labels


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=300)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    active = 0.0
    for step in range(args.steps):
        images, labels = shapes(BATCH)
        activations, handle = watch(net.body)
        loss = F.cross_entropy(net(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        active += float((activations[0] > 0).float().mean())
        if args.variant == "fixed":
            handle.remove()
        if (step + 1) % 60 == 0:
            print("step %d: loss %.4f, %.3f active" % (step + 1, loss.item(), active / (step + 1)), flush=True)
    print("steps %d" % args.steps)


if __name__ == "__main__":
    main()
