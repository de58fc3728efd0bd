"""Tensors that move to shared memory, and one that does not.

usage: shares.py; prints the bytes of a tensor."""
import torch

N = 100_000

moved = torch.ones(N)  # MOVED
moved.share_memory_()
other = torch.ones(N)  # OTHER
beside = torch.zeros(N)  # BESIDE
beside.share_memory_()
del other
print("bytes", moved.numel() * moved.element_size(), beside.is_shared())
