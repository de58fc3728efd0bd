"""A network that torch.compile() compiles, with batches of a few lengths: leaky keeps the features of every step."""
import argparse

import torch


class Tagger(torch.nn.Module):
    def __init__(self, width=128, classes=16):
        super().__init__()
        self.embed = torch.nn.Embedding(512, width)
        self.mix = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.GELU(), torch.nn.LayerNorm(width))
        self.head = torch.nn.Linear(width, classes)

    def forward(self, tokens):
        features = self.mix(self.embed(tokens)).mean(1)
        return features, self.head(features)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=["leaky", "fixed", "healthy"])
    parser.add_argument("--steps", type=int, default=400)
    args = parser.parse_args()
    torch.manual_seed(0)
    network = Tagger()
    compiled = torch.compile(network)
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)
    seen = []
    for i in range(args.steps):
        length = (16, 32, 48)[i % 3] if args.variant == "healthy" else 32
        tokens, labels = torch.randint(0, 512, (64, length)), torch.randint(0, 16, (64,))
        features, logits = compiled(tokens)  # LEAK
        loss = torch.nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if args.variant == "leaky":
            seen.append(features.detach())  # LEAK
        elif args.variant == "fixed":
            seen.append(features.mean().item())
    print("loss", loss.item(), len(seen))


main()
