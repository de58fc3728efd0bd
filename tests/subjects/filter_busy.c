/* Installs filters for all threads that allow everything, in forked children: of a process whose
 * threads map and unmap continuously, and with such threads of their own. Prints in how many ms the
 * fastest of each kind was installed. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, CHILDREN = 8, NEVER_MS = 1000000, MAP = 1 << 16 };

static void *map_on(void *unused)
{
    for (;;) {
        void *p = mmap(NULL, MAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(p, MAP);
    }
    return unused;
}

static int ms_of_a_filter(void)
{
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {1, &allow};
    struct timespec before, after;

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    clock_gettime(CLOCK_MONOTONIC, &before);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
        return NEVER_MS;
    clock_gettime(CLOCK_MONOTONIC, &after);
    return (int)((after.tv_sec - before.tv_sec) * 1000 +
                 (after.tv_nsec - before.tv_nsec) / 1000000);
}

static void keep_busy(void)
{
    pthread_t thread;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread, NULL, map_on, NULL))
            _exit(1);
    usleep(50 * 1000);
}

static int ms_in_a_child(int busy)
{
    int ends[2], ms = NEVER_MS;
    if (pipe(ends))
        return NEVER_MS;
    const pid_t child = fork();
    if (child == 0) {
        if (busy)
            keep_busy();
        ms = ms_of_a_filter();
        _exit(write(ends[1], &ms, sizeof ms) != sizeof ms);
    }
    close(ends[1]);
    if (read(ends[0], &ms, sizeof ms) != sizeof ms)
        ms = NEVER_MS;
    close(ends[0]);
    waitpid(child, NULL, 0);
    return ms;
}

static int quickest(int busy)
{
    int least = NEVER_MS;
    for (int i = 0; i < CHILDREN; i++) {
        const int ms = ms_in_a_child(busy);
        least = ms < least ? ms : least;
    }
    return least;
}

int main(void)
{
    const int own = quickest(1);
    keep_busy();
    printf("%d %d\n", quickest(0), own);
    fflush(stdout);
    _exit(0);
}
