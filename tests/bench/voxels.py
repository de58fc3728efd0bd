#!/usr/bin/python3
"""seep-lab's voxelize beside NumPy, alternately in one run: medians.

    tests/bench/voxels.py [--rounds N]

SEEP_LAB names seep-lab (build/seep-lab), SEEP_DATA the folder of lidar-pc.npz, which is left out without it.

NumPy gets the same input as seep_voxelize(), integer coordinates, and makes the same output: voxels,
the first point of each, and the voxel of each point; once with np.unique(axis=0), once with one
64-bit number per point, including the time to make it. Our second column also includes the
quantisation. "plain C" is kernels/voxels/voxel_baseline.c, one thread. Random points are drawn from
the same distributions on both sides, and the sweep is the same file. Our times include lists of the
points of each voxel, which NumPy does not make here.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np

# Those of kernels/voxels/voxel_inputs.c.
INPUTS = ("LiDAR 5 cm", "LiDAR 20 cm", "four sweeps", "random 20^3", "random 64^3", "random 100^3", "random 200^3",
          "random 1000^3")


def lab_times(lab, data, table):
    command = [lab, "bench", "voxels", "--json"] + (["--data", data] if data else [])
    out = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return {(e["input"], e["kernel"]): e for e in out[table]}


def turned(points, k):
    c, s = np.float32(np.cos(0.3 * k)), np.float32(np.sin(0.3 * k))
    x, y, z = points.T
    return np.stack([x * c - y * s, x * s + y * c, z], axis=1) if k else points


def coordinates(name, data):
    """[n][4]: batch, x, y, z."""
    if name.startswith("random"):
        side = int(name.split()[1].split("^")[0])
        cells = np.random.default_rng(1).integers(0, side, (1_000_000, 3)).astype(np.int32)
        return np.insert(cells, 0, 0, axis=1)
    points = np.load(os.path.join(data, "lidar-pc.npz"))["pc"]
    size = np.float32(0.2 if "20 cm" in name else 0.05)
    return np.concatenate([np.insert(np.floor(turned(points, k) / size).astype(np.int32), 0, k, axis=1)
                           for k in range(4 if name == "four sweeps" else 1)])


def by_rows(coords):
    return np.unique(coords, axis=0, return_index=True, return_inverse=True)


def by_number(coords):
    low = coords.min(0).astype(np.int64)
    sides = coords.max(0) - low + 1
    b, x, y, z = (coords - low).T
    return np.unique(((b * sides[1] + x) * sides[2] + y) * sides[3] + z, return_index=True, return_inverse=True)


def timed_ms(call, *arguments):
    start = time.perf_counter()
    call(*arguments)
    return (time.perf_counter() - start) * 1e3


def main():
    parser = argparse.ArgumentParser(description="voxelize beside np.unique")
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    lab = os.environ.get("SEEP_LAB", "build/seep-lab")
    data = os.environ.get("SEEP_DATA")
    first = lab_times(lab, data, "voxels")
    inputs = list(dict.fromkeys(name for name, _ in first))
    times = {name: {"ours": [], "quantized": [], "map": [], "rows": [], "number": []}
             for name in inputs}
    for _ in range(rounds):
        ours = lab_times(lab, data, "voxels")
        for name in inputs:
            t = times[name]
            coords = coordinates(name, data)
            t["ours"].append(ours[name, "voxelize"]["median_ms"])
            t["map"].append(ours[name, "voxelize"]["baseline_ms"])
            t["quantized"].append(ours[name, "quantize and voxelize"]["median_ms"])
            t["rows"].append(timed_ms(by_rows, coords))
            t["number"].append(timed_ms(by_number, coords))
    print(f"NumPy {np.__version__}; medians of {rounds} rounds, ms; in brackets: times of ours")
    print(f"{'input':14} {'points':>8} {'voxels':>8} {'voxelize':>9} {'+quantize':>9} "
          f"{'unique(axis=0)':>18} {'unique(number)':>18} {'plain C':>18}")
    for name in inputs:
        m = {key: statistics.median(values) for key, values in times[name].items()}
        entry = first[name, "voxelize"]
        beside = " ".join(f"{m[key]:10.2f} ({m[key] / m['ours']:5.1f})"
                          for key in ("rows", "number", "map"))
        print(f"{name:14} {entry['points']:8} {entry['voxels']:8} {m['ours']:9.2f} "
              f"{m['quantized']:9.2f} {beside}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
