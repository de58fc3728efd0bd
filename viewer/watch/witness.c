#include "viewer/watch/witness.h"

#include "libprof/base/clock.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* On a busy machine the witness, or seep itself, may be scheduled late. */
enum { NS_PER_MS = 1000 * 1000, PATIENCE_MS = 50, SAME_NS = 200 * NS_PER_MS };

static uint64_t now_ns(void)
{
    return seep_clock_ns(CLOCK_MONOTONIC);
}

/* A pipe that stays open here would keep its reader waiting: readers of seep's output, and those of
 * the caller's other pipes. */
static void close_all(void)
{
    if (syscall(SYS_close_range, 0, ~0u, 0) == 0)
        return;
    DIR *folder = opendir("/proc/self/fd"); /* before Linux 5.9 */
    for (struct dirent *e; folder && (e = readdir(folder));) {
        int fd = atoi(e->d_name);
        if (e->d_name[0] != '.' && fd != dirfd(folder))
            close(fd);
    }
    if (folder)
        closedir(folder);
}

_Noreturn static void stand_by(uint64_t *seen_ns, pid_t seep)
{
    sigset_t all;

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != seep)
        _exit(0);
    close_all();
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (;;) {
        int signal = sigwaitinfo(&all, NULL);
        if (signal > 0 && signal < SEEP_SIGNALS)
            __atomic_store_n(&seen_ns[signal], now_ns(), __ATOMIC_RELEASE);
    }
}

void seep_witness_start(struct seep_witness *witness)
{
    size_t bytes = SEEP_SIGNALS * sizeof *witness->seen_ns;
    pid_t seep = getpid();

    *witness = (struct seep_witness){0};
    void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    witness->seen_ns = page;
    witness->pid = fork();
    if (witness->pid == 0)
        stand_by(witness->seen_ns, seep);
    if (witness->pid < 0)
        seep_witness_stop(witness);
}

bool seep_witness_saw(const struct seep_witness *witness, int signal)
{
    struct timespec moment = {.tv_nsec = NS_PER_MS};

    if (witness->pid <= 0 || signal <= 0 || signal >= SEEP_SIGNALS)
        return false;
    for (int ms = 0; ms <= PATIENCE_MS; ms++) {
        uint64_t seen = __atomic_load_n(&witness->seen_ns[signal], __ATOMIC_ACQUIRE);
        if (seen && now_ns() - seen < SAME_NS)
            return true;
        nanosleep(&moment, NULL);
    }
    return false;
}

void seep_witness_stop(struct seep_witness *witness)
{
    if (witness->pid > 0) {
        kill(witness->pid, SIGKILL);
        waitpid(witness->pid, NULL, 0);
    }
    if (witness->seen_ns)
        munmap(witness->seen_ns, SEEP_SIGNALS * sizeof *witness->seen_ns);
    *witness = (struct seep_witness){0};
}
