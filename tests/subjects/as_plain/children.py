"""Which children a process is told of, what it learns about them, and what they learn about it."""
import ctypes
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time

from common import checked, child, error_of, grow, libc, main, program, status_of

CHILD_SUBREAPER, DEATH_SIGNAL = 36, 1


def short_child():
    pid = os.fork()
    if pid == 0:
        os._exit(7)
    return pid


def count(number, seen):
    signal.signal(number, lambda *_: seen.append(number))


@program
def nobody_to_wait_for():
    grow()
    print(error_of(os.wait), error_of(os.waitpid, -1, os.WNOHANG))


@program
def nobody_to_wait_for_in_the_group():
    grow()
    print(error_of(os.waitpid, 0, os.WNOHANG), error_of(os.waitid, os.P_ALL, 0, os.WEXITED | os.WNOHANG))


@program
def wait_meets_only_its_own():
    pid = short_child()
    grow()
    found, status = os.wait()
    print(found == pid, os.waitstatus_to_exitcode(status), error_of(os.wait))


@program
def wait_can_look_first():
    pid = short_child()
    grow()
    first = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
    print(first.si_pid == pid, first.si_status, status_of(pid))


@program
def ends_are_told_once():
    seen = []
    count(signal.SIGCHLD, seen)
    pid = short_child()
    os.waitpid(pid, 0)
    grow()
    print(len(seen))


@program
def children_that_nobody_waits_for():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    short_child()
    grow()
    print(error_of(os.wait))


@program
def list_of_children_is_empty():
    grow()
    for _ in range(15):  # what has ended is taken at a step
        time.sleep(0.2)
        grow(1)
        with open("/proc/self/task/%d/children" % threading.get_native_id()) as f:
            n = len(f.read().split())
        if not n:
            break
    print(n)


@program
def supervisor_hears_of_its_workers_alone():
    checked(libc.prctl(CHILD_SUBREAPER, 1, 0, 0, 0))
    seen = []
    count(signal.SIGCHLD, seen)
    worker = os.fork()
    if worker == 0:
        grow()
        sys.exit(3)
    known = []
    while True:
        try:
            pid, status = os.wait()
        except ChildProcessError:
            break
        known.append((pid == worker, os.waitstatus_to_exitcode(status)))
    print(known, len(seen))


@program
def supervisor_of_a_program():
    checked(libc.prctl(CHILD_SUBREAPER, 1, 0, 0, 0))
    program_text = "import sys; sys.path.insert(0, %r); sys.argv[1:] = ['--list']; import common; common.grow()" % \
        os.path.dirname(os.path.abspath(__file__))
    p = subprocess.Popen([sys.executable, "-S", "-c", program_text])
    ended = []
    while True:
        try:
            pid, status = os.wait()
        except ChildProcessError:
            break
        ended.append((pid == p.pid, status))
    print(ended)


@program
def orphan_knows_its_new_parent():
    r, w = os.pipe()
    middle = os.fork()
    if middle == 0:
        if os.fork() == 0:
            parent = os.getppid()
            os.write(w, b"-")
            grow()
            for _ in range(2000):
                if os.getppid() != parent:
                    break
                time.sleep(0.001)
            os.write(w, b"init" if os.getppid() == 1 else b"another" if os.getppid() != parent else b"none")
            os._exit(0)
        os.read(r, 1)
        os._exit(0)
    os.waitpid(middle, 0)
    os.close(w)
    print("parent", os.read(r, 10))


@program
def group_is_empty_when_its_only_process_has_ended():
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        grow()
        os._exit(0)
    os.waitpid(pid, 0)
    print(error_of(os.killpg, pid, 0))


@program
def session_is_empty_when_its_only_process_has_ended():
    pid = os.fork()
    if pid == 0:
        os.setsid()
        grow()
        os._exit(0)
    os.waitpid(pid, 0)
    members = 0
    for name in os.listdir("/proc"):
        try:
            members += name.isdigit() and os.getsid(int(name)) == pid
        except OSError:
            pass
    print(members)


@program
def signal_to_the_group_reaches_its_own():
    def in_a_group():
        seen = []
        count(signal.SIGUSR1, seen)
        os.setpgid(0, 0)
        grow()
        os.killpg(0, signal.SIGUSR1)
        print(len(seen))
    print(child(in_a_group))


@program
def killed_group_is_gone():
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        grow()
        signal.pause()
    time.sleep(0.5)
    os.kill(pid, signal.SIGKILL)
    print(status_of(pid), error_of(os.killpg, pid, 0))


@program
def descriptor_of_a_process():
    pid = os.fork()
    if pid == 0:
        grow()
        os._exit(5)
    fd = os.pidfd_open(pid)
    print(bool(select.select([fd], [], [], 10)[0]), status_of(pid))


@program
def parent_that_goes_is_told():
    """PR_SET_PDEATHSIG of a grandchild."""
    r, w = os.pipe()
    middle = os.fork()
    if middle == 0:
        if os.fork() == 0:
            signal.signal(signal.SIGUSR1, lambda *_: (os.write(w, b"told"), os._exit(0)))
            libc.prctl(DEATH_SIGNAL, signal.SIGUSR1, 0, 0, 0)
            os.write(w, b"-")
            time.sleep(10)
            os._exit(1)
        os.read(r, 1)
        grow()
        os._exit(0)
    os.waitpid(middle, 0)
    os.close(w)
    print(os.read(r, 10))


@program
def own_death_signal_stays():
    libc.prctl(DEATH_SIGNAL, signal.SIGUSR2, 0, 0, 0)
    grow()
    value = ctypes.c_int()
    libc.prctl(2, ctypes.byref(value), 0, 0, 0)
    print(value.value == signal.SIGUSR2)


@program
def handlers_of_fork_are_called_for_its_own():
    calls = []
    os.register_at_fork(before=lambda: calls.append("before"), after_in_parent=lambda: calls.append("after"))
    grow()
    os.waitpid(short_child(), 0)
    print(calls)


@program
def native_handlers_of_fork_are_called_for_its_own():
    calls = []
    kind = ctypes.CFUNCTYPE(None)
    before = kind(lambda: calls.append(1))
    checked(libc.__register_atfork(before, kind(), kind(), None))
    grow()
    os.waitpid(short_child(), 0)
    print(len(calls))


@program
def command_is_not_found_once_it_has_ended():
    name = "as-plain-%d" % os.getpid()
    text = "import sys; sys.path.insert(0, %r); import common; common.grow()" % \
        os.path.dirname(os.path.abspath(__file__))
    subprocess.run([sys.executable, "-S", "-c", text, name], check=True)
    found = 0
    for pid in os.listdir("/proc"):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as f:
                found += pid.isdigit() and name.encode() in f.read()
        except OSError:
            pass
    print(found)


@program
def program_that_follows_has_no_children():
    grow()
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-S", "-c",
                              "import os\ntry:\n os.wait()\nexcept ChildProcessError:\n print('none')"])


@program
def program_that_a_thread_starts():
    grow()
    t = threading.Thread(target=os.execv, args=(sys.executable, [sys.executable, "-S", "-c", "print('other')"]))
    t.start()
    t.join()


@program
def spawned_child():
    pid = os.posix_spawn("/bin/sh", ["sh", "-c", "exit 4"], os.environ)
    grow()
    print(status_of(pid), error_of(os.wait))


@program
def child_of_vfork():
    grow()
    print(subprocess.run(["/bin/sh", "-c", "exit 9"]).returncode, error_of(os.wait))


@program
def children_in_children():
    def nested():
        grow()
        child(grow, 12)
        print(error_of(os.wait))
    print(child(nested), error_of(os.wait))


@program
def pool_of_workers():
    workers = []
    for i in range(4):
        pid = os.fork()
        if pid == 0:
            grow(15)
            os._exit(i)
        workers.append(pid)
    print([status_of(pid) for pid in workers], error_of(os.wait))


@program
def times_of_children_are_small():
    """What copies cost is the job's, and no more than moments."""
    grow()
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime < 2)


@program
def ends_by_a_signal():
    grow()
    os.kill(os.getpid(), signal.SIGTERM)


@program
def ends_by_abort():
    grow()
    os.abort()


@program
def ends_at_once():
    grow()
    sys.stdout.write("last words\n")
    sys.stdout.flush()
    os._exit(11)


@program
def ends_by_sysexit_in_a_thread():
    t = threading.Thread(target=lambda: (grow(), os._exit(12)))
    t.start()
    t.join()


main()
