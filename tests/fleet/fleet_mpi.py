"""Digests of many nodes, merged over MPI: fleet_mpi.py FOLDER [--ranks N…] [--nodes N]. The digests of real nodes that
fleet.py has left in FOLDER are examples for N nodes, or one for each rank. The ranks divide them, and what they merge is
compared with what `seep merge` makes of them. All ranks are on this machine: if it has fewer CPUs, they take turns."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess

from fleet import SEEP, write_nodes

LAUNCHERS = {"openmpi": ["mpiexec.openmpi", "--oversubscribe", "--allow-run-as-root"], "mpich": ["mpiexec.mpich"]}


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--ranks", type=int, nargs="+", default=[1, 8, 64])
    options.add_argument("--nodes", type=int, help="as many as ranks without it")
    options.add_argument("--times", type=int, default=3)
    options = options.parse_args()
    examples = [json.loads(path.read_text()) for path in sorted(options.folder.glob("real*.digest"))]
    expected, out = str(options.folder / "expected.digest"), str(options.folder / "mpi.digest")
    for n in options.ranks:
        paths = write_nodes(examples, options.folder, options.nodes or n, 0)
        subprocess.run([SEEP, "merge", *paths, "-o", expected], check=True)
        for kind, launcher in LAUNCHERS.items():
            program = os.path.join(os.path.dirname(SEEP), "mpi", kind, "seep-mpi")
            if not shutil.which(launcher[0]) or not os.path.exists(program):
                print("no %s: ./bootstrap check installs it, make tests builds seep-mpi with it" % kind)
                continue
            for _ in range(options.times):
                # Hydra cannot take a thousand words.
                command = 'exec "$0" merge --verbose "$1"/node*.digest -o "$2"'
                done = subprocess.run([*launcher, "-n", str(n), "sh", "-c", command, program, options.folder, out],
                                      stderr=subprocess.PIPE, check=True, text=True)
                subprocess.run(["cmp", expected, out], check=True)
                print("%s, %d nodes: %s" % (kind, len(paths), done.stderr.strip().removeprefix("seep: ")), flush=True)
        for path in paths:
            os.remove(path)


if __name__ == "__main__":
    main()
