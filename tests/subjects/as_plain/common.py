"""Programs that print what they see: each a function, run as `THEME.py NAME`, whose output is the same in every run.

Each grows first, by steps if seep is there to count them, so that copies of it were made and the last one has just
begun: nothing of that may show under seep. With WITHOUT_STEPS in the environment there are no steps, and it grows until
a copy that is due by time has been made."""
import ctypes
import errno
import os
import sys
import threading
import time

try:
    from seep import step as _step
except ImportError:
    def _step():
        pass

libc = ctypes.CDLL(None, use_errno=True)
LOOKED_AT = 36  # steps after which a copy is due: 6, 12, 18, 36
BY_TIME = 1.5  # seconds after which one has been due by time, of a process that has just begun: 1, 2, 4…
_begun = time.monotonic()
_without_steps = "WITHOUT_STEPS" in os.environ
_kept = []
programs = {}


def program(function):
    programs[function.__name__] = function
    return function


def _is_copied():
    try:
        with open("/proc/self/task/%d/children" % threading.get_native_id()) as f:
            children = f.read().split()
        return any(open("/proc/%s/comm" % pid).read() == "seep-copy\n" for pid in children)
    except OSError:  # one has just ended, or nothing can be opened any more
        return False


def _sizes(seconds, steps):
    until = max(_begun + BY_TIME, time.monotonic() + 0.2) if steps == LOOKED_AT else time.monotonic() + seconds
    while time.monotonic() < until and not (steps == LOOKED_AT and _is_copied()):
        time.sleep(0.005)
        yield 100000


def grow(steps=LOOKED_AT):
    if _without_steps:  # nor a loop around what allocates, which would be taken for the training's
        _kept.extend(map(bytearray, _sizes(0.005 * steps, steps)))
        return
    for _ in range(steps):
        _kept.append(bytearray(100000))
        time.sleep(0.005)
        _step()


def error_of(function, *args):
    """The name of the error that it ends with, or "ok"."""
    try:
        function(*args)
    except OSError as e:
        return errno.errorcode[e.errno]
    return "ok"


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def status_of(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def child(function, *args):
    """Runs it in a child; how that ended."""
    pid = os.fork()
    if pid == 0:
        try:
            function(*args)
        except OSError as e:
            print(errno.errorcode[e.errno])
        sys.stdout.flush()
        os._exit(0)
    return status_of(pid)


def main():
    if sys.argv[1] == "--list":
        print("\n".join(programs))
    else:
        sys.exit(programs[sys.argv[1]]())
