"""%seep look, and %%seep for a cell: what holds the memory of the notebook's kernel, and what grew while a cell ran.

`seep look` reads the kernel from outside, whether it runs under seep or not."""
import ctypes
import json
import os
import shlex
import subprocess
import sys

from seep import command
from seep.sizes import size_text

USAGE = "%seep look [options of `seep look`], or %%seep at the head of a cell"
PR_SET_PTRACER = 0x59616D61
SHOWN = 10


def register(shell):
    shell.register_magic_function(line_magic, "line", "seep")
    shell.register_magic_function(lambda line, cell: cell_magic(shell, line, cell), "cell", "seep")


def line_magic(line):
    """%seep look: what holds the memory of this kernel."""
    words = words_of(line)
    if words[:1] != ["look"]:
        print("seep: %s" % USAGE, file=sys.stderr)
        return
    # The shell waits until the kernel allows it to be read, and then becomes the command.
    look = Look(["/bin/sh", "-c", 'read -r _ && exec "$@"', "sh"], words[1:])
    if look.started:
        try:
            out, err = look.child.communicate("\n")
            sys.stdout.write(out)
            sys.stderr.write(err)
        finally:
            look.end()


def cell_magic(shell, line, cell):
    """%%seep: runs the cell, and shows what the kernel holds more of than before."""
    look = Look([], words_of(line) + ["--each-line", "--format", "json"])
    before = look.started and look.take()
    try:
        shell.run_cell(cell)
        if before and look.take():
            out, err = look.child.communicate()
            if look.child.returncode in (0, 1):  # 1: something grows
                if out:  # not with --output
                    print(growth_of(json.loads(out)))
            else:
                sys.stderr.write(err)
    finally:
        look.end()


def words_of(line):
    """One whose quotes do not end is a word, which `seep look` refuses."""
    try:
        return shlex.split(line)
    except ValueError:
        return [line]


class Look:
    """`seep look` of this process, by a child: which may not read its parent everywhere, unless that allows it."""

    def __init__(self, before, options):
        self.started, self.child = False, None
        try:
            words = before + [command.find_seep(), "look"] + options + [str(os.getpid())]
            self.child = subprocess.Popen(words, env=dict(command.unrecorded(), COLUMNS="100"), stdin=subprocess.PIPE,
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                                          errors="replace")
        except OSError as e:
            print("seep: %s" % e, file=sys.stderr)
            return
        self.started = True
        allow(self.child.pid)

    def take(self):
        """Has it look, and waits until it has. False after it has said why it cannot."""
        try:
            self.child.stdin.write("\n")
            self.child.stdin.flush()
        except OSError:
            pass  # it has ended, and said why
        said = self.child.stderr.readline()
        if said.startswith("seep: look "):
            return True
        sys.stderr.write(said or "seep: the cell was not looked at, because `seep look` has ended: run it again\n")
        return False

    def end(self):
        if self.child:
            allow(0)
            self.child.kill()
            try:
                self.child.communicate()  # closes its pipes; unlike close(), without a word where it no longer reads
            except ValueError:
                pass  # that was done before


def allow(pid):
    """Where Yama is in force, a process is read by its ancestors only, and by whom it names; 0: by nobody else."""
    ctypes.CDLL(None).prctl(PR_SET_PTRACER, ctypes.c_ulong(pid), 0, 0, 0)


def growth_of(document):
    """The difference of the two looks."""
    first, last = document["looks"][0], document["looks"][-1]
    lines = ["live memory %s to %s, RSS %s" % (signed(last["live_bytes"] - first["live_bytes"]),
                                               size_text(last["live_bytes"]),
                                               signed((last["rss_bytes"] or 0) - (first["rss_bytes"] or 0)))]
    grown = [h for h in document["holders"] if h["growth"] != "no" and not h["by_another"]]
    # Through frames of the notebook itself, what is new is another path to what was there.
    grown = [h for h in grown if h["retained_by_look"][0] is not None or not is_of_notebook(h["path"]["root"])]
    lines += [text for _, text in sorted(map(holder_line, grown), reverse=True)[:SHOWN]]
    return "\n".join(lines if grown else lines + ["nothing holds 64 KiB more than before"])


def is_of_notebook(root):
    file = root["file"] or ""
    return root["kind"] == "local" and (file == __file__ or "/IPython/" in file or "/ipykernel/" in file)


def holder_line(holder):
    """(what it grew by where it grew most, text)"""
    of = dict({"": holder["retained_by_look"]}, **holder["device_bytes_by_look"])
    more = {device: (sizes[-1] or 0) - (sizes[0] or 0) for device, sizes in of.items()}
    text = ", ".join(signed(m) + (" on " + device if device else "") for device, m in more.items() if m)
    text += "  " + holder["path"]["text"]
    for made in (holder["made_at"] or ())[:1]:
        frame = made["frame"]
        if frame["file"]:
            text += "\n    made at %s:%s in %s" % (frame["file"], frame["line"], frame["function"])
    return max(more.values()), text


def signed(size):
    return ("-" if size < 0 else "+") + size_text(abs(size))
