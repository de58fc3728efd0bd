#!/usr/bin/env python
# momentum contrast, much reduced
import argparse
import copy

import torch
import torch.nn as nn


def concat_all(queue, keys, limit):
    queue = keys if queue is None else torch.cat([queue, keys], dim=0)  # LEAK
    return queue if limit is None else queue[-limit:].clone()


class MoCo(nn.Module):
    def __init__(self, dim=256, K=None, m=0.999, T=0.07):
        super(MoCo, self).__init__()
        self.K, self.m, self.T = K, m, T
        self.encoder_q = nn.Sequential(nn.Linear(300, 256), nn.ReLU(), nn.Linear(256, dim))
        self.encoder_k = copy.deepcopy(self.encoder_q)
        for param_k in self.encoder_k.parameters():
            param_k.requires_grad = False
        self.queue = None

    @torch.no_grad()
    def _momentum_update_key_encoder(self):
        for param_q, param_k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            param_k.data = param_k.data * self.m + param_q.data * (1.0 - self.m)

    def forward(self, im_q, im_k):
        q = nn.functional.normalize(self.encoder_q(im_q), dim=1)
        with torch.no_grad():
            self._momentum_update_key_encoder()
            k = nn.functional.normalize(self.encoder_k(im_k), dim=1)
        l_pos = (q * k).sum(1, keepdim=True)
        logits = l_pos if self.queue is None else torch.cat([l_pos, q @ self.queue.t()], dim=1)
        self.queue = concat_all(self.queue, k, self.K)  # HELD
        return logits / self.T


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", default=150, type=int)
    parser.add_argument("--moco-k", default=None, type=int)
    args = parser.parse_args()
    model = MoCo(K=args.moco_k).to(args.device)
    optimizer = torch.optim.SGD(model.encoder_q.parameters(), 0.03, momentum=0.9)
    for _ in range(args.steps):
        view = torch.randn(128, 300, device=args.device)
        logits = model(view + 0.1, view - 0.1)
        loss = nn.functional.cross_entropy(logits, torch.zeros(128, dtype=torch.long, device=args.device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("queue", tuple(model.queue.shape))


if __name__ == "__main__":
    main()
