"""Runs a job with the memory history of PyTorch's own allocator, and writes its snapshot as the job ends.

usage: history.py SNAPSHOT JOB.py ARG…"""
import runpy
import sys

import torch


def main():
    snapshot, job = sys.argv[1:3]
    sys.argv = sys.argv[2:]
    torch.cuda.memory._record_memory_history(max_entries=1000000)
    try:
        runpy.run_path(job, run_name="__main__")
    finally:
        torch.cuda.memory._dump_snapshot(snapshot)


if __name__ == "__main__":
    main()
