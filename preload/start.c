/* Start and end of recording in a process: options, the profile, forked children. */
#include "preload/start.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "libprof/range_map.h"
#include "preload/allocators.h"
#include "preload/capture.h"
#include "preload/environment.h"
#include "preload/job.h"
#include "preload/limits.h"
#include "preload/modules.h"
#include "preload/new.h"
#include "preload/pyframe.h"
#include "preload/real.h"
#include "preload/record.h"
#include "preload/steps.h"
#include "preload/tick.h"
#include "preload/walk.h"

#ifndef SEEP_VERSION
#define SEEP_VERSION "0"
#endif

struct seep_options seep_options = {.max_bytes = UINT64_C(256) << 20};

/* Written before a fork, read in the child. */
static uint64_t inherited_bytes[SEEP_MAX_SPACES];
static bool fork_seen;
static struct seep_lock lock;
static bool started;
static uint32_t *wiped; /* the page behind seep_activity once started */
static bool wipe_on_fork;

static uint64_t parse_size(const char *text)
{
    char *end = NULL;
    double value = strtod(text, &end);
    double unit = 1;
    bool binary = end && end[0] && end[1] == 'i';
    switch (end ? end[0] : 0) {
    case 'k':
    case 'K':
        unit = binary ? 1024. : 1e3;
        break;
    case 'M':
        unit = binary ? 1048576. : 1e6;
        break;
    case 'G':
        unit = binary ? 1073741824. : 1e9;
        break;
    default:
        break;
    }
    return value > 0 && value * unit < 1e18 ? (uint64_t)(value * unit) : 0;
}

static void read_options(void)
{
    const char *dir = getenv("SEEP_OUT"), *text;
    if (!dir || !*dir)
        return;
    if (dir[0] != '/' && getcwd(seep_options.dir, sizeof(seep_options.dir) - 1))
        strcat(seep_options.dir, "/");
    if (strlen(seep_options.dir) + strlen(dir) >= sizeof(seep_options.dir) - 64) {
        seep_options.dir[0] = '\0';
        return;
    }
    strcat(seep_options.dir, dir);
    if ((text = getenv("SEEP_MAX_PROFILE")) && parse_size(text))
        seep_options.max_bytes = parse_size(text);
    if ((text = getenv("SEEP_SAMPLE")))
        seep_options.sample_bytes = parse_size(text);
    /* The bound is also reserved as address space. */
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        seep_options.max_bytes > limit.rlim_cur / 8)
        seep_options.max_bytes = limit.rlim_cur / 8;
    uint64_t most = (uint64_t)SEEP_MAX_CHUNKS * SEEP_CHUNK_BYTES;
    uint64_t least = SEEP_HEADER_BYTES + 16 * SEEP_CHUNK_BYTES;
    if (seep_options.max_bytes > most)
        seep_options.max_bytes = most;
    if (seep_options.max_bytes < least)
        seep_options.max_bytes = least;
    (void)mkdir(seep_options.dir, 0700);
}

static int rank_of_job(void)
{
    static const char *const names[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *text = getenv(names[i]);
        if (text && *text >= '0' && *text <= '9')
            return (int)strtol(text, NULL, 10);
    }
    return -1;
}

void seep_start_settle_rank(void)
{
    struct seep_header *header = seep_arena.header;
    int rank = rank_of_job();
    if (header && rank >= 0)
        __atomic_store_n(&header->rank, rank, __ATOMIC_RELAXED);
}

static void add_hex(char *text, uint64_t value)
{
    char digits[17];
    int n = 0;
    do
        digits[n++] = "0123456789abcdef"[value & 15];
    while (value >>= 4);
    size_t end = strlen(text);
    while (n)
        text[end++] = digits[--n];
    text[end] = '\0';
}

static void add_decimal(char *text, uint64_t value)
{
    char digits[24];
    int n = 0;
    do
        digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    size_t end = strlen(text);
    while (n)
        text[end++] = digits[--n];
    text[end] = '\0';
}

/* Of this program; static, since it is large and a signal stack may be small. */
static struct seep_header constants;

static void describe_process(void)
{
    struct utsname names = {0};
    long n = seep_os_call6(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)constants.exe,
                           sizeof(constants.exe) - 1, 0, 0);
    constants.exe[n > 0 ? n : 0] = '\0';
    if (seep_os_call3(SYS_getcwd, (long)constants.cwd, sizeof(constants.cwd), 0) < 0)
        constants.cwd[0] = '\0';
    n = seep_os_read_file("/proc/self/cmdline", constants.argv, sizeof(constants.argv));
    constants.argv_bytes = n > 0 ? (uint32_t)n : 0;
    (void)uname(&names);
    memcpy(constants.host, names.nodename, strnlen(names.nodename, sizeof(constants.host) - 1));
    _Static_assert(sizeof(SEEP_VERSION) <= sizeof(constants.program), "fits");
    strcpy(constants.program, SEEP_VERSION);
    constants.max_bytes = seep_options.max_bytes;
    constants.sample_bytes = seep_options.sample_bytes;
    constants.rank = rank_of_job();
    seep_limits_read(&constants);
}

/* PID-START.seep; `name` has room for SEEP_NAME_BYTES. */
static void profile_name(char *name)
{
    name[0] = '\0';
    add_decimal(name, constants.pid);
    strcat(name, "-");
    add_hex(name, constants.start_ns);
    strcat(name, SEEP_PROFILE_SUFFIX);
}

/* The profile of this process, as `constants` describe it. */
static bool create_profile(void)
{
    char path[SEEP_PATH_BYTES + SEEP_NAME_BYTES];
    constants.pid = (uint32_t)seep_os_pid();
    constants.ppid = (uint32_t)seep_os_ppid();
    constants.start_ns = seep_os_clock_ns(CLOCK_MONOTONIC);
    constants.start_unix_ns = seep_os_clock_ns(CLOCK_REALTIME);
    strcpy(path, seep_options.dir);
    strcat(path, "/");
    profile_name(path + strlen(path));
    if (seep_arena_create(path, &constants) != 0)
        return false;
    static const char *const names[] = {"host", "mmap", "shm"};
    for (unsigned i = 0; i < 3; i++)
        strcpy(seep_arena.header->spaces[i].name, names[i]);
    return true;
}

uintptr_t seep_allocator_start, seep_allocator_end;

/* Only of glibc's malloc it is known that no two blocks begin within 32 bytes. */
static void look_at_allocator(void)
{
    Dl_info where;
    struct seep_loaded allocator;
    const char *file = dladdr((void *)seep_real.malloc, &where) ? where.dli_fname : NULL;
    const char *name = file ? strrchr(file, '/') : NULL;
    if (name && (strncmp(name, "/libc.so", 8) == 0 || strncmp(name, "/libc-", 6) == 0))
        return;
    seep_live_packed = true;
    if (seep_modules_find((uintptr_t)seep_real.malloc, &allocator)) {
        seep_allocator_start = allocator.start;
        seep_allocator_end = allocator.end;
    }
}

/* Code has been unloaded: other code may lie there next. */
static void forget_code(void)
{
    seep_walk_forget();
    seep_capture_forget();
    seep_threads_forget();
    seep_new_forget();
    seep_python_attach();
}

static bool start_program(void)
{
    read_options();
    if (!seep_options.dir[0])
        return false;
    seep_environment_start(environ);
    seep_sample_bytes = seep_options.sample_bytes;
    describe_process();
    seep_allocators_first(constants.allocator, sizeof(constants.allocator));
    constants.inherited_end = SEEP_HEADER_BYTES;
    seep_sites_first_own = SEEP_HEADER_BYTES / 64;
    if (!create_profile())
        return false;
    seep_job_open(seep_options.dir);
    seep_arena.header->process_plus_1 = seep_job_enter(constants.start_ns, false);
    seep_threads_start();
    seep_walk_start();
    seep_modules_find_object = (seep_find_object_fn *)dlsym(RTLD_DEFAULT, "_dl_find_object");
    seep_modules_on_object = seep_new_look;
    seep_modules_on_unload = forget_code;
    seep_modules_refresh();
    look_at_allocator();
    seep_python_attach();
    seep_arena.header->python_version = seep_python_version;
    seep_arena.header->python_support = seep_python_ready ? 1 : seep_python_version ? 2 : 0;
    return true;
}

void seep_before_fork(void)
{
    const struct seep_thread *thread = seep_tls.thread;
    for (unsigned s = 0; s < SEEP_MAX_SPACES; s++)
        inherited_bytes[s] = seep_arena.header->spaces[s].live_bytes +
                             (uint64_t)(thread ? thread->sites.pending[s] : 0);
    fork_seen = true;
}

void seep_after_fork(void)
{
    fork_seen = false;
}

struct seep_lock *seep_start_lock(void)
{
    return &lock;
}

/* In the child. What the parent has written stays readable, its header goes at once. */
static bool start_child(void)
{
    const struct seep_header *parent = seep_arena.header;
    if (!parent) { /* nor has its parent a profile */
        (void)seep_job_enter(seep_os_clock_ns(CLOCK_MONOTONIC), true);
        return false;
    }
    if (!fork_seen)
        seep_before_fork();
    fork_seen = false;
    constants.inherited_end = SEEP_HEADER_BYTES + (uint64_t)parent->n_chunks * SEEP_CHUNK_BYTES;
    profile_name(constants.parent_file);
    constants.rank = rank_of_job(); /* it may have been set before the fork for each, or will be */
    constants.python_version = parent->python_version;
    constants.python_support = parent->python_support;
    struct seep_space spaces[SEEP_MAX_SPACES];
    memcpy(spaces, parent->spaces, sizeof(spaces));
    seep_arena_leave();
    seep_sites_first_own = (uint32_t)(constants.inherited_end / 64);
    seep_live_after_fork();
    seep_range_after_fork();
    seep_modules_after_fork();
    seep_capture_after_fork();
    seep_tick_after_fork();
    seep_steps_after_fork();
    seep_python_after_fork();
    seep_real_after_fork();
    if (!create_profile()) {
        (void)seep_job_enter(constants.start_ns, true); /* so that the report can tell of it */
        return false;
    }
    for (unsigned s = 0; s < SEEP_MAX_SPACES; s++) {
        memcpy(seep_arena.header->spaces[s].name, spaces[s].name, sizeof(spaces[s].name));
        seep_arena.header->spaces[s].inherited_bytes = inherited_bytes[s];
    }
    seep_threads_after_fork();
    seep_arena.header->process_plus_1 = seep_job_enter(constants.start_ns, true);
    return true;
}

/* A page that reads 0 in every child, however it was made. */
static void make_activity_page(void)
{
    wiped = seep_os_pages(4096);
    if (!wiped)
        return;
    wipe_on_fork = seep_os_call3(SYS_madvise, (long)wiped, 4096, MADV_WIPEONFORK) == 0;
}

static void wipe(void)
{
    *wiped = SEEP_IDLE;
}

bool seep_start(void)
{
    if (!started && !environ)
        return false; /* libc itself is still starting */
    if (!wiped)
        make_activity_page();
    if (!wiped || *wiped == SEEP_OFF)
        return false;
    if (__atomic_exchange_n(&lock.word, 1, __ATOMIC_ACQUIRE))
        return false;
    bool ok = *wiped == SEEP_RECORDING;
    if (!ok) {
        ok = started ? start_child() : start_program();
        started = true;
        __atomic_store_n(wiped, ok ? SEEP_RECORDING : SEEP_OFF, __ATOMIC_RELEASE);
        __atomic_store_n(&seep_activity, wiped, __ATOMIC_RELEASE);
    }
    seep_os_unlock(&lock);
    return ok;
}

void seep_end(uint32_t kind, int value)
{
    struct seep_header *header = seep_arena.header;
    if (!header || header->pid != (uint32_t)seep_os_pid())
        return; /* a vfork child: the memory is its parent's */
    header->exit_value = value;
    header->end_ns = kind ? seep_os_clock_ns(CLOCK_MONOTONIC) : 0;
    __atomic_store_n(&header->exit_kind, kind, __ATOMIC_RELEASE);
    if (kind)
        seep_tick_final();
}

static void at_exit(int status, void *unused)
{
    (void)unused;
    if (!seep_enter())
        return;
    seep_end(SEEP_EXIT_EXIT, status & 0xff);
    seep_leave();
}

__attribute__((constructor(101))) static void construct(void)
{
    seep_real_resolve();
    if (!seep_enter())
        return;
    on_exit(at_exit, NULL);
    if (!wipe_on_fork) /* a kernel before 4.14, or a sandbox */
        pthread_atfork(NULL, NULL, wipe);
    seep_leave();
}
