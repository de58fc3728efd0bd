"""Fine-tuning with samples in between: a decoder keeps keys and values of each prompt it has ever seen."""
import argparse
import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.qkv, self.proj, self.heads = nn.Linear(d, 3 * d), nn.Linear(d, d), heads

    def forward(self, x, past=None):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)  # LEAK
        att = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).softmax(-1)
        return self.proj((att @ v).transpose(1, 2).reshape(b, t, d)), (k, v)


class Decoder(nn.Module):
    def __init__(self, d=128, layers=2, heads=4):
        super().__init__()
        self.layers = nn.ModuleList(Attention(d, heads) for _ in range(layers))

    def forward(self, x, past=None):
        present = []
        for i, layer in enumerate(self.layers):
            y, kv = layer(x, past[i] if past else None)
            x = x + y
            present.append(kv)
        return x, present


class Sampler:
    def __init__(self, model, forget):
        self.model, self.forget = model, forget
        self.caches = {}

    @torch.inference_mode()
    def sample(self, key, prompt, length):
        x, past = self.model(prompt)
        for _ in range(length):
            x, past = self.model(x[:, -1:], past)
        if not self.forget:
            self.caches[key] = past  # HELD
        return x


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--forget", action="store_true")
    args = ap.parse_args()
    model = Decoder().to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    sampler = Sampler(model, args.forget)
    for step in range(160):
        x = torch.randn(8, 32, 128, device="cuda")
        y, _ = model(x)
        loss = (y[:, :-1] - x[:, 1:]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 4 == 3:
            sampler.sample("sample-%d" % step, torch.randn(4, 24, 128, device="cuda"), 8)


if __name__ == "__main__":
    main()
