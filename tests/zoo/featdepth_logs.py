"""Self-supervised depth on two ranks, with an mmcv-like runner, hooks and log buffer. Modelled on FeatDepth, whose
batch_processor takes .item() of every entry of log_vars, and on mmdetection's convention that entries without "loss"
in their name are logged but not added to the loss: what is logged as a tensor keeps its graph.

leaky: the log buffer's history holds tensors; that of abs_diff, through which no backward goes, holds its map too.
fixed: batch_processor logs .item().

usage: featdepth_logs.py leaky|fixed [--epochs N]"""
import argparse
import os
import tempfile
from collections import OrderedDict

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

WORLD, N_SAMPLES, BATCH, HEIGHT, WIDTH, INTERVAL = 2, 320, 4, 96, 128, 20


class Frames(Dataset):
    def __len__(self):
        return N_SAMPLES

    def __getitem__(self, i):
        slope = torch.linspace(0, 1 + i % 7 / 7.0, WIDTH).expand(1, HEIGHT, WIDTH)
        return torch.cat([torch.sin(slope * (3 + k)) for k in range(3)]), 1 + slope


class DepthNet(torch.nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.encoder = torch.nn.Sequential(torch.nn.Conv2d(3, width, 3, 4, 1), torch.nn.ELU(),
                                           torch.nn.Conv2d(width, 2 * width, 3, 2, 1), torch.nn.ELU())
        self.decoder = torch.nn.Sequential(torch.nn.Conv2d(2 * width, width, 3, 1, 1), torch.nn.ELU(),
                                           torch.nn.Conv2d(width, 1, 3, 1, 1), torch.nn.Softplus(),
                                           torch.nn.Upsample(scale_factor=8, mode="bilinear", align_corners=False))

    def forward(self, color, target):
        depth = self.decoder(self.encoder(color))  # LEAK
        losses = OrderedDict()
        losses["reconstruct_loss"] = torch.nn.functional.l1_loss(depth, target)  # LEAK
        losses["smooth_loss"] = (depth[..., 1:] - depth[..., :-1]).abs().mean() * 0.01  # LEAK
        losses["abs_diff"] = (depth - target).abs().mean()  # LEAK
        return losses


def batch_processor(model, data, as_tensor):
    losses = model(*data)
    loss = sum(value for name, value in losses.items() if "loss" in name)  # LEAK
    log_vars = OrderedDict(losses, loss=loss)
    if not as_tensor:
        log_vars = OrderedDict((name, value.item()) for name, value in log_vars.items())
    return dict(loss=loss, log_vars=log_vars, num_samples=len(data[0]))


class LogBuffer:
    def __init__(self):
        self.val_history, self.n_history = OrderedDict(), OrderedDict()

    def update(self, variables, count):
        for key, value in variables.items():
            self.val_history.setdefault(key, []).append(value)
            self.n_history.setdefault(key, []).append(count)

    def average(self, n):
        return {key: float(sum(float(v) * c for v, c in zip(values[-n:], self.n_history[key][-n:])) /
                           sum(self.n_history[key][-n:])) for key, values in self.val_history.items()}


class DistOptimizerHook:
    def after_train_iter(self, runner):
        runner.optimizer.zero_grad()
        runner.outputs["loss"].backward()
        runner.optimizer.step()


class TextLoggerHook:
    def after_train_iter(self, runner):
        if runner.rank == 0 and (runner.iter + 1) % INTERVAL == 0:
            averages = runner.log_buffer.average(INTERVAL).items()
            print("iter %d: %s" % (runner.iter + 1, " ".join("%s %.4f" % pair for pair in averages)), flush=True)


class Runner:
    def __init__(self, model, optimizer, rank, as_tensor):
        self.model, self.optimizer, self.rank, self.as_tensor = model, optimizer, rank, as_tensor
        self.hooks = [DistOptimizerHook(), TextLoggerHook()]
        self.log_buffer, self.iter, self.outputs = LogBuffer(), 0, None

    def train(self, data_loader, epoch):
        data_loader.sampler.set_epoch(epoch)
        for data_batch in data_loader:
            self.outputs = batch_processor(self.model, data_batch, self.as_tensor)
            self.log_buffer.update(self.outputs["log_vars"], self.outputs["num_samples"])
            for hook in self.hooks:
                hook.after_train_iter(self)
            self.iter += 1


def train_rank(rank, rendezvous, variant, epochs):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + rendezvous, rank=rank, world_size=WORLD)
    model = DistributedDataParallel(DepthNet())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    dataset = Frames()
    loader = DataLoader(dataset, batch_size=BATCH, sampler=DistributedSampler(dataset, WORLD, rank), drop_last=True)
    runner = Runner(model, optimizer, rank, variant == "leaky")
    for epoch in range(epochs):
        runner.train(loader, epoch)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        mp.spawn(train_rank, (os.path.join(root, "rendezvous"), args.variant, args.epochs), nprocs=WORLD)


if __name__ == "__main__":
    main()
