"""A regression on spectrograms whose data set caches what it has decoded in a dict. With two persistent workers
and shuffling each worker sees another half of the samples every epoch, and so each comes to own nearly all of
them: the cache costs as many times its size as there are workers ("RAM use is num_workers times my data"). The
fix decodes each time.

usage: worker_decode_cache.py [leaky|fixed] [--epochs N] [--clips N]"""
import argparse
import os
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

BANDS = 64
FRAMES = 128
BATCH = 8
RATE = 8000


def write_clips(folder, n):
    """Raw 16-bit mono clips of one tone each, with noise; the name says which pitch."""
    rng = np.random.RandomState(0)
    time = np.arange(FRAMES * BANDS) / RATE
    for i in range(n):
        pitch = int(rng.randint(200, 3800))
        wave = 0.5 * np.sin(2 * np.pi * pitch * time + rng.rand() * 6) + rng.normal(0, 0.1, len(time))
        (wave * 16000).astype(np.int16).tofile(os.path.join(folder, "%05d_%d.pcm" % (i, pitch)))


class Clips(Dataset):
    def __init__(self, folder, cached):
        self.paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        self.cache = {} if cached else None

    def __len__(self):
        return len(self.paths)

    def decode(self, path):
        """The log spectrogram of a clip, FRAMES x BANDS."""
        wave = np.fromfile(path, dtype=np.int16).astype(np.float32) / 32768
        windows = np.lib.stride_tricks.sliding_window_view(np.pad(wave, BANDS), 2 * BANDS)[::BANDS][:FRAMES]
        spectrum = np.abs(np.fft.rfft(windows * np.hanning(2 * BANDS)))[:, :BANDS]
        return np.log(spectrum + 1e-3, dtype=np.float32)  # LEAK

    def __getitem__(self, i):
        path = self.paths[i]
        if self.cache is None:
            spectrogram = self.decode(path)
        else:
            if path not in self.cache:
                self.cache[path] = self.decode(path)
            spectrogram = self.cache[path]
        pitch = float(path.rsplit("_", 1)[1][:-4]) / 4000
        return torch.from_numpy(spectrogram), torch.tensor([pitch], dtype=torch.float32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--clips", type=int, default=480)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Conv1d(FRAMES, 16, 5, padding=2), torch.nn.ReLU(), torch.nn.Flatten(),
                              torch.nn.Linear(16 * BANDS, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    steps = 0
    with tempfile.TemporaryDirectory() as folder:
        write_clips(folder, args.clips)
        loader = DataLoader(Clips(folder, args.variant == "leaky"), batch_size=BATCH, shuffle=True, num_workers=2,
                            persistent_workers=True)
        for epoch in range(args.epochs):
            for spectrograms, pitches in loader:
                loss = F.mse_loss(net(spectrograms), pitches)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                steps += 1
            print("epoch %d: loss %.4f" % (epoch + 1, loss.item()), flush=True)
    print("steps %d" % steps)


if __name__ == "__main__":
    main()
