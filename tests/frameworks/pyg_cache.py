"""Graphs that are classified with PyTorch Geometric: leaky makes each when it is first asked for and keeps it, fixed
makes them anew, healthy has them in an InMemoryDataset, which cuts each out once."""
import argparse

import torch
import torch_geometric
from torch_geometric.data import Data, Dataset, InMemoryDataset
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, global_mean_pool

NODES, FEATURES = 60, 128


def graph(i):
    generator = torch.Generator().manual_seed(i)
    x = torch.randn(NODES, FEATURES, generator=generator)  # LEAK
    distances = torch.cdist(x[:, :8], x[:, :8])
    edges = distances.topk(4, largest=False).indices
    edge_index = torch.stack([torch.arange(NODES).repeat_interleave(4), edges.reshape(-1)])
    return Data(x=x, edge_index=edge_index, y=torch.tensor([i % 2]))


class Molecules(Dataset):
    def __init__(self, n, keeps):
        super().__init__()
        self.n, self.keeps, self.made = n, keeps, {}

    def len(self):
        return self.n

    def get(self, i):
        if i in self.made:
            return self.made[i]
        made = graph(i)
        if self.keeps:
            self.made[i] = made  # LEAK
        return made


class MoleculesInMemory(InMemoryDataset):
    def __init__(self, n):
        super().__init__()
        self.data, self.slices = self.collate([graph(i) for i in range(n)])


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(FEATURES, 64), GCNConv(64, 64)
        self.head = torch.nn.Linear(64, 2)

    def forward(self, batch):
        x = self.first(batch.x, batch.edge_index).relu()
        x = self.second(x, batch.edge_index).relu()
        return self.head(global_mean_pool(x, batch.batch))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=["leaky", "fixed", "healthy"])
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--graphs", type=int, default=1200)
    args = parser.parse_args()
    torch_geometric.seed_everything(0)
    dataset = MoleculesInMemory(args.graphs) if args.variant == "healthy" else \
        Molecules(args.graphs, args.variant == "leaky")
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), 1e-3)
    loader = DataLoader(dataset, batch_size=16, shuffle=True)
    for _ in range(args.epochs):
        for batch in loader:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(network(batch), batch.y)
            loss.backward()
            optimizer.step()
    print("loss", loss.item())


main()
