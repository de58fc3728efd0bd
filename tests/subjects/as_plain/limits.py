"""Limits, memory, signals, identity and namespaces as a process finds them."""
import ctypes
import mmap
import os
import resource
import signal
import sys
import threading
import time

from common import checked, error_of, grow, libc, main, program

NEW_NS, NEW_PID, NEW_NET, NEW_USER, NEW_UTS, NEW_IPC = 0x20000, 0x20000000, 0x40000000, 0x10000000, 0x4000000, 0x8000000


def numbers_of(key, path="/proc/self/status"):
    with open(path) as f:
        for line in f:
            if line.startswith(key + ":"):
                return line.split()[1:]
    return []


def unshared(flags):
    return libc.unshare(flags) == 0


def limited(kind, value):
    grow(10)
    resource.setrlimit(kind, (value, resource.getrlimit(kind)[1]))
    grow()
    return resource.getrlimit(kind)[0] == value


@program
def few_processes():
    print(limited(resource.RLIMIT_NPROC, 64))


@program
def few_descriptors():
    print(limited(resource.RLIMIT_NOFILE, 20), len([os.dup(0) for _ in range(5)]))


@program
def all_descriptors_taken():
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    grow(10)
    n = 0
    while error_of(os.dup, 0) == "ok":
        n += 1
    grow()
    print(error_of(os.dup, 0), n > 20)


@program
def little_address_space():
    print(limited(resource.RLIMIT_AS, 4 << 30), error_of(mmap.mmap, -1, 5 << 30))


@program
def little_data():
    print(limited(resource.RLIMIT_DATA, 2 << 30))


@program
def little_stack():
    print(limited(resource.RLIMIT_STACK, 1 << 20))


@program
def little_to_lock():
    print(limited(resource.RLIMIT_MEMLOCK, 65536))


@program
def files_have_a_size():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    fd = os.memfd_create("file")
    grow(10)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    os.lseek(fd, 1 << 20, 0)
    print(error_of(os.write, fd, b"x"))


@program
def time_is_up():
    grow(20)
    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
    while True:
        pass


@program
def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    grow()
    os.kill(os.getpid(), signal.SIGQUIT)


@program
def all_is_locked():
    if libc.mlockall(2):
        return print("not permitted")
    grow()
    print(int(numbers_of("VmLck")[0]) > 0, libc.munlockall())


@program
def locked_pages_stay_locked():
    m = mmap.mmap(-1, 65536)
    at = ctypes.c_char.from_buffer(m)
    checked(libc.mlock(ctypes.byref(at), 65536))
    grow()
    print(int(numbers_of("VmLck")[0]) >= 64)


@program
def huge_pages_stay_huge():
    size = 64 << 20
    m = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if not hasattr(mmap, "MADV_HUGEPAGE"):
        return print("none")
    m.madvise(mmap.MADV_HUGEPAGE)
    m[::4096] = b"x" * (size // 4096)
    before = int(numbers_of("AnonHugePages", "/proc/self/smaps_rollup")[0])
    grow()
    m[::4096] = b"y" * (size // 4096)
    time.sleep(0.5)
    after = int(numbers_of("AnonHugePages", "/proc/self/smaps_rollup")[0])
    print("kept", after >= before * 3 // 4)


@program
def page_that_children_do_not_get():
    m = mmap.mmap(-1, 4096)
    m.madvise(mmap.MADV_DONTFORK)
    grow()
    m[0] = 1
    print(m[0])


@program
def page_that_children_find_empty():
    m = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    m[0] = 1
    m.madvise(18)  # MADV_WIPEONFORK
    grow()
    print(m[0])


@program
def nobody_traces():
    grow()
    print(numbers_of("TracerPid"))


@program
def signals_stay_blocked_and_pending():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGRTMIN])
    os.kill(os.getpid(), signal.SIGUSR1)
    os.kill(os.getpid(), signal.SIGRTMIN)
    grow()
    print(sorted(int(s) for s in signal.sigpending()), sorted(int(s) for s in signal.pthread_sigmask(0, [])))


@program
def alarm_rings_once():
    rings = []
    signal.signal(signal.SIGALRM, lambda *_: rings.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    grow()
    time.sleep(0.2)
    print(len(rings))


@program
def timer_of_processor_time():
    rings = []
    signal.signal(signal.SIGVTALRM, lambda *_: rings.append(1))
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.05)
    grow()
    end = time.monotonic() + 20
    while not rings and time.monotonic() < end:
        sum(range(100000))  # time in the program, not in the kernel
    print(len(rings))


@program
def interrupted_sleep_is_as_long():
    rings = []
    signal.signal(signal.SIGALRM, lambda *_: rings.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    grow()
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(len(rings) > 3)


@program
def dumpable_stays():
    libc.prctl(4, 0, 0, 0, 0)
    grow()
    print(libc.prctl(3, 0, 0, 0, 0))


@program
def name_of_the_thread_stays():
    libc.prctl(15, b"as-plain", 0, 0, 0)
    grow()
    with open("/proc/self/comm") as f:
        print(f.read().strip())


@program
def threads_are_its_own():
    ts = [threading.Thread(target=grow, args=(15,)) for _ in range(3)]
    for t in ts:
        t.start()
    for t in ts:
        t.join()
    for _ in range(1000):  # one that has been joined may be about to end
        if len(os.listdir("/proc/self/task")) == 1:
            break
        time.sleep(0.001)
    print(len(os.listdir("/proc/self/task")))


@program
def priority_and_mask_stay():
    os.nice(3)
    os.umask(0o27)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    grow()
    print(os.getpriority(os.PRIO_PROCESS, 0), oct(os.umask(0)), len(os.sched_getaffinity(0)))


@program
def groups_and_session_stay():
    before = os.getpgid(0), os.getsid(0)
    grow()
    print(before == (os.getpgid(0), os.getsid(0)))


@program
def working_directory_stays():
    os.chdir("/usr")
    grow()
    print(os.getcwd(), os.path.exists("bin"))


@program
def command_line_stays():
    grow()
    with open("/proc/self/cmdline", "rb") as f:
        print(f.read().split(b"\0")[-2])


@program
def first_of_a_namespace():
    if not unshared(NEW_PID):
        return print("not permitted")
    grow()
    numbers = []
    for _ in range(2):
        r, w = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(w, b"%d" % os.getpid())
            os._exit(0)
        os.waitpid(pid, 0)
        numbers.append(os.read(r, 9))
        break
    print(numbers)


@program
def user_of_a_namespace():
    if not unshared(NEW_USER):
        return print("not permitted")
    grow()
    print(os.getuid() == 65534 or os.getuid() == 0)


@program
def name_of_the_host():
    if not unshared(NEW_UTS):
        return print("not permitted")
    import socket
    socket.sethostname("as-plain")
    grow()
    print(socket.gethostname())


@program
def network_of_a_worker_can_go():
    """A namespace lives as long as somebody is in it."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(w, b"1" if unshared(NEW_NET) else b"0")
        grow()
        os.write(w, b"%d" % os.stat("/proc/self/ns/net").st_ino)
        os._exit(0)
    os.waitpid(pid, 0)
    os.close(w)
    said = os.read(r, 64)
    if said[:1] == b"0":
        return print("not permitted")
    inside = 0
    for p in os.listdir("/proc"):
        try:
            inside += p.isdigit() and os.stat("/proc/%s/ns/net" % p).st_ino == int(said[1:])
        except OSError:
            pass
    print(inside)


@program
def another_root():
    if os.geteuid():
        return print("not root")
    grow()
    os.chroot("/usr")
    grow()
    print(os.path.exists("/bin"), os.path.exists("/usr"))


@program
def events_of_page_faults():
    """A userfaultfd that is told of forks, and read by the thread that would wait for the answer."""
    fd = libc.syscall(323, 0o2000000 | 0o4000)
    if fd < 0:
        return print("not permitted")
    api = (ctypes.c_uint64 * 3)(0xaa, 2, 0)  # UFFD_FEATURE_EVENT_FORK
    if libc.ioctl(fd, ctypes.c_ulong(0xc018aa3f), api):
        return print("not permitted")
    grow()
    print(error_of(os.read, fd, 32))


@program
def another_user():
    if os.geteuid():
        return print("not root")
    grow(10)
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    grow()
    print(os.getuid(), error_of(os.setuid, 0))


@program
def output_is_in_order():
    for i in range(5):
        print(i)
        grow(3)
    print("to stderr", file=sys.stderr)


main()
