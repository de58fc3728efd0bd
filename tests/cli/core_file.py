"""Core files of processes that go on: what the kernel would write (core(5)), read from /proc/PID/mem."""
import os
import signal
import struct

PAGE = 4096
PT_LOAD, PT_NOTE = 1, 4
MANY = 0xffff  # PN_XNUM
NT_PRPSINFO, NT_AUXV, NT_FILE = 3, 6, 0x46494c45


def note(kind, text):
    return struct.pack("<3I", 5, len(text), kind) + b"CORE\0\0\0\0" + text + bytes(-len(text) % 4)


def process_note(pid, parent, command):
    return note(NT_PRPSINFO, struct.pack("<4b4xQ2I4i16s80s", 0, ord("R"), 0, 0, 0, 0, 0, pid, parent, pid, pid,
                                         os.path.basename(command.split(b" ")[0])[:15], command[:79]))


def files_note(files):
    """Of [(start, end, offset in bytes, name)]."""
    head = struct.pack("<2Q", len(files), PAGE) + b"".join(struct.pack("<3Q", s, e, o // PAGE) for s, e, o, _ in files)
    return note(NT_FILE, head + b"".join(name + b"\0" for *_, name in files))


def assemble(segments, notes):
    """Yields the bytes of a core file. segments: [(start, end, flags, contents)], contents up to as long as it."""
    n = len(segments) + 1
    at = 64 + 56 * n
    if n < MANY:
        yield struct.pack("<16s2HI3QI6H", b"\x7fELF\2\1\1", 4, 62, 1, 0, 64, 0, 0, 64, 56, n, 0, 0, 0)
    else:  # then a section has their number, which is put behind them
        yield struct.pack("<16s2HI3QI6H", b"\x7fELF\2\1\1", 4, 62, 1, 0, 64, at, 0, 64, 56, MANY, 64, 1, 0)
        at += 64
    yield struct.pack("<2I6Q", PT_NOTE, 4, at, 0, 0, len(notes), 0, 4)
    at += len(notes)
    for start, end, flags, contents in segments:
        yield struct.pack("<2I6Q", PT_LOAD, flags, at, start, 0, len(contents), end - start, PAGE)
        at += len(contents)
    if n >= MANY:
        yield struct.pack("<2I4Q2I2Q", 0, 0, 0, 0, 0, 0, 0, n, 0, 0)
    yield notes
    for *_, contents in segments:
        yield contents


def mappings(pid):
    """[(start, end, rights, offset, name, bytes of it that the process has changed)]"""
    found = []
    with open("/proc/%d/smaps" % pid, "rb") as f:
        for line in f:
            words = line.split(None, 5)
            if words[0].endswith(b":"):
                if words[0] == b"Anonymous:":
                    found[-1][-1] = int(words[1]) << 10
                continue
            start, end = (int(word, 16) for word in words[0].split(b"-"))
            found.append([start, end, words[1].decode(), int(words[2], 16), words[5].rstrip(b"\n") if len(words) > 5 else b"", 0])
    return [m for m in found if m[4] not in (b"[vvar]", b"[vsyscall]", b"[vvar_vclock]")]


def contents(memory, mapping, memory_too, headers_too):
    """As with the usual coredump_filter; without memory, or without the first pages of programs, where that is asked."""
    start, end, rights, offset, name, changed = mapping
    size = 0
    if "r" in rights and "p" in rights and (changed or (not name.startswith(b"/") and "w" in rights)):
        size = end - start if memory_too or name else 0
    elif "r" in rights and "p" in rights and offset == 0 and name.startswith(b"/") and headers_too:
        memory.seek(start)
        size = PAGE if memory.read(4) == b"\x7fELF" else 0
    memory.seek(start)
    return memory.read(size)


def write(pid, path, memory_too=True, headers_too=True):
    """Writes a core file of a process, which stands still meanwhile."""
    os.kill(pid, signal.SIGSTOP)
    try:
        found = mappings(pid)
        with open("/proc/%d/mem" % pid, "rb", buffering=0) as memory:
            flags = [4, 2, 1]  # PF_R, PF_W, PF_X
            segments = [(m[0], m[1], sum(flag for flag, right in zip(flags, m[2]) if right != "-"),
                         contents(memory, m, memory_too, headers_too)) for m in found]
        with open("/proc/%d/auxv" % pid, "rb") as f:
            auxiliary = note(NT_AUXV, f.read())
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            command = f.read().replace(b"\0", b" ")
    finally:
        os.kill(pid, signal.SIGCONT)
    files = files_note([(m[0], m[1], m[3], m[4]) for m in found if m[4].startswith(b"/")])
    with open(path, "wb") as f:
        f.writelines(assemble(segments, process_note(pid, os.getpid(), command) + auxiliary + files))
