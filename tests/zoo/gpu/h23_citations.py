"""Two layers of graph convolution on a citation network, all of it in each epoch, with dropout and masks."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn


class GCNConv(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.lin = nn.Linear(a, b, bias=False)

    def forward(self, x, src, dst):
        h = self.lin(x)
        return torch.zeros_like(h).index_add_(0, dst, h[src])


class GCN(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.conv1, self.conv2 = GCNConv(features, hidden), GCNConv(hidden, classes)

    def forward(self, x, src, dst):
        x = F.dropout(x, 0.5, self.training)
        x = F.relu(self.conv1(x, src, dst))
        return self.conv2(F.dropout(x, 0.5, self.training), src, dst)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=120)
    ap.add_argument("--nodes", type=int, default=2708)
    args = ap.parse_args()
    features = torch.rand(args.nodes, 1433)
    edges = torch.randint(0, args.nodes, (2, 10556))
    y = torch.randint(0, 7, (args.nodes,))
    train_idx, val_idx = torch.arange(140), torch.arange(140, 640)
    dev = torch.device("cuda")
    features, edges, y, train_idx, val_idx = (t.to(dev) for t in (features, edges, y, train_idx, val_idx))
    model = GCN(1433, 16, 7).to(dev)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(args.epochs):
        model.train()
        optimizer.zero_grad()
        out = model(features, edges[0], edges[1])
        F.cross_entropy(out[train_idx], y[train_idx]).backward()
        optimizer.step()
        if epoch % 5 == 0:
            model.eval()
            with torch.no_grad():
                pred = model(features, edges[0], edges[1])[val_idx].argmax(1).cpu()
    print("epochs", args.epochs, len(pred))
