"""A feeder thread makes batches faster than training eats them; a queue of 60 lies between."""
import queue
import threading

import numpy as np
import torch

DONE = object()


def feeder(out, n):
    rng = np.random.default_rng(11)
    for _ in range(n):
        x = rng.standard_normal((32, 3, 24, 24), dtype=np.float32)
        out.put((x, (x.mean((1, 2, 3)) > 0).astype(np.int64)))
    out.put(DONE)


def run(n_batches=200, depth=60):
    torch.manual_seed(0)
    q = queue.Queue(maxsize=depth)
    t = threading.Thread(target=feeder, args=(q, n_batches), daemon=True)
    t.start()
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 5, padding=2), torch.nn.ReLU(), torch.nn.Conv2d(16, 16, 3, stride=2),
                              torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(16 * 11 * 11, 2))
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    seen = 0
    while True:
        item = q.get()
        if item is DONE:
            break
        x, y = map(torch.from_numpy, item)
        loss = torch.nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen += len(x)
    t.join()
    print("seen %d, loss %.4f" % (seen, loss.item()))


run()
