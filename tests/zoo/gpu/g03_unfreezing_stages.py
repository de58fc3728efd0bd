"""Fine-tuning in stages: at each stage one more group of layers is unfrozen and the optimizer is made anew, because
Adam does not take to parameters that were frozen when it was made."""
from __future__ import annotations

import argparse
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class Stage:
    name: str
    optimizer: torch.optim.Optimizer
    steps: int = 0


@dataclass
class FineTuner:
    device: str
    keep_stages: bool
    width: int = 768
    stages: list[Stage] = field(default_factory=list)

    def __post_init__(self):
        self.body = nn.ModuleList(nn.Linear(self.width, self.width) for _ in range(6)).to(self.device)
        self.head = nn.Linear(self.width, 10).to(self.device)
        for p in self.body.parameters():
            p.requires_grad_(False)

    def forward(self, x):
        for layer in self.body:
            x = x + torch.relu(layer(x))
        return self.head(x)

    def begin(self, depth: int) -> Stage:
        for layer in list(self.body)[len(self.body) - depth:]:
            layer.requires_grad_(True)
        trainable = [p for p in [*self.body.parameters(), *self.head.parameters()] if p.requires_grad]
        stage = Stage("top-%d" % depth, torch.optim.Adam(trainable, lr=1e-4))
        if not self.keep_stages:
            self.stages.clear()
        self.stages.append(stage)  # HELD
        return stage

    def train(self, stage: Stage, steps: int):
        for _ in range(steps):
            x = torch.randn(16, self.width, device=self.device)
            y = torch.zeros(16, dtype=torch.long, device=self.device)
            loss = nn.functional.cross_entropy(self.forward(x), y)
            stage.optimizer.zero_grad()
            loss.backward()
            stage.optimizer.step()  # LEAK
            stage.steps += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--drop-old", action="store_true")
    args = parser.parse_args()
    tuner = FineTuner(args.device, keep_stages=not args.drop_old)
    for depth in range(1, 7):
        tuner.train(tuner.begin(depth), args.steps)
    print(len(tuner.stages), "stages held")


if __name__ == "__main__":
    main()
