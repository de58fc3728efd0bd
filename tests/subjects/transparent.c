/* What a job could notice of the shim, one section per run; prints "ok" or what it noticed.
 * handlers.c has what signal handlers do.
 *   usage: transparent SECTION */
#include "by_depth.h"
#include "sections.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>

/* ---- errno ---- */

#define KEEPS_ERRNO(call)                                                                          \
    do {                                                                                           \
        errno = 4242;                                                                              \
        call;                                                                                      \
        MUST(errno == 4242);                                                                       \
    } while (0)

static void *errno_round(void *arg)
{
    for (int i = 0; i < 2000; i++) {
        void *p = NULL, *q = NULL, *m = NULL;
        KEEPS_ERRNO(p = by_depth(i % 40, (size_t)(i * 17)));
        KEEPS_ERRNO(p = realloc(p, (size_t)(i * 31 + 1)));
        KEEPS_ERRNO(q = calloc(3, (size_t)i));
        KEEPS_ERRNO(free(p));
        KEEPS_ERRNO(free(q));
        KEEPS_ERRNO(MUST(posix_memalign(&q, 64, 100) == 0));
        KEEPS_ERRNO(free(q));
        KEEPS_ERRNO(MUST(posix_memalign(&q, 3, 100) == EINVAL));
        KEEPS_ERRNO(m = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        KEEPS_ERRNO(MUST(munmap(m, 8192) == 0));
        KEEPS_ERRNO(free(NULL));
    }
    return arg;
}

static void section_errno(void)
{
    pthread_t t;
    errno_round(NULL);
    for (int i = 0; i < 20; i++) {
        MUST(pthread_create(&t, NULL, errno_round, NULL) == 0);
        pthread_join(t, NULL);
    }
    errno = 0;
    MUST(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, 77, 0) == MAP_FAILED && errno == EBADF);
    errno = 0;
    MUST(munmap((void *)1, PAGE) == -1 && errno == EINVAL);
    errno = 0;
    MUST(mremap((void *)PAGE, PAGE, 2 * PAGE, 0) == MAP_FAILED && errno == EFAULT);
}

/* ---- threads of which nothing is recorded ---- */

static void *waits_first(void *arg)
{
    (void)arg;
    MUST(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    return NULL;
}

/* Nothing that posix_spawn() does here takes memory in this process. */
static void *spawns_first(void *arg)
{
    static char *argv[] = {"true", NULL};
    pid_t pid;
    int status;
    MUST(posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) == 0);
    MUST(waitpid(pid, &status, 0) == pid && status == 0);
    return arg;
}

static void section_first_call(void)
{
    pthread_t t;
    free(malloc(100));
    for (int i = 0; i < 20; i++) {
        MUST(pthread_create(&t, NULL, i % 2 ? spawns_first : waits_first, NULL) == 0);
        pthread_join(t, NULL);
    }
}

/* ---- stacks that are not of the usual make ---- */

static void *in_small_thread(void *arg)
{
    for (int i = 0; i < 100; i++)
        free(by_depth(3, 100));
    return arg;
}

static void section_small_stack(void)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    MUST(pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN) == 0);
    for (int i = 0; i < 50; i++) {
        pthread_t t;
        MUST(pthread_create(&t, &attributes, in_small_thread, NULL) == 0);
        pthread_join(t, NULL);
    }
}

static void section_deep(void)
{
    for (int i = 0; i < 200; i++)
        free(by_depth(30000, 100));
}

enum { COROUTINES = 50 };
static ucontext_t home, coroutines[COROUTINES];
static void *coroutine_blocks[COROUTINES];

static void coroutine(int i)
{
    for (int round = 0; round < 20; round++) {
        free(coroutine_blocks[i]);
        coroutine_blocks[i] = by_depth(round, (size_t)(100 + i));
        swapcontext(&coroutines[i], &home);
    }
}

static void section_coroutines(void)
{
    for (volatile int i = 0; i < COROUTINES; i++) {
        MUST(getcontext(&coroutines[i]) == 0);
        coroutines[i].uc_stack.ss_size = 65536;
        coroutines[i].uc_stack.ss_sp = malloc(65536);
        coroutines[i].uc_link = &home;
        makecontext(&coroutines[i], (void (*)(void))coroutine, 1, i);
    }
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < COROUTINES; i++)
            swapcontext(&home, &coroutines[i]);
}

#if defined __x86_64__
/* Code no module covers, with no unwind information, and with rubbish in the frame pointer. */
static void section_jit(void)
{
    static const unsigned char code[] = {0x55,                   /* push rbp */
                                         0x53,                   /* push rbx */
                                         0x48, 0x83, 0xec, 0x38, /* sub rsp, 56 */
                                         0x48, 0xbd, 0xef, 0xbe, 0xad,
                                         0xde, 0x01, 0x00, 0x00, 0x00, /* mov rbp, 0x1deadbeef */
                                         0xff, 0xd6,                   /* call rsi */
                                         0x48, 0x83, 0xc4, 0x38,       /* add rsp, 56 */
                                         0x5b,                         /* pop rbx */
                                         0x5d,                         /* pop rbp */
                                         0xc3};
    unsigned char *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(page != MAP_FAILED);
    for (int at = 0; at < 4096 - 64; at += 61) {
        memset(page, 0x90, 4096);
        memcpy(page + at, code, sizeof code);
        MUST(mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0);
        void *(*run)(size_t, void *(*)(size_t));
        *(void **)&run = page + at;
        for (int i = 0; i < 5; i++)
            free(run(100, malloc));
        free(run(100, allocate));
        MUST(mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0);
    }
}
#else
static void section_jit(void)
{
}
#endif

static NOIPA int depth_seen(int depth)
{
    void *frames[200];
    if (depth > 0) {
        int n = depth_seen(depth - 1);
        __asm__ volatile("" ::: "memory");
        return n;
    }
    free(allocate(10));
    return backtrace(frames, 200);
}

static void section_backtrace(void)
{
    int n = depth_seen(20);
    MUST(n >= 22 && n <= 30);
    MUST(depth_seen(50) == n + 30);
}

/* ---- what the process looks like ---- */

/* Descriptors, signal dispositions, threads: as without the shim. */
static void section_looks(void)
{
    static char text[65536], line[256];
    int n = 0;
    free(allocate(100));
    for (int fd = 0; fd < 200; fd++) /* the highest ones nobody asks for by number */
        if (fcntl(fd, F_GETFD) >= 0)
            n += snprintf(text + n, sizeof text - (size_t)n, "fd %d\n", fd);
    n += snprintf(text + n, sizeof text - (size_t)n, "next fd %d\n", dup(0));
    FILE *f = fopen("/proc/self/status", "r");
    MUST(f != NULL);
    while (fgets(line, sizeof line, f))
        if (strncmp(line, "Sig", 3) == 0 || strncmp(line, "Threads", 7) == 0 ||
            strncmp(line, "Shd", 3) == 0)
            if (strncmp(line, "SigQ", 4) != 0)
                n += snprintf(text + n, sizeof text - (size_t)n, "%s", line);
    fclose(f);
    for (int i = 0; i < RLIMIT_NLIMITS; i++) {
        struct rlimit limit;
        if (getrlimit((enum __rlimit_resource)i, &limit) == 0)
            n += snprintf(text + n, sizeof text - (size_t)n, "limit %d %llu %llu\n", i,
                          (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
    }
    char folder[512];
    MUST(getcwd(folder, sizeof folder) != NULL);
    mode_t mask = umask(0);
    umask(mask);
    n += snprintf(text + n, sizeof text - (size_t)n, "cwd %s\numask %o\nnice %d\n", folder,
                  (unsigned)mask, getpriority(PRIO_PROCESS, 0));
    tally_write(text, (size_t)n);
}

static volatile int turns;

/* More stacks than a small disk holds. */
static NOIPA void *path_of(unsigned path, int depth)
{
    void *p;
    if (depth == 0)
        return allocate(64);
    if (path & 1) {
        p = path_of(path >> 1, depth - 1);
        turns++;
    } else {
        p = path_of(path >> 1, depth - 1);
        turns--;
    }
    return p;
}

TALLY(late_malloc, "host");
static NOIPA void late_malloc(int n)
{
    for (int i = 0; i < n; i++) {
        void *p = malloc(100);
        tally_made(&tally_late_malloc, 100, __LINE__);
        MUST(p != NULL);
    }
}

/* A job that closes every descriptor, moves away and forks is still recorded. */
static void section_closes_all(void)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    MUST(chdir("/") == 0);
    umask(0777);
    late_malloc(100);
    pid_t child = fork();
    if (child == 0) {
        late_malloc(50);
        _exit(0);
    }
    int status;
    MUST(waitpid(child, &status, 0) == child && status == 0);
}

/* Files of its own on every descriptor that anybody may have had: nobody else may write to them. */
static void section_reuses_descriptors(void)
{
    enum { N = 300 };
    char name[] = "/tmp/seep-subject-XXXXXX";
    late_malloc(10);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    int first = mkstemp(name);
    MUST(first == 3 && unlink(name) == 0 && ftruncate(first, 100) == 0);
    for (int i = 4; i < N; i++) {
        char other[] = "/tmp/seep-subject-XXXXXX";
        MUST(mkstemp(other) == i && unlink(other) == 0 && ftruncate(i, 100) == 0);
    }
    for (unsigned i = 0; i < 60000; i++)
        free(path_of(i, 17));
    section_jit();
    section_coroutines();
    pthread_t t;
    MUST(pthread_create(&t, NULL, errno_round, NULL) == 0);
    pthread_join(t, NULL);
    pid_t child = fork();
    if (child == 0) {
        path_of(1, 17);
        section_jit();
        _exit(0);
    }
    int status;
    MUST(waitpid(child, &status, 0) == child && status == 0);
    for (int i = 3; i < N; i++) {
        char text[101];
        MUST(lseek(i, 0, SEEK_CUR) == 0 && read(i, text, sizeof text) == 100);
        for (int k = 0; k < 100; k++)
            MUST(text[k] == 0);
    }
}

/* Drops its rights, then forks: the child may not be able to write, but it must run. */
static void section_drops_rights(void)
{
    late_malloc(10);
    MUST(setgid(65534) == 0 && setuid(65534) == 0);
    late_malloc(10);
    pid_t child = fork();
    if (child == 0) {
        late_malloc(50);
        _exit(0);
    }
    int status;
    MUST(waitpid(child, &status, 0) == child && status == 0);
}

static void section_chroot(void)
{
    char name[] = "/tmp/seep-subject-XXXXXX";
    MUST(mkdtemp(name) != NULL && chroot(name) == 0 && chdir("/") == 0);
    late_malloc(10);
    pid_t child = fork();
    if (child == 0) {
        late_malloc(50);
        _exit(0);
    }
    int status;
    MUST(waitpid(child, &status, 0) == child && status == 0);
}

static void section_work(void)
{
    static void *live[4096];
    for (unsigned i = 0; i < 200000; i++) {
        void **slot = &live[i * 7919 % 4096];
        free(*slot);
        *slot = by_depth((int)(i % 24), 16 + i % 500);
    }
    late_malloc(1000);
}

static void section_many_stacks(void)
{
    for (unsigned i = 0; i < 1u << 17; i++)
        path_of(i, 17);
}

/* The limit on file sizes is the job's own affair. */
static void section_own_xfsz(void)
{
    char name[] = "/tmp/seep-subject-XXXXXX";
    int fd = mkstemp(name);
    MUST(fd >= 0 && unlink(name) == 0);
    struct rlimit limit = {4096, 4096};
    MUST(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    late_malloc(1000);
    MUST(ftruncate(fd, 8192) == 0); /* SIGXFSZ */
}

int main(int argc, char **argv)
{
    static const struct section sections[] = {
        {"errno", section_errno},
        {"first-call", section_first_call},
        {"small-stack", section_small_stack},
        {"deep", section_deep},
        {"coroutines", section_coroutines},
        {"jit", section_jit},
        {"backtrace", section_backtrace},
        {"looks", section_looks},
        {"closes-all", section_closes_all},
        {"drops-rights", section_drops_rights},
        {"chroot", section_chroot},
        {"work", section_work},
        {"many-stacks", section_many_stacks},
        {"own-xfsz", section_own_xfsz},
        {"reuses-descriptors", section_reuses_descriptors},
    };
    return run_section(argc, argv, sections, sizeof sections / sizeof sections[0]);
}
