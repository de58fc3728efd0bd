"""What is open, mapped, locked or mounted, and whether somebody else still holds it."""
import ctypes
import fcntl
import mmap
import os
import pty
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading

from common import checked, error_of, grow, libc, main, program

MAP_SHARED = 1


def scratch():
    fd, path = tempfile.mkstemp(prefix="as-plain-")
    os.unlink(path)
    os.ftruncate(fd, 1 << 20)
    return fd


def reopened(fd):
    return os.open("/proc/self/fd/%d" % fd, os.O_RDWR)


@program
def flock_of_a_mapped_file():
    fd = scratch()
    other = reopened(fd)
    m = mmap.mmap(fd, 1 << 20)
    fcntl.flock(fd, fcntl.LOCK_EX)
    grow()
    m.close()
    os.close(fd)
    print(error_of(fcntl.flock, other, fcntl.LOCK_EX | fcntl.LOCK_NB))


@program
def record_lock_of_a_closed_file():
    fd = scratch()
    other = reopened(fd)
    fcntl.lockf(fd, fcntl.LOCK_EX)
    grow()
    os.close(fd)
    pid = os.fork()
    if pid == 0:
        print(error_of(fcntl.lockf, other, fcntl.LOCK_EX | fcntl.LOCK_NB), flush=True)
        os._exit(0)
    os.waitpid(pid, 0)


@program
def lease_of_a_mapped_file():
    fd = scratch()
    m = mmap.mmap(fd, 4096, prot=mmap.PROT_READ)
    grow()
    m.close()
    print(error_of(fcntl.fcntl, fd, fcntl.F_SETLEASE, fcntl.F_WRLCK))


@program
def seal_of_a_memory_file():
    fd = os.memfd_create("sealed", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, 1 << 20)
    m = mmap.mmap(fd, 1 << 20)
    grow()
    m.close()
    print(error_of(fcntl.fcntl, fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE))


@program
def seal_without_proc():
    """A copy cannot tell there what is mapped."""
    if os.geteuid():
        return print("not root")
    fd = os.memfd_create("sealed", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, 1 << 20)
    m = mmap.mmap(fd, 1 << 20)
    os.chroot(tempfile.mkdtemp())
    grow()
    m.close()
    print(error_of(fcntl.fcntl, fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE))


@program
def shared_segment_has_no_other_users():
    size, rmid, stat = 1 << 20, 0, 2
    segment = checked(libc.shmget(0, size, 0o600))
    libc.shmat.restype = ctypes.c_void_p
    at = libc.shmat(segment, None, 0)
    grow()
    checked(libc.shmdt(ctypes.c_void_p(at)))
    facts = (ctypes.c_ulong * 16)()
    checked(libc.shmctl(segment, stat, ctypes.byref(facts)))
    print("attached", facts[11])  # shm_nattch, behind the owner, size, times and pids
    checked(libc.shmctl(segment, rmid, None))


@program
def memory_that_is_shared_is_given_back():
    fd = os.open("/dev/shm", os.O_TMPFILE | os.O_RDWR)
    before = os.statvfs("/dev/shm").f_bfree
    os.ftruncate(fd, 8 << 20)
    m = mmap.mmap(fd, 8 << 20)
    m.write(b"x" * (8 << 20))
    grow()
    m.close()
    os.close(fd)
    print("given back", abs(os.statvfs("/dev/shm").f_bfree - before) < 1024)


@program
def scratch_file_that_is_removed_is_given_back():
    """Blocks of a file without a name are free once nobody maps it."""
    fd = scratch()
    m = mmap.mmap(fd, 1 << 20)
    m[:] = b"y" * (1 << 20)
    watch = os.open("/proc/self/map_files", os.O_RDONLY) if os.path.isdir("/proc/self/map_files") else -1
    grow()
    m.close()
    os.close(fd)
    if watch >= 0:
        os.close(watch)
    mapped = [p for p in os.listdir("/proc") if p.isdigit() and maps_of(p).count("as-plain-") > 0]
    print("still mapped by", len(mapped))


def maps_of(pid):
    try:
        with open("/proc/%s/maps" % pid) as f:
            text = f.read()
        with open("/proc/%s/stat" % pid) as f:
            parent = f.read().rsplit(") ", 1)[1].split()[1]
    except OSError:
        return ""
    return text if int(parent) == os.getpid() else ""


@program
def pipe_ends_with_its_last_writer():
    r, w = os.pipe()
    grow()
    os.close(w)
    print("readable", bool(select.select([r], [], [], 0)[0]), os.read(r, 1))


@program
def reader_that_goes_breaks_the_pipe():
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    r, w = os.pipe()
    grow()
    os.close(r)
    print(error_of(os.write, w, b"x"))


@program
def port_is_free_once_it_is_closed():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen()
    address = s.getsockname()
    grow()
    s.close()
    again = socket.socket()
    print(error_of(again.bind, address))


@program
def socket_pair_ends():
    a, b = socket.socketpair()
    grow()
    a.close()
    b.settimeout(0)
    print(b.recv(1))


@program
def terminal_hangs_up():
    leader, follower = pty.openpty()
    grow()
    os.close(follower)
    poll = select.poll()
    poll.register(leader, select.POLLHUP)
    print("hung up", bool(poll.poll(0)))


@program
def epoll_forgets_what_is_closed():
    r, w = os.pipe()
    e = select.epoll()
    e.register(r, select.EPOLLIN)
    os.write(w, b"x")
    grow()
    os.close(r)
    print(e.poll(0))


@program
def close_is_told_once():
    """inotify tells of the last close of a file."""
    fd = scratch()
    watch = libc.inotify_init1(os.O_NONBLOCK)
    checked(libc.inotify_add_watch(watch, b"/proc/self/fd/%d" % fd, 0x8))
    m = mmap.mmap(fd, 4096)
    grow()
    m.close()
    os.close(fd)
    print("events", len(os.read(watch, 4096)) // 16)


@program
def descriptors_are_its_own():
    before = len(os.listdir("/proc/self/fd"))
    grow()
    print("more", len(os.listdir("/proc/self/fd")) - before, "lowest", os.dup(0) <= before)


@program
def folder_of_a_worker_can_go():
    folder = tempfile.mkdtemp()
    pid = os.fork()
    if pid == 0:
        os.chdir(folder)
        grow()
        os._exit(0)
    os.waitpid(pid, 0)
    users = [p for p in os.listdir("/proc") if p.isdigit() and folder_of(p) == folder]
    print("users", len(users), error_of(os.rmdir, folder))


def folder_of(pid):
    try:
        return os.readlink("/proc/%s/cwd" % pid)
    except OSError:
        return ""


@program
def message_queue_is_gone():
    queue = checked(libc.msgget(0, 0o600))
    grow()
    checked(libc.msgctl(queue, 0, None))
    print(error_of(lambda: checked(libc.msgsnd(queue, b"\1" + bytes(15), 8, 0))))


@program
def semaphore_is_undone_once():
    """What a process added with SEM_UNDO goes with it."""
    semaphore = checked(libc.semget(0, 1, 0o600))
    pid = os.fork()
    if pid == 0:
        add = (ctypes.c_short * 3)(0, 5, 0x1000)
        checked(libc.semop(semaphore, add, 1))
        grow()
        os._exit(0)
    os.waitpid(pid, 0)
    print("left", libc.semctl(semaphore, 0, 12))
    checked(libc.semctl(semaphore, 0, 0))


@program
def event_counts_once():
    fd = os.eventfd(0) if hasattr(os, "eventfd") else libc.eventfd(0, 0)
    os.write(fd, (3).to_bytes(8, "little"))
    grow()
    print(int.from_bytes(os.read(fd, 8), "little"))


@program
def timer_file_ticks_once():
    fd = checked(libc.timerfd_create(1, os.O_NONBLOCK))
    once = (ctypes.c_long * 4)(0, 0, 0, 1000000)
    checked(libc.timerfd_settime(fd, 0, once, None))
    grow()
    print(int.from_bytes(os.read(fd, 8), "little"), error_of(os.read, fd, 8))


@program
def lock_file_of_another_program():
    fd = scratch()
    grow()
    done = subprocess.run(["/usr/bin/flock", "-n", "/proc/%d/fd/%d" % (os.getpid(), fd), "true"])
    print(done.returncode)


@program
def small_shared_memory_lasts():
    """Batches pass through 64 MiB of shared memory, as in a container: half of it is used at a time."""
    if os.geteuid():
        return print("not root")
    if libc.unshare(0x20000) or libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None) or \
            libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", 0, b"size=64m"):
        return print("no namespace")
    for i in range(30):
        fd = os.open("/dev/shm/batch%d" % i, os.O_CREAT | os.O_RDWR)
        os.unlink("/dev/shm/batch%d" % i)
        os.ftruncate(fd, 32 << 20)
        m = mmap.mmap(fd, 32 << 20)
        os.close(fd)
        for at in range(0, 32 << 20, 4096):
            m[at] = 1
        grow(2)
        m.close()
    print("all passed", error_of(os.stat, "/dev/shm/batch0"))


@program
def mount_of_a_worker_can_go():
    if os.geteuid():
        return print("not root")
    folder = tempfile.mkdtemp()
    if libc.unshare(0x20000) or libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None) or \
            libc.mount(b"tmpfs", folder.encode(), b"tmpfs", 0, None):
        return print("no namespace")
    pid = os.fork()
    if pid == 0:
        os.chdir(folder)
        with open("data", "wb+") as f:
            f.truncate(1 << 20)
            m = mmap.mmap(f.fileno(), 1 << 20)
            grow()
            m.close()
        os._exit(0)
    os.waitpid(pid, 0)
    print(error_of(lambda: checked(libc.umount2(folder.encode(), 0))))
    shutil.rmtree(folder)


@program
def threads_hold_no_files():
    r, w = os.pipe()
    t = threading.Thread(target=grow)
    t.start()
    t.join()
    os.close(w)
    print(os.read(r, 1))


main()
