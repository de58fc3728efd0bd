/* A library before libc that has its own versions of the loader's functions, and reports which of
 * them were called while this thread was in a hook of libseep.so. Its constructor runs before
 * libseep.so's and starts the threads with hooks. Built with -shared; program: the same file with
 * -DPROGRAM, linked to it. Prints "ok", or a line for each hook and function.
 *   usage: PROGRAM [new] */
#define _GNU_SOURCE
#include "libprof/arch/arch.h"
#include "tests/subjects/tally.h"

#ifdef PROGRAM

void own_loader_in_threads(int);
void own_loader_print(void);

int main(int argc, char **argv)
{
    (void)argv;
    own_loader_in_threads(argc > 1); /* new: operator new and delete, too */
    own_loader_print();
    return 0;
}

#else

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* ---- libc's own, looked up by hand ---- */

static void *of_object(const struct link_map *map, const char *name)
{
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            symbols = (const ElfW(Sym) *)d->d_un.d_ptr;
        else if (d->d_tag == DT_STRTAB)
            strings = (const char *)d->d_un.d_ptr;
    }
    /* The strings follow the symbols in every library that GNU ld makes. */
    for (const ElfW(Sym) *s = symbols; s && (const char *)s < strings; s++)
        if (s->st_shndx != SHN_UNDEF && strcmp(strings + s->st_name, name) == 0)
            return (void *)(map->l_addr + s->st_value);
    return NULL;
}

static void *of_libc(const char *name)
{
    for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
        if (strstr(map->l_name, "libc.so.6")) {
            void *found = of_object(map, name);
            MUST(found != NULL);
            return found;
        }
    _exit(95);
}

/* ---- what was called in which hook ---- */

enum { MAX_CALLS = 64 };

struct calls { /* shared with children */
    int n;
    struct call {
        const char *hook, *function;
    } calls[MAX_CALLS];
};

static struct calls early_calls, *seen = &early_calls;
/* Volatile: the hooks are declared as functions that call nobody. */
static _Thread_local const char *volatile hook_now __attribute__((tls_model("initial-exec")));

/* Each pair once. The threads and children that are in hooks run one after the other. */
static void note(const char *function)
{
    const char *hook = hook_now;
    for (int i = 0; i < seen->n; i++)
        if (seen->calls[i].hook == hook && seen->calls[i].function == function)
            return;
    if (hook && seen->n < MAX_CALLS)
        seen->calls[seen->n++] = (struct call){hook, function};
}

#define LOADER(type, name, parameters, arguments)                                                  \
    __attribute__((visibility("default"))) type name parameters                                    \
    {                                                                                              \
        note(#name);                                                                               \
        return ((type(*) parameters)of_libc(#name))arguments;                                      \
    }

/* dlsym and dlopen look at who calls them (RTLD_NEXT): the call is a jump, which keeps their
 * caller. */
#define LOADER_JUMP(name)                                                                          \
    __attribute__((visibility("hidden"), used)) void *own_##name(void)                             \
    {                                                                                              \
        note(#name);                                                                               \
        return of_libc(#name);                                                                     \
    }                                                                                              \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"                    \
            "push %rdi\npush %rsi\npush %rdx\n"                                                    \
            "call own_" #name "\n"                                                                 \
            "pop %rdx\npop %rsi\npop %rdi\n"                                                       \
            "jmp *%rax\n.size " #name ", .-" #name "\n");

LOADER_JUMP(dlsym)
LOADER_JUMP(dlvsym)
LOADER_JUMP(dlopen)
LOADER_JUMP(dlmopen)
LOADER(int, dladdr, (const void *at, Dl_info *info), (at, info))
LOADER(int, dladdr1, (const void *at, Dl_info *info, void **extra, int flags),
       (at, info, extra, flags))
LOADER(int, dlinfo, (void *handle, int request, void *info), (handle, request, info))
LOADER(char *, dlerror, (void), ())
LOADER(int, dl_iterate_phdr, (int (*visit)(struct dl_phdr_info *, size_t, void *), void *data),
       (visit, data))

/* ---- the hooks ---- */

#define IN_HOOK(call)                                                                              \
    do {                                                                                           \
        hook_now = #call;                                                                          \
        call;                                                                                      \
        hook_now = NULL;                                                                           \
    } while (0)

static char *none[] = {"nothing", NULL};
static const char nowhere[] = "/nonexistent/program";

static void maps(void)
{
    char *p;
    IN_HOOK(p = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    MUST(p != MAP_FAILED);
    IN_HOOK(mprotect(p, 4096, PROT_NONE));
    IN_HOOK(madvise(p, 8192, MADV_DONTNEED));
    IN_HOOK(p = mremap(p, 4096, 16384, MREMAP_MAYMOVE));
    IN_HOOK(munmap(p, 16384));
    IN_HOOK(p = mmap64(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    IN_HOOK(munmap(p, 4096));
    int fd;
    IN_HOOK(fd = shm_open("/seep-test-of-nothing", O_RDONLY, 0600));
    MUST(fd < 0);
    IN_HOOK(fd = memfd_create("seep-test", 0));
    close(fd);
    IN_HOOK(p = shmat(-1, NULL, 0));
    IN_HOOK(shmdt(NULL));
    IN_HOOK(p = sbrk(0));
    IN_HOOK(fd = brk(p));
}

static void execs(void)
{
    pid_t pid;
    IN_HOOK(execve(nowhere, none, environ));
    IN_HOOK(execv(nowhere, none));
    IN_HOOK(execvp("seep-test-no-such-program", none));
    IN_HOOK(execvpe("seep-test-no-such-program", none, environ));
    IN_HOOK(execl(nowhere, "nothing", (char *)NULL));
    IN_HOOK(execlp("seep-test-no-such-program", "nothing", (char *)NULL));
    IN_HOOK(execle(nowhere, "nothing", (char *)NULL, environ));
    IN_HOOK(fexecve(-1, none, environ));
    IN_HOOK(MUST(posix_spawn(&pid, nowhere, NULL, NULL, none, environ) != 0));
    IN_HOOK(MUST(posix_spawnp(&pid, nowhere, NULL, NULL, none, environ) != 0));
    if ((pid = vfork()) == 0) {
        hook_now = "execve after vfork";
        execve(nowhere, none, environ);
        hook_now = NULL;
        seep_arch_call6(SYS_exit, 0, 0, 0, 0, 0, 0);
    }
    MUST(waitpid(pid, NULL, 0) == pid);
}

/* A child ends by END, in the hook. */
#define IN_CHILD(end)                                                                              \
    do {                                                                                           \
        pid_t child;                                                                               \
        hook_now = "fork";                                                                         \
        child = fork();                                                                            \
        hook_now = NULL;                                                                           \
        if (child == 0) {                                                                          \
            setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});                                        \
            IN_HOOK(end);                                                                          \
        }                                                                                          \
        MUST(child > 0);                                                                           \
        IN_HOOK(MUST(waitpid(child, NULL, 0) == child));                                           \
    } while (0)

static void children(void)
{
    int status;
    siginfo_t info;
    struct rusage usage;
    IN_HOOK(wait(&status));
    IN_HOOK(waitpid(-1, &status, WNOHANG));
    IN_HOOK(wait3(&status, WNOHANG, &usage));
    IN_HOOK(wait4(-1, &status, WNOHANG, &usage));
    IN_HOOK(waitid(P_ALL, 0, &info, WEXITED | WNOHANG));
    IN_CHILD(_exit(0));
    IN_CHILD(_Exit(0));
    IN_CHILD(quick_exit(0));
    IN_CHILD(abort());
}

static void others(void)
{
    sem_t semaphore;
    sem_init(&semaphore, 0, 1);
    IN_HOOK(sem_trywait(&semaphore));
    IN_HOOK(syscall(SYS_getpid));
    IN_HOOK(prctl(PR_GET_DUMPABLE));
    IN_HOOK(MUST(setuid(getuid()) == 0));
    IN_HOOK(MUST(seteuid(geteuid()) == 0));
    IN_HOOK(MUST(setreuid((uid_t)-1, (uid_t)-1) == 0));
    IN_HOOK(MUST(setresuid((uid_t)-1, (uid_t)-1, (uid_t)-1) == 0));
}

/* As C++ names them; there where the program is linked to libstdc++, whose constructor allocates.
 */
__attribute__((weak)) void *_Znwm(size_t);
__attribute__((weak)) void *_Znam(size_t);
__attribute__((weak)) void *_ZnwmSt11align_val_t(size_t, size_t);
__attribute__((weak)) void _ZdlPv(void *);
__attribute__((weak)) void _ZdaPv(void *);
__attribute__((weak)) void _ZdlPvm(void *, size_t);
__attribute__((weak)) void _ZdlPvSt11align_val_t(void *, size_t);

static void news(void)
{
    void *p;
    IN_HOOK(p = _Znwm(100));
    IN_HOOK(_ZdlPv(p));
    IN_HOOK(p = _Znwm(100));
    IN_HOOK(_ZdlPvm(p, 100));
    IN_HOOK(p = _Znam(100));
    IN_HOOK(_ZdaPv(p));
    IN_HOOK(p = _ZnwmSt11align_val_t(128, 64));
    IN_HOOK(_ZdlPvSt11align_val_t(p, 64));
}

static void *first_maps(void *unused)
{
    maps();
    return unused;
}

static void *first_execs(void *unused)
{
    execs();
    return unused;
}

static void *first_children(void *unused)
{
    children();
    return unused;
}

static void *first_others(void *unused)
{
    others();
    return unused;
}

static void *first_news(void *unused)
{
    news();
    return unused;
}

static void share(void)
{
    struct calls *shared = (struct calls *)syscall(
        SYS_mmap, NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(shared != MAP_FAILED);
    *shared = early_calls;
    seen = shared;
}

__attribute__((constructor)) static void in_a_constructor(void)
{
    maps(); /* first of all: nothing of libseep.so's has run */
    share();
    execs();
    children();
    others();
}

__attribute__((visibility("default"))) void own_loader_in_threads(int with_new)
{
    void *(*const works[])(void *) = {first_maps, first_execs, first_children, first_others,
                                      first_news};
    for (int i = 0; i < 4 + (with_new != 0); i++) {
        pthread_t thread;
        MUST(pthread_create(&thread, NULL, works[i], NULL) == 0);
        pthread_join(thread, NULL);
    }
}

__attribute__((visibility("default"))) void own_loader_print(void)
{
    char text[256];
    for (int i = 0; i < seen->n; i++)
        tally_write(text, (size_t)snprintf(text, sizeof text, "%s called %s\n", seen->calls[i].hook,
                                           seen->calls[i].function));
    if (seen->n == 0)
        tally_write("ok\n", 3);
}

#endif
