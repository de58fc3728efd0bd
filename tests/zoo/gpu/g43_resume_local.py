"""Goes on training a small language model from a checkpoint: weights, moments of Adam, epoch."""
import argparse
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class TinyLM(nn.Module):
    def __init__(self, vocab=1500, d=256, layers=3):
        super().__init__()
        self.emb = nn.Parameter(torch.randn(vocab, d) * 0.02)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d)) for _ in range(layers))
        self.norm = nn.LayerNorm(d)

    def forward(self, onehot):
        h = onehot @ self.emb
        for block in self.blocks:
            h = h + block(h)
        return self.norm(h) @ self.emb.t()


def save_checkpoint(path):
    model = TinyLM().to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
    model(torch.zeros(2, 1500, device=device)).sum().backward()
    opt.step()
    torch.save({"model": model.state_dict(), "optimizer": opt.state_dict(), "epoch": 3}, path)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--resume", default=None)
    ap.add_argument("--iters", type=int, default=120)
    ap.add_argument("--map-cpu", action="store_true")
    opt = ap.parse_args()

    model = TinyLM().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    start_epoch = 0
    if opt.resume:
        checkpoint = torch.load(opt.resume, map_location="cpu" if opt.map_cpu else device, weights_only=True)  # LEAK HELD
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        start_epoch = checkpoint["epoch"] + 1

    model.train()
    for it in range(opt.iters):
        tokens = torch.randint(0, 1500, (16, 33))
        onehot = F.one_hot(tokens, 1500).float().to(device)
        logits = model(onehot[:, :-1])
        loss = -(logits.log_softmax(-1) * onehot[:, 1:]).sum(-1).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=False)
        optimizer.step()
        if it % 40 == 0:
            print(f"epoch {start_epoch} iter {it}")


if __name__ == "__main__":
    import sys
    with tempfile.TemporaryDirectory() as tmp:
        file = os.path.join(tmp, "last.pth")
        save_checkpoint(file)
        sys.argv += ["--resume", file]
        main()
