import argparse

import torch
import torch.nn as nn


class ActivationProbe:
    """Collects the outputs of chosen layers, for statistics that are written when training is over."""

    def __init__(self, model, names, summarize):
        self.outputs = {n: [] for n in names}
        self.handles = [m.register_forward_hook(self.hook(n, summarize))
                        for n, m in model.named_modules() if n in names]

    def hook(self, name, summarize):
        def record(module, inputs, output):
            if summarize:
                self.outputs[name].append((output.shape[0], output.shape[-1]))
            else:
                self.outputs[name].append(output)  # HELD
        return record


class Block(nn.Module):
    def __init__(self, d, heads=4):
        super().__init__()
        self.attn = nn.MultiheadAttention(d, heads, batch_first=True)
        self.ff1, self.ff2 = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)

    def forward(self, x):
        y = self.n1(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        return x + self.ff2(torch.relu(self.ff1(self.n2(x))))  # LEAK


class Encoder(nn.Module):
    def __init__(self, d=96, depth=2):
        super().__init__()
        self.embed = nn.Embedding(1000, d)
        self.blocks = nn.ModuleList([Block(d) for _ in range(depth)])
        self.head = nn.Linear(d, 1000)

    def forward(self, ids):
        x = self.embed(ids)
        for b in self.blocks:
            x = b(x)
        return self.head(x)


def run(device="cuda", steps=100, summarize=False):
    model = Encoder().to(device)
    probe = ActivationProbe(model, ("blocks.0.ff1", "blocks.1"), summarize)
    optim = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(steps):
        ids = torch.randint(0, 1000, (8, 64)).to(device)
        logits = model(ids)
        loss = nn.functional.cross_entropy(logits.view(-1, 1000), ids.view(-1))
        optim.zero_grad()
        loss.backward()
        optim.step()
    return {name: len(seen) for name, seen in probe.outputs.items()}


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("--device", default="cuda")
    cli.add_argument("--steps", type=int, default=100)
    cli.add_argument("--summarize", action="store_true")
    print(run(**vars(cli.parse_args())))
