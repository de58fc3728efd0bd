#include "viewer/witness.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 5, NS_PER_MS = 1000 * 1000 };

_Noreturn static void stand_by(uint32_t *seen, pid_t seep)
{
    sigset_t all;

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != seep)
        _exit(0);
    close_range(0, ~0u, 0); /* whoever reads seep's output waits for its end */
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (;;) {
        int signal = sigwaitinfo(&all, NULL);
        if (signal > 0 && signal < SEEP_SIGNALS)
            __atomic_add_fetch(&seen[signal], 1, __ATOMIC_RELEASE);
    }
}

void seep_witness_start(struct seep_witness *witness)
{
    size_t bytes = SEEP_SIGNALS * sizeof *witness->seen;
    pid_t seep = getpid();

    *witness = (struct seep_witness){0};
    void *page =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    witness->seen = page;
    witness->pid = fork();
    if (witness->pid == 0)
        stand_by(witness->seen, seep);
    if (witness->pid < 0)
        seep_witness_stop(witness);
}

bool seep_witness_saw(struct seep_witness *witness, int signal)
{
    struct timespec moment = {.tv_nsec = NS_PER_MS};

    if (witness->pid <= 0 || signal <= 0 || signal >= SEEP_SIGNALS)
        return false;
    for (int ms = 0; ms <= PATIENCE_MS; ms++) {
        uint32_t seen = __atomic_load_n(&witness->seen[signal], __ATOMIC_ACQUIRE);
        uint32_t *answered = &witness->answered[signal];
        if (seen != *answered) {
            /* Only real-time signals queue: of others, seep may have got fewer than the witness. */
            *answered = signal >= SIGRTMIN ? *answered + 1 : seen;
            return true;
        }
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
    if (witness->seen)
        munmap(witness->seen, SEEP_SIGNALS * sizeof *witness->seen);
    *witness = (struct seep_witness){0};
}
