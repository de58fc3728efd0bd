/* Which parts of a job's address space count as memory, one rule per run; prints what it did
 * (tally.h). As in counts_maps.c, allocations are calls that made memory and frees are ranges that
 * vanished entirely; live bytes are what still counts. Memory that counts once touched is touched
 * completely before the check, so that the result does not depend on how it is found.
 *   usage: counts_memory SECTION */
#include "tally.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

enum { RW = PROT_READ | PROT_WRITE, PRIVATE = MAP_PRIVATE | MAP_ANONYMOUS };

static NOIPA char *reserve(size_t n, int flags)
{
    char *p = mmap(NULL, n, PROT_NONE, MAP_ANONYMOUS | flags, -1, 0);
    MUST(p != MAP_FAILED);
    return p;
}

TALLY(subject_map, "mmap");
static NOIPA char *subject_map(size_t n)
{
    const int line = __LINE__ + 1;
    char *p = mmap(NULL, n, RW, PRIVATE, -1, 0);
    MUST(p != MAP_FAILED);
    tally_made(&tally_subject_map, n, line);
    return p;
}

TALLY(subject_commit, "mmap");
static NOIPA void subject_commit(char *p, size_t n, size_t counted)
{
    const int line = __LINE__ + 1;
    MUST(mprotect(p, n, RW) == 0);
    if (counted)
        tally_made(&tally_subject_commit, counted, line);
}

TALLY(subject_commit_shared, "shm");
static NOIPA void subject_commit_shared(char *p, size_t n)
{
    const int line = __LINE__ + 1;
    MUST(mprotect(p, n, PROT_READ) == 0);
    tally_made(&tally_subject_commit_shared, n, line);
}

/* Counted as nothing, and again once it is touched. */
TALLY(subject_map_lazily, "mmap");
static NOIPA char *subject_map_lazily(size_t n)
{
    const int line = __LINE__ + 1;
    char *p = mmap(NULL, n, RW, PRIVATE | MAP_NORESERVE, -1, 0);
    MUST(p != MAP_FAILED);
    tally_made(&tally_subject_map_lazily, 0, line);
    return p;
}

static void gone(char *p, size_t n, struct tally *t)
{
    tally_gone(t, n);
    MUST(munmap(p, n) == 0);
}

static void give_back(char *p, size_t n, int advice, struct tally *t)
{
    MUST(madvise(p, n, advice) == 0);
    tally_shrunk(t, n);
}

static void section_reserved(void)
{
    const size_t huge = (size_t)1 << 38;
    char *space = reserve(huge, MAP_PRIVATE), *lazy = reserve(1 << 30, MAP_PRIVATE | MAP_NORESERVE);
    MUST(mprotect(space + (1 << 20), PAGE, PROT_NONE) == 0); /* it is that already */
    subject_commit(space + 10 * PAGE, 10 * PAGE, 10 * PAGE);
    subject_commit(space + 10 * PAGE, 10 * PAGE, 0);
    subject_commit(space + 5 * PAGE, 10 * PAGE, 5 * PAGE);       /* half of it is new */
    MUST(mprotect(space + 5 * PAGE, 15 * PAGE, PROT_NONE) == 0); /* the pages stay */
    MUST(mprotect(space + 5 * PAGE, 15 * PAGE, PROT_READ) == 0);
    subject_commit(lazy, 1 << 20, 1 << 20);
    gone(lazy, 1 << 20, &tally_subject_commit);
    MUST(munmap(lazy + (1 << 20), (1 << 30) - (1 << 20)) == 0);
    tally_gone(&tally_subject_commit, 10 * PAGE);
    MUST(mmap(space + 10 * PAGE, 10 * PAGE, PROT_NONE, PRIVATE | MAP_FIXED, -1, 0) != MAP_FAILED);
    subject_commit_shared(reserve(10 * PAGE, MAP_SHARED) + PAGE, 3 * PAGE);
    space = mremap(space, 4 * PAGE, 8 * PAGE, MREMAP_MAYMOVE); /* address space, moved */
    MUST(space != MAP_FAILED);
    subject_commit(space + 6 * PAGE, 2 * PAGE, 2 * PAGE);
}

/* A map that counts by touch is counted as nothing while nothing is touched; nor is it when it is
 * moved, cut or unmapped. */
static void section_untouched(void)
{
    char *a = subject_map_lazily((size_t)1 << 36), *b = subject_map_lazily(100 * PAGE);
    MUST(mprotect(a, PAGE, PROT_READ) == 0);
    MUST(munmap(a + PAGE, PAGE) == 0);
    gone(b, 100 * PAGE, &tally_subject_map_lazily);
    tally_subject_map_lazily.live_bytes = 0;
}

/* What is there at the end is known: the last look is at the process's end. */
static void section_touched(void)
{
    char *a = subject_map_lazily((size_t)1 << 34), *b = subject_map(4096 * PAGE);
    MUST(madvise(a, (size_t)1 << 34, MADV_NOHUGEPAGE) == 0);
    MUST(madvise(b, 4096 * PAGE, MADV_NOHUGEPAGE) == 0);
    memset(a + (1 << 30), 1, 5000 * PAGE);
    tally_subject_map_lazily.live_bytes += 5000 * PAGE;
    memset(b, 1, 4096 * PAGE);
    give_back(b, 4096 * PAGE, MADV_DONTNEED, &tally_subject_map);
    memset(b + 10 * PAGE, 1, 700 * PAGE);
    tally_subject_map.live_bytes += 700 * PAGE;
}

TALLY(subject_map_beside, "mmap");
static NOIPA char *subject_map_beside(char *at, size_t n)
{
    const int line = __LINE__ + 1;
    char *p = mmap(at, n, RW, PRIVATE | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    MUST(p == at);
    tally_made(&tally_subject_map_beside, n, line);
    return p;
}

/* The kernel joins two maps: the large one has nothing of what lies beside it. */
static void section_beside(void)
{
    const size_t huge = (size_t)1 << 36, some = 512 << 10;
    /* Or a page of what lies beside may reach into it. */
    MUST(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0);
    char *a = subject_map_lazily(huge);
    MUST(madvise(a, huge, MADV_NOHUGEPAGE) == 0 && munmap(a, some) == 0);
    char *b = subject_map_beside(a, some);
    MUST(madvise(b, some, MADV_NOHUGEPAGE) == 0);
    memset(b, 1, some);
}

static void section_given_back(void)
{
    char *p[5];
    for (int i = 0; i < 5; i++)
        memset(p[i] = subject_map(64 * PAGE), 1, 64 * PAGE);
    give_back(p[0], 64 * PAGE, MADV_DONTNEED, &tally_subject_map);
    for (int i = 0; i < 64; i += 2) /* as allocators purge: page by page */
        give_back(p[1] + i * PAGE, PAGE, MADV_DONTNEED, &tally_subject_map);
    give_back(p[2] + 60 * PAGE, 4 * PAGE, MADV_DONTNEED, &tally_subject_map);
    gone(p[2], 64 * PAGE, &tally_subject_map);
    tally_subject_map.live_bytes += 4 * PAGE; /* they had gone before */
    MUST(madvise(p[3], 64 * PAGE, MADV_WILLNEED) == 0 && madvise(p[3], PAGE, MADV_NORMAL) == 0);
    errno = 0;
    MUST(madvise(p[3] + 1, PAGE, MADV_DONTNEED) == -1 && errno == EINVAL);
    give_back(p[3], PAGE, MADV_DONTNEED, &tally_subject_map);
    MUST(madvise(p[4], PAGE, MADV_RANDOM) == 0 && p[4][0] == 1);
}

TALLY(subject_map_shared, "shm");
static NOIPA char *subject_map_shared(size_t n)
{
    const int line = __LINE__ + 1;
    char *p = mmap(NULL, n, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(p != MAP_FAILED);
    tally_made(&tally_subject_map_shared, n, line);
    return p;
}

/* What is shared stays in its file, whoever unmaps it. */
static void section_shared(void)
{
    char *p = subject_map_shared(32 * PAGE);
    memset(p, 1, 32 * PAGE);
    MUST(madvise(p, 32 * PAGE, MADV_DONTNEED) == 0);
    for (int i = 0; i < 32; i++)
        MUST(p[i * PAGE] == 1);
    give_back(p + 8 * PAGE, 8 * PAGE, MADV_REMOVE, &tally_subject_map_shared);
}

TALLY(subject_attach, "shm");
static NOIPA char *subject_attach(int id, size_t n, char *at, int flags)
{
    const int line = __LINE__ + 1;
    char *p = shmat(id, at, flags);
    MUST(p != (char *)-1);
    tally_made(&tally_subject_attach, (n + PAGE - 1) / PAGE * PAGE, line);
    return p;
}

static void section_segments(void)
{
    const size_t n = 64 * PAGE + 5, whole = 65 * PAGE;
    int id = shmget(IPC_PRIVATE, n, 0600 | IPC_CREAT);
    MUST(id >= 0);
    char *a = subject_attach(id, n, NULL, 0), *b = subject_attach(id, n, NULL, SHM_RDONLY);
    char *c = subject_map(whole);
    tally_gone(&tally_subject_map, whole);
    MUST(subject_attach(id, n, c, SHM_REMAP) == c);
    a[0] = 7;
    MUST(b[0] == 7 && c[0] == 7);
    MUST(shmctl(id, IPC_RMID, NULL) == 0);
    tally_gone(&tally_subject_attach, whole);
    MUST(shmdt(b) == 0);
    errno = 0;
    MUST(shmdt(b) == -1 && errno == EINVAL && shmdt(a + PAGE) == -1 && errno == EINVAL);
    errno = 0;
    MUST(shmat(id + 1000000, NULL, 0) == (void *)-1 && errno == EINVAL);
}

TALLY(subject_extend, "mmap");
static NOIPA char *subject_extend(intptr_t n)
{
    const int line = __LINE__ + 1;
    char *p = sbrk(n);
    MUST(p != (char *)-1);
    tally_made(&tally_subject_extend, (size_t)n, line);
    return p;
}

TALLY(subject_extend_to, "mmap");
static NOIPA void subject_extend_to(char *end, size_t n)
{
    const int line = __LINE__ + 1;
    MUST(brk(end) == 0);
    tally_made(&tally_subject_extend_to, n, line);
}

static void section_heap_end(void)
{
    char *a = subject_extend(64 << 20);
    memset(a, 1, 64 << 20);
    MUST(sbrk(0) == a + (64 << 20));
    subject_extend_to(a + (64 << 20) + 100, 100);
    MUST(sbrk(-100) == a + (64 << 20) + 100);
    tally_gone(&tally_subject_extend_to, 100);
    MUST(brk(a + (48 << 20)) == 0);
    tally_shrunk(&tally_subject_extend, 16 << 20);
    errno = 0;
    MUST(sbrk((intptr_t)1 << 46) == (void *)-1 && errno == ENOMEM);
    errno = 0;
    MUST(brk(a + ((uintptr_t)1 << 46)) == -1 && errno == ENOMEM);
    for (int i = 0; i < 3000; i++) { /* libc's malloc, which goes by the same end */
        char *volatile p = malloc(4000);
        MUST(p != NULL && (p + 4000 <= a || p >= a + (48 << 20)));
    }
    for (int i = 0; i < 48 << 20; i += PAGE)
        MUST(a[i] == 1);
}

TALLY(subject_map_by_number, "mmap");
static NOIPA char *subject_map_by_number(size_t n)
{
    const int line = __LINE__ + 1;
    char *p = (char *)syscall(SYS_mmap, NULL, n, RW, PRIVATE, -1, 0);
    MUST(p != MAP_FAILED);
    tally_made(&tally_subject_map_by_number, n, line);
    return p;
}

TALLY(subject_remap_by_number, "mmap");
static NOIPA char *subject_remap_by_number(char *p, size_t old_n, size_t n)
{
    const int line = __LINE__ + 1;
    p = (char *)syscall(SYS_mremap, p, old_n, n, MREMAP_MAYMOVE, NULL);
    MUST(p != MAP_FAILED);
    tally_made(&tally_subject_remap_by_number, n, line);
    return p;
}

TALLY(subject_commit_by_number, "mmap");
static NOIPA void subject_commit_by_number(char *p, size_t n)
{
    const int line = __LINE__ + 1;
    MUST(syscall(SYS_mprotect, p, n, RW) == 0);
    tally_made(&tally_subject_commit_by_number, n, line);
}

TALLY(subject_attach_by_number, "shm");
static NOIPA void subject_attach_by_number(int id, size_t n)
{
    const int line = __LINE__ + 1;
    void *p = (void *)syscall(SYS_shmat, id, NULL, 0);
    MUST(p != (void *)-1);
    tally_made(&tally_subject_attach_by_number, n, line);
    MUST(syscall(SYS_shmdt, p) == 0);
    tally_gone(&tally_subject_attach_by_number, n);
}

static void section_by_number(void)
{
    char *a = subject_map_by_number(50 * PAGE), *b = subject_map_by_number(50 * PAGE);
    tally_gone(&tally_subject_map_by_number, 50 * PAGE);
    MUST(syscall(SYS_munmap, a, 50 * PAGE) == 0);
    memset(b, 1, 50 * PAGE);
    MUST(syscall(SYS_madvise, b, 10 * PAGE, MADV_DONTNEED) == 0 && b[0] == 0 && b[10 * PAGE] == 1);
    b[0] = 0; /* a page again: it had better be counted by touch */
    MUST(syscall(SYS_madvise, b, 10 * PAGE, MADV_DONTNEED) == 0);
    MUST(syscall(SYS_munmap, b, 50 * PAGE) == 0);
    tally_gone(&tally_subject_map_by_number, 50 * PAGE);
    char *c = subject_map_by_number(4 * PAGE);
    tally_gone(&tally_subject_map_by_number, 4 * PAGE);
    subject_remap_by_number(c, 4 * PAGE, 9 * PAGE);
    subject_commit_by_number(reserve(20 * PAGE, MAP_PRIVATE), 20 * PAGE);
    int id = shmget(IPC_PRIVATE, 3 * PAGE, 0600 | IPC_CREAT);
    MUST(id >= 0);
    subject_attach_by_number(id, 3 * PAGE);
    MUST(shmctl(id, IPC_RMID, NULL) == 0);
    int fd = (int)syscall(SYS_memfd_create, "seep-subject", 0);
    MUST(fd >= 0 && ftruncate(fd, PAGE) == 0);
    long end = syscall(SYS_brk, NULL);
    MUST(end > 0 && (void *)end == sbrk(0));
}

/* Whatever the number: arguments, result and errno are the kernel's. */
static void section_passed_on(void)
{
    int fd = open("/dev/zero", O_RDONLY), pipes[2], word = 1;
    char text[16] = "", name[16] = "";
    struct timespec soon = {0, 1000000};
    MUST(fd >= 0 && pipe(pipes) == 0);
    errno = 0;
    MUST(syscall(SYS_getpid) == getpid() && errno == 0);
    MUST(syscall(SYS_close, -1) == -1 && errno == EBADF);
    MUST(syscall(SYS_read, fd, text, 1) == 1 && syscall(SYS_pwrite64, fd, text, 1, 0L) == -1);
    MUST(syscall(SYS_write, pipes[1], "hello", 5) == 5);
    MUST(syscall(SYS_splice, pipes[0], NULL, pipes[1], NULL, 3, 0x7fff) == -1 && errno == EINVAL);
    MUST(syscall(SYS_futex, &word, 0, 1, &soon, NULL, 0) == -1 && errno == ETIMEDOUT);
    MUST(syscall(SYS_futex, &word, 0, 2, &soon, NULL, 0) == -1 && errno == EAGAIN);
    MUST(syscall(100000) == -1 && errno == ENOSYS && syscall(-1) == -1 && errno == ENOSYS);
    errno = 0;
    MUST(syscall(SYS_mmap, NULL, 0, RW, PRIVATE, -1, 0) == -1 && errno == EINVAL);
    MUST(syscall(SYS_munmap, 1, PAGE) == -1 && errno == EINVAL);
    MUST(syscall(SYS_mmap, NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 1L) == -1 && errno == EINVAL);
    MUST(prctl(PR_SET_NAME, "renamed") == 0 && prctl(PR_GET_NAME, name) == 0);
    MUST(strcmp(name, "renamed") == 0 && syscall(SYS_prctl, PR_GET_NAME, text) == 0);
    MUST(strcmp(text, "renamed") == 0);
    MUST(prctl(-1, 0, 0, 0, 0) == -1 && errno == EINVAL);
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
        _exit(0);
    MUST(child > 0 && waitpid(child, NULL, 0) == child);
}

/* A remap that leaves its addresses mapped has a hint, not a place. */
TALLY(subject_move_pages, "mmap");
static NOIPA char *subject_move_pages(char *p, size_t n, char *hint)
{
    const int line = __LINE__ + 1;
    char *q = mremap(p, n, n, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, hint);
    MUST(q == hint);
    tally_made(&tally_subject_move_pages, n, line);
    tally_shrunk(&tally_subject_map, n);
    return q;
}

static void section_dontunmap(void)
{
    char *a = subject_map(8 * PAGE), *hint = reserve(64 * PAGE, MAP_PRIVATE);
    MUST(munmap(hint, 64 * PAGE) == 0);
    hint -= 1 << 30;
    memset(a, 5, 8 * PAGE);
    char *b = subject_move_pages(a, 8 * PAGE, hint);
    MUST(b[PAGE] == 5 && a[PAGE] == 0);
    MUST(munmap(a, 8 * PAGE) == 0);
    tally_gone(&tally_subject_map, 0);
}

TALLY(subject_map_page, "mmap");
static NOIPA void subject_map_page(char *at, int protection)
{
    const int line = __LINE__ + 1;
    MUST(mmap(at, PAGE, protection, PRIVATE | MAP_FIXED, -1, 0) == at);
    tally_made(&tally_subject_map_page, PAGE, line);
}

/* As many as a process may have: neighbours of one protection would be one to the kernel. */
static void section_crowd(void)
{
    enum { N = 60000 };
    char *space = reserve((size_t)N * PAGE, MAP_PRIVATE);
    for (int i = 0; i < N; i++)
        subject_map_page(space + (size_t)i * 7919 % N * PAGE, i % 2 ? RW : PROT_READ);
    for (int i = 0; i < N; i += 3)
        gone(space + (size_t)i * PAGE, PAGE, &tally_subject_map_page);
    MUST(munmap(space + 30000 * (size_t)PAGE, 3000 * (size_t)PAGE) == 0);
    for (int i = 0; i < 2000; i++)
        tally_gone(&tally_subject_map_page, PAGE);
}

static sigjmp_buf away;
static volatile sig_atomic_t inside;

static void jump(int number)
{
    (void)number;
    if (inside)
        siglongjmp(away, 1);
}

static NOIPA void map_and_unmap(void)
{
    char *p = mmap(NULL, PAGE, RW, PRIVATE, -1, 0);
    munmap(p, PAGE);
}

/* A timeout that jumps out of whatever it has interrupted. */
static void section_jumps(void)
{
    struct sigaction action = {.sa_handler = jump};
    struct itimerval period = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    MUST(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &period, NULL) == 0);
    for (volatile int i = 0; i < 400; i++) {
        if (!sigsetjmp(away, 1)) {
            inside = 1;
            for (;;)
                map_and_unmap();
        }
        inside = 0;
    }
    MUST(setitimer(ITIMER_REAL, &never, NULL) == 0);
    for (int i = 0; i < 100; i++)
        subject_map(3 * PAGE);
    sigset_t blocked;
    MUST(sigprocmask(SIG_BLOCK, NULL, &blocked) == 0);
    for (int i = 1; i < 65; i++)
        MUST(sigismember(&blocked, i) != 1);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } sections[] = {{"reserved", section_reserved},
                    {"untouched", section_untouched},
                    {"touched", section_touched},
                    {"beside", section_beside},
                    {"given-back", section_given_back},
                    {"shared", section_shared},
                    {"segments", section_segments},
                    {"heap-end", section_heap_end},
                    {"by-number", section_by_number},
                    {"passed-on", section_passed_on},
                    {"dontunmap", section_dontunmap},
                    {"crowd", section_crowd},
                    {"jumps", section_jumps}};
    int ran = 0;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if (argc > 1 && strcmp(argv[1], sections[i].name) == 0)
            sections[i].run(), ran++;
    MUST(ran == 1);
    tally_print();
    return 0;
}
