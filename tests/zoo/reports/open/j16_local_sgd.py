"""Local SGD on two gloo ranks: each trains by itself and every eighth step the weights are averaged through one
flat buffer, made anew each time. The error feedback of the compressor is of the model's size and lives on."""
import os
import tempfile

os.environ.setdefault("OMP_NUM_THREADS", "1")  # as the launcher does
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.utils import parameters_to_vector, vector_to_parameters


def sync(model, feedback):
    flat = parameters_to_vector(model.parameters()).detach().clone()
    sent = (flat + feedback).half().float()
    feedback += flat - sent
    work = dist.all_reduce(sent, async_op=True)
    work.wait()
    sent /= dist.get_world_size()
    vector_to_parameters(sent, model.parameters())
    return float((sent - flat).norm())


def run(rank, world, path):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://%s" % path, rank=rank, world_size=world)
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(160, 128), torch.nn.GELU(), torch.nn.Linear(128, 128),
                                torch.nn.GELU(), torch.nn.Linear(128, 10))
    teacher = torch.randn(160, 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    feedback = torch.zeros(sum(p.numel() for p in model.parameters()))
    drifts = []
    torch.manual_seed(50 + rank)
    for step in range(160):
        x = torch.randn(16, 160)
        loss = torch.nn.functional.cross_entropy(model(x), (x @ teacher).argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 8 == 7:
            drift = torch.tensor([sync(model, feedback)])
            box = [torch.zeros(1) for _ in range(world)] if rank == 0 else None
            dist.gather(drift, box, dst=0)
            if rank == 0:
                drifts.append(max(b.item() for b in box))
    if rank == 0:
        print("loss %.3f, drift %.4f -> %.4f" % (loss.item(), drifts[0], drifts[-1]), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as tmp:
        mp.start_processes(run, (2, os.path.join(tmp, "rdzv")), nprocs=2, start_method="fork")
