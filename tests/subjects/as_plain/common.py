"""Programs that tell what they meet: each a function, run as `THEME.py NAME`, whose output is the same in every run.

Each grows first, by steps where seep is there to count them, so that copies of it have been made and the last one has
just begun: under seep nothing of that may show."""
import ctypes
import errno
import os
import sys
import time

try:
    from seep import step as _step
except ImportError:
    def _step():
        pass

libc = ctypes.CDLL(None, use_errno=True)
LOOKED_AT = 40  # steps after which a copy is due: 6, 12, 18, 27, 40
_kept = []
programs = {}


def program(function):
    programs[function.__name__] = function
    return function


def grow(steps=LOOKED_AT):
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
