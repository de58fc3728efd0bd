"""Training with a recorder of activations that is made anew each step: it holds its own bound methods and the
layers' copies hold the recorder, so it never dies by reference counting. As the job has raised the collector's
threshold, as training frameworks do to keep it out of the loop, copies pile up until a rare collection frees
them all at once: a sawtooth (pytorch#4661, #7343, dinov3#340). The fix lets go of the callbacks when the step
is over, which breaks the cycle.

usage: cyclic_modules.py [leaky|fixed] [--steps N]"""
import argparse
import gc

import torch
import torch.nn.functional as F

WIDTH = 32
BATCH = 512
LAYERS = 4


class LayerRecord(object):
    """One layer's activations of one step, and whom to tell when they are there."""

    def __init__(self, name, recorder):
        self.name, self.recorder = name, recorder
        self.callbacks = [recorder.on_record]
        self.activation = None

    def hook(self, module, inputs, output):
        self.activation = output.detach().clone()  # LEAK
        for callback in self.callbacks:
            callback(self)


class Recorder(object):
    """Records what the layers of a network put out in one step, for a feature-matching loss and for the log."""

    def __init__(self, layers):
        self.saturated = {}
        self.records = [LayerRecord("layer%d" % i, self) for i in range(len(layers))]
        self.handles = [layer.register_forward_hook(record.hook) for layer, record in zip(layers, self.records)]

    def on_record(self, record):
        self.saturated[record.name] = (record.activation.abs() > 0.95).float().mean().item()

    def remove(self):
        for handle in self.handles:
            handle.remove()

    def close(self):
        self.remove()
        self.handles = []
        self.records = []


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(
            torch.nn.Sequential(torch.nn.Linear(64 if i == 0 else WIDTH, WIDTH), torch.nn.Tanh())
            for i in range(LAYERS))
        self.head = torch.nn.Linear(WIDTH, 16)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=400)
    args = parser.parse_args()
    gc.set_threshold(900, 10, 10)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = Net()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    truth = torch.randn(64, 16) / 8
    saturated = 0.0
    for step in range(args.steps):
        x = torch.randn(BATCH, 64)
        recorder = Recorder(net.layers)
        loss = F.mse_loss(net(x), torch.sin(x @ truth))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        saturated += sum(recorder.saturated.values()) / LAYERS
        if args.variant == "leaky":
            recorder.remove()
        else:
            recorder.close()
        if (step + 1) % 100 == 0:
            print("step %d: loss %.4f, %.3f saturated" % (step + 1, loss.item(), saturated / (step + 1)), flush=True)
    print("steps %d" % args.steps)


if __name__ == "__main__":
    main()
