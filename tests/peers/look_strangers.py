"""`seep look` at programs that nobody wrote for it: what it says holds most, beside what the program itself says of that.

Usage: look_strangers.py, with SEEP; `make look-strangers` installs them, where they can be had."""
import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.request

SEEP = os.environ["SEEP"]
FOLDER = pathlib.Path(__file__).resolve().parent / "look"
NEAR = 0.15  # pympler and sys.getsizeof() count objects, seep look the blocks that they take


def look(pid):
    for _ in range(5):  # on a busy machine it may not stop in time
        done = subprocess.run([SEEP, "look", "--format", "json", str(pid)], capture_output=True, text=True)
        if done.returncode != 2:
            return json.loads(done.stdout)
    sys.exit(done.stderr)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask(port, path):
    for _ in range(300):
        try:
            return urllib.request.urlopen("http://127.0.0.1:%d/%s" % (port, path), timeout=10).read()
        except OSError:
            time.sleep(0.1)
    sys.exit("no answer of port %d" % port)


def web(command, port):
    server = subprocess.Popen(command, cwd=FOLDER, env=dict(os.environ, PORT=str(port)), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        for number in range(200):
            ask(port, "page/%d" % number)
        own = json.loads(ask(port, "own"))
        return own["bytes"], look(own["pid"])
    finally:
        server.terminate()
        server.wait()


def flask():
    return web([sys.executable, "app.py"], free_port())


def gunicorn():
    port = free_port()
    return web([sys.executable, "-m", "gunicorn", "-w", "1", "-b", "127.0.0.1:%d" % port, "app:app"], port)


def jupyter():
    from jupyter_client.manager import start_new_kernel
    manager, client = start_new_kernel()

    def run(code):
        text = []
        client.execute_interactive(code, output_hook=lambda m: text.append(m["content"].get("text", "")), timeout=60)
        return "".join(text)
    try:
        run("import numpy, os, sys; runs = {}")
        run("for i in range(300): runs[i] = numpy.ones(5000)")
        pid, own = map(int, run("print(os.getpid(), sys.getsizeof(runs) + sum(map(sys.getsizeof, runs.values())))").split())
        return own, look(pid)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def script(name):
    job = subprocess.Popen([sys.executable, str(FOLDER / name)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True)
    try:
        lines = iter(job.stdout.readline, "")
        own = next(int(line) for line in lines if line.strip().isdigit())
        return own, look(job.pid)
    finally:
        job.kill()
        job.wait()


PROGRAMS = (
    ("a Jupyter kernel", ("ipykernel", "jupyter_client"), jupyter, ".runs "),
    ("Flask's server", ("flask", "pympler"), flask, "ANSWERS"),
    ("a gunicorn worker", ("gunicorn", "flask", "pympler"), gunicorn, "ANSWERS"),
    ("transformers' Trainer", ("transformers",), lambda: script("trainer.py"), ".kept "),
    ("stable-baselines3's DQN", ("stable_baselines3",), lambda: script("sb3.py"), "(ReplayBuffer)"),
)


def is_here(modules):
    return subprocess.run([sys.executable, "-c", "import " + ", ".join(modules)], capture_output=True).returncode == 0


def main():
    wrong = 0
    for name, modules, run, wanted in PROGRAMS:
        if not is_here(modules):
            print("%-24s skipped: needs %s" % (name, ", ".join(modules)))
            continue
        own, document = run()
        mine = [h for h in document["holders"] if wanted in h["path"]["text"] + " " and h["within"] is None]
        total = sum(h["retained_bytes"] for h in mine)
        first = document["holders"][0]["path"]["text"]
        right = mine and mine[0]["path"]["text"] == first and abs(total - own) <= NEAR * own
        wrong += not right
        print("%-24s %s  %.1f MB by its own count, %.1f MB of %d holders by seep look; largest: %s" % (
            name, "right" if right else "WRONG", own / 1e6, total / 1e6, len(mine), first), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
