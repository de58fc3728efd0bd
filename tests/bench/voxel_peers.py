#!/usr/bin/python3
"""seep-lab's voxelize and sparse_quantize beside what Python programs use: CPU time on one thread.

    tests/bench/voxel_peers.py [--rounds N] [--slow-rounds N]

SEEP_LAB names seep-lab (build/seep-lab), SEEP_DATA the folder of lidar-pc.npz. Peers that cannot be imported are left
out: numba and Open3D (PyPI), torch (Debian's python3-torch). "make bench-voxels-peers" fetches the first two.

All get integer coordinates with the batch in front. numba has a compiled hash table (typed dict would be slower) that
makes the same maps: voxels, starts and points, or the first points and the inverse. torch.unique(dim=0) finds voxels
and the inverse only, Open3D's HashSet the voxels. seep-lab runs before and after the peers' rounds, the less counts.
"""

import argparse
import os
import sys
import time

# Before the libraries are loaded: one thread each.
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402

from voxels import INPUTS, coordinates, lab_times  # noqa: E402


def numba_functions():
    import numba

    @numba.njit(cache=False)
    def quantize(coords, shift, first, inverse, rows, table):
        mask = table.size - 1
        table[:] = -1
        n_voxels = 0
        for i in range(len(coords)):
            b, x, y, z = coords[i, 0], coords[i, 1], coords[i, 2], coords[i, 3]
            key = (np.uint64(b) << np.uint64(48)) ^ (np.uint64(np.uint32(x)) << np.uint64(32)) \
                ^ (np.uint64(np.uint32(y)) << np.uint64(16)) ^ np.uint64(np.uint32(z))
            slot = np.int64((key * np.uint64(0x9e3779b97f4a7c15)) >> shift)
            while True:
                v = table[slot]
                if v < 0 or (rows[v, 0] == b and rows[v, 1] == x and rows[v, 2] == y and rows[v, 3] == z):
                    break
                slot = (slot + 1) & mask
            if v < 0:
                v = table[slot] = n_voxels
                rows[v, 0], rows[v, 1], rows[v, 2], rows[v, 3] = b, x, y, z
                first[v] = i
                n_voxels += 1
            inverse[i] = v
        return n_voxels

    @numba.njit(cache=False)
    def lists(inverse, n_voxels, start, points):
        start[:n_voxels + 1] = 0
        for v in inverse:
            start[v] += 1
        total = 0
        for v in range(n_voxels):
            total += start[v]
            start[v] = total
        start[n_voxels] = total
        for i in range(len(inverse) - 1, -1, -1):
            start[inverse[i]] -= 1
            points[start[inverse[i]]] = i

    return quantize, lists


def numba_peer():
    quantize, lists = numba_functions()

    def prepared(coords):
        n = len(coords)
        bits = max(1, (n + n // 2 - 1).bit_length())
        room = [np.empty(n, np.int32), np.empty(n, np.int32), np.empty((n, 4), np.int32),
                np.empty(1 << bits, np.int32)]
        start, points = np.empty(n + 1, np.int32), np.empty(n, np.int32)

        def sparse():
            return quantize(coords, np.uint64(64 - bits), *room)

        def maps():
            lists(room[1], sparse(), start, points)
        return {"voxelize": maps, "sparse_quantize": sparse}
    return prepared


def torch_peer():
    import torch

    torch.set_num_threads(1)

    def prepared(coords):
        points = torch.from_numpy(coords)
        return {"sparse_quantize": lambda: torch.unique(points, dim=0, return_inverse=True)}
    return prepared


def open3d_peer():
    import open3d.core as o3c

    def prepared(coords):
        points = o3c.Tensor(coords)

        def insert():
            o3c.HashSet(len(coords), o3c.int32, (4,), o3c.Device("CPU:0")).insert(points)
        return {"sparse_quantize": insert}
    return prepared


PEERS = {"numba": numba_peer, "torch": torch_peer, "Open3D": open3d_peer}


def importable():
    found = {}
    for name, make in PEERS.items():
        try:
            found[name] = make()
        except ImportError as e:
            print(f"{name} is left out: {e}", file=sys.stderr)
    return found


def cpu_ms(call):
    begin = time.process_time()
    call()
    return (time.process_time() - begin) * 1e3


def times_of(calls, rounds, slow_rounds):
    """By (peer, kernel), the least; peers take turns. The first round compiles and touches memory."""
    times = {}
    for turn in range(rounds + 1):
        for (peer, kernel), call in calls.items():
            if peer != "numba" and turn > slow_rounds:
                continue
            ms = cpu_ms(call)
            if turn:
                times.setdefault((peer, kernel), []).append(ms)
    return {key: min(all_ms) for key, all_ms in times.items()}


def main():
    parser = argparse.ArgumentParser(description="voxels beside numba, torch and Open3D")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--slow-rounds", type=int, default=3, help="of torch and Open3D")
    arguments = parser.parse_args()
    lab, data = os.environ.get("SEEP_LAB", "build/seep-lab"), os.environ.get("SEEP_DATA")
    peers, ours, theirs = importable(), [lab_times(lab, data, "voxels, one thread")], {}
    for name in [name for name in INPUTS if data or name.startswith("random")]:
        coords = coordinates(name, data)
        calls = {(peer, kernel): call for peer, make in peers.items() for kernel, call in make(coords).items()}
        theirs[name] = times_of(calls, arguments.rounds, arguments.slow_rounds)
    ours.append(lab_times(lab, data, "voxels, one thread"))
    print(f"CPU time, ms, one thread; the least of {arguments.rounds} rounds, of {arguments.slow_rounds} for torch "
          "and Open3D")
    columns = [(peer, kernel) for kernel in ("voxelize", "sparse_quantize") for peer in peers
               if any((peer, kernel) in times for times in theirs.values())]
    print(f"{'input':14}" + "".join(f" {w:>24}" for w in ("voxelize", "sparse_quantize"))
          + "".join(f" {peer + ' ' + kernel:>24}" for peer, kernel in columns))
    for name, times in theirs.items():
        mine = [min(run[name, kernel]["chosen_ms"] for run in ours) for kernel in ("voxelize", "sparse_quantize")]
        print(f"{name:14}" + "".join(f" {ms:24.2f}" for ms in mine)
              + "".join(f" {times[column]:24.2f}" for column in columns))
    return 0


if __name__ == "__main__":
    sys.exit(main())
