"""A prefetcher with a ring of three pinned buffers, and a rolling window of detached features on the device."""
import collections

import torch
from torch import nn


def main(steps=200):
    ring = [torch.empty(64, 2000).pin_memory() for _ in range(3)]
    stream = torch.cuda.Stream()
    net = nn.Sequential(nn.Linear(2000, 256), nn.ReLU(), nn.Linear(256, 128)).cuda()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    window = collections.deque(maxlen=60)
    for step in range(steps):
        buffer = ring[step % 3]
        buffer.copy_(torch.rand(64, 2000))
        with torch.cuda.stream(stream):
            x = buffer.to("cuda", non_blocking=True)
        torch.cuda.current_stream().wait_stream(stream)
        out = net(x)
        loss = out.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        window.append(out.detach())
    print("window", len(window))


if __name__ == "__main__":
    main()
