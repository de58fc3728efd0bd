"""Digests of many nodes: fleet.py FOLDER [--nodes N…]. Records four kinds of ranks, makes nodes of 8 ranks and 64 loader
workers of them (node_of.c), digests these, and takes them as examples for as many nodes as it is asked for: each gets
ranks, a host and values of its own, and one of all ranks leaks. Then it merges them, and prints what that takes."""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SEEP = os.environ.get("SEEP", str(HERE.parent.parent / "build/seep"))
NODE_OF = str(HERE.parent.parent / "build/tests/fleet/node_of")
RANKS = 8  # of a node
KINDS = {"plain": [], "hoard": ["--hoard"], "wide": ["--width", "512"], "leak": ["--leak", "256"]}


def record(folder):
    """A folder for each kind of rank. They run at once, as ranks do."""
    jobs = {}
    for kind, options in KINDS.items():
        command = [SEEP, "run", "-q", "-o", str(folder / kind), "--", sys.executable, "-W", "ignore", str(HERE / "train.py")]
        # Not of a launch: the folder is to have this name.
        environment = dict(os.environ, RANK="0", LOCAL_RANK="0", WORLD_SIZE="1")
        jobs[kind] = subprocess.Popen(command + options, env=environment)
    if any([job.wait() for job in jobs.values()]):
        raise SystemExit("a recorded job failed")


def measured(command):
    """Seconds, seconds of CPU and peak of resident bytes of a command."""
    began = time.monotonic()
    pid = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit("%s: status %d" % (" ".join(command[:4]), status))
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def real_nodes(folder, n):
    """Digests of n nodes made of recorded profiles, the first with a rank that leaks, and what making each takes."""
    made, takes, dice = [], [], random.Random(5)
    for node in range(n):
        kinds = [dice.choice(["plain", "hoard", "wide"]) for _ in range(RANKS)]
        if node == 0:
            kinds[3] = "leak"
        out, digest = folder / ("profiles%d" % node), folder / ("real%d.digest" % node)
        subprocess.run([NODE_OF, str(node), "node%05d" % node, str(n * RANKS), str(out)] + [str(folder / k) for k in kinds],
                       check=True)
        takes.append(measured([SEEP, "digest", str(out), "-o", str(digest)]))
        subprocess.run(["rm", "-r", str(out)], check=True)
        made.append(json.loads(digest.read_text()))
    return made, takes


def relabel(example, node, world, dice):
    """The digest of another node like this one."""
    host, first = "node%05d" % node, node * RANKS
    scale = dice.uniform(0.9, 1.1)
    old_first = None

    def name(who):
        who["host"] = host
        who["rank"] = first + who["local_rank"]
        return who

    digest = json.loads(json.dumps(example))
    digest["hosts"], digest["sources"] = [host], [node + 1]
    digest["numbers"]["world_size"] = world
    digest["ranks"] = "0" * (first // 4) + "f" * (RANKS // 4)
    for kind in ("processes", "ends", "spaces", "sites", "rest", "findings", "folded"):
        for row in digest[kind]:
            name(row["max"])
            if kind == "sites":  # the digest of the real node is exact; these are like it
                row["sum"] = int(row["sum"] * scale)
    for row in digest["findings"]:
        old_first = row["least_rank"] // RANKS * RANKS
        row["least_host"] = row["most_host"] = host
        row["least_rank"] += first - old_first
        row["most_rank"] += first - old_first
    for top in digest["tops"]:
        for who in top["processes"]:
            name(who)
    for cell in digest["cells"]:
        cell[0] = node
    return digest


def write_nodes(examples, folder, n, leaking):
    """Digests of n nodes, of which one leaks. Returns their paths."""
    dice, paths = random.Random(11), []
    for node in range(n):
        path = folder / ("node%05d.digest" % node)
        example = examples[0] if node == leaking else examples[1 + node % (len(examples) - 1)]
        path.write_text(json.dumps(relabel(example, node, n * RANKS, dice), separators=(",", ":")) + "\n")
        paths.append(str(path))
    return paths


def merge(folder, n, examples):
    leaking = n * 2 // 3
    paths = write_nodes(examples, folder, n, leaking)
    size = sum(os.path.getsize(p) for p in paths)
    out = str(folder / ("merged%d.digest" % n))
    took, cpu, peak = measured([SEEP, "merge", *paths, "-o", out])
    report = json.loads(subprocess.run([SEEP, "report", out, "--format", "json"], stdout=subprocess.PIPE, check=True).stdout)
    first = report["findings"][0]
    rank = leaking * RANKS + 3
    if first["severity"] != "leak" or first["spread"]["least_rank"] != rank or first["spread"]["processes"] != 1:
        raise SystemExit("not the leaking rank %d comes first, but: %s" % (rank, first["title"]))
    print("%6d nodes, %7d processes: read %6.1f MB, merged in %6.2f s (%6.2f s of CPU), peak %4.0f MB, %4.2f MB written"
          % (n, report["digest"]["processes"], size / 1e6, took, cpu, peak / 1e6, os.path.getsize(out) / 1e6), flush=True)
    for path in paths:
        os.remove(path)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--nodes", type=int, nargs="+", default=[10, 100, 1000, 10000])
    options.add_argument("--real", type=int, default=12, help="nodes made of recorded profiles")
    options = options.parse_args()
    options.folder.mkdir(parents=True)
    record(options.folder)
    examples, takes = real_nodes(options.folder, options.real)
    takes.sort()
    print("digest of a node of %d processes: median %.2f s, at most %.2f s; peak %.0f MB"
          % (9 * RANKS, takes[len(takes) // 2][0], takes[-1][0], max(t[2] for t in takes) / 1e6), flush=True)
    for n in options.nodes:
        merge(options.folder, n, examples)


if __name__ == "__main__":
    main()
