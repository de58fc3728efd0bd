"""event_instructions.py FOLDER: what an event costs on 64-bit Arm and on x86-64, in instructions, by the same emulator.

A training's step is replayed (tests/subjects/training_step.c) with and without the library, few times and more: what the
replays in between cost more with it, by their events. FOLDER has seep for Arm (`make check-arm`), build/ that for x86-64.
Status 1 where Arm takes more than 1.2 times as many."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FEW, MORE, MOST_RATIO = 3, 13, 1.2


def instructions(emulator, plugin, built, steps, recorded):
    with tempfile.TemporaryDirectory() as folder:
        preload = ["-E", "LD_PRELOAD=%s" % (built / "libseep.so"), "-E", "SEEP_OUT=" + os.path.join(folder, "out"),
                   "-E", "SEEP_OVERHEAD=off"] if recorded else []
        done = subprocess.run([*emulator, "-plugin", plugin, *preload, built / "subjects/training_step", "0", "1", str(steps)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
        if recorded and not os.listdir(folder):
            sys.exit("%s recorded nothing: %s" % (built, done.stderr))
    return int(re.search(r"instructions (\d+)", done.stderr)[1])


def of_an_event(emulator, plugin, built, events):
    cost = {(steps, recorded): instructions(emulator, plugin, built, steps, recorded)
            for steps in (FEW, MORE) for recorded in (False, True)}
    more = {recorded: cost[MORE, recorded] - cost[FEW, recorded] for recorded in (False, True)}
    return (more[True] - more[False]) / ((MORE - FEW) * events)


def main(folder):
    folder, x86 = pathlib.Path(folder).resolve(), ROOT / "build"
    for emulator in ("qemu-x86_64", "qemu-aarch64"):
        if not shutil.which(emulator):
            sys.exit("%s is missing, the one that loads plugins: apt-get install qemu-user" % emulator)
    events = len(re.findall(r"\{\d+,\d+\}", (ROOT / "tests/subjects/training_step.def").read_text()))
    with tempfile.TemporaryDirectory() as made:
        plugin = os.path.join(made, "event_instructions.so")
        subprocess.run(["gcc", "-O2", "-fPIC", "-shared", "-o", plugin, ROOT / "tests/arm/event_instructions.c"], check=True)
        here = of_an_event(["qemu-x86_64"], plugin, x86, events)
        arm = of_an_event(["qemu-aarch64", "-L", folder / "root"], plugin, folder / "seep", events)
    print("instructions an event: x86-64 %.0f, 64-bit Arm %.0f, ratio %.2f (at most %.1f)" % (here, arm, arm / here, MOST_RATIO))
    return int(arm / here > MOST_RATIO)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
