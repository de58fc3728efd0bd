/* Start and end of recording in a process: options, the profile, forked children. */
#include "preload/life/start.h"

#include <errno.h>
#include <pthread.h>
#include <seep_variables.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "libprof/format/profile_format.h"
#include "libprof/runtime/program/cluster.h"
#include "libprof/runtime/store/live_place.h"
#include "libprof/runtime/store/os.h"
#include "preload/device/use.h"
#include "preload/job/job.h"
#include "preload/life/environment.h"
#include "preload/life/first_start.h"
#include "preload/life/fork.h"
#include "preload/life/program_facts.h"
#include "preload/life/run_settings.h"
#include "preload/life/sandbox.h"
#include "preload/life/waiting.h"
#include "preload/objects/modules.h"
#include "preload/objects/real.h"
#include "preload/python/pyframe.h"
#include "preload/record/main_loop.h"
#include "preload/record/record.h"
#include "preload/record/rss_look.h"
#include "preload/record/tick.h"
#include "preload/record/upcalls.h"
#include "preload/stack/walk.h"

#ifndef SEEP_VERSION
#define SEEP_VERSION "0"
#endif

/* A bystander and its forks are only counted until they have lived for a while or have grown. Most
 * never do, and a profile costs more than their work. */
enum { HELPER_PROMOTE_NS = 500 * 1000 * 1000, HELPER_PROMOTE_BYTES = 16 << 20 };

static struct seep_lock lock;
static bool started;
static uint32_t *wiped; /* the page behind seep_activity once started */
static bool wipe_on_fork;
static const char *woken_into; /* the folder, once the process was woken */
static uint64_t waiting_since_ns;

void seep_start_resolve_rank(void)
{
    struct seep_header *header = seep_arena.header;
    struct seep_cluster cluster;
    seep_cluster_read(seep_run_settings_variable, &cluster);
    if (!header || cluster.rank < 0)
        return;
    __atomic_store_n(&header->rank, cluster.rank, __ATOMIC_RELAXED);
    seep_cluster_note(&cluster, &header->ranks);
}

void seep_start_resolve_allocator(void)
{
    seep_arena.header->devices.allocator_settings = seep_torch_settings();
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

/* What is known of this program; static, because it is large and a signal stack may be small. */
static SEEP_LARGE struct seep_header constants;

static void describe_rank(void)
{
    struct seep_cluster cluster;
    seep_cluster_read(seep_run_settings_variable, &cluster);
    constants.rank = cluster.rank;
    seep_cluster_note(&cluster, &constants.ranks);
}

/* Fills in the parts of a profile's description that take time to find out. */
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
    (void)seep_os_call3(SYS_uname, (long)&names, 0, 0);
    memcpy(constants.host, names.nodename, strnlen(names.nodename, sizeof(constants.host) - 1));
    _Static_assert(sizeof(SEEP_VERSION) <= sizeof(constants.program), "fits");
    strcpy(constants.program, SEEP_VERSION);
    describe_rank();
    seep_process_limits_read(&constants);
}

/* Fills in the parts of the description that a profile needs at once. */
static void describe_start(void)
{
    constants.pid = (uint32_t)seep_os_pid();
    constants.ppid = (uint32_t)seep_os_ppid();
    constants.start_ns = seep_os_clock_ns(CLOCK_MONOTONIC);
    constants.start_unix_ns = seep_os_clock_ns(CLOCK_REALTIME);
    constants.max_bytes = seep_run_settings.max_bytes;
}

/* A compiler has as many stacks as a large training, and nobody reads a tool's one by one: with
 * them, most of the recorded data would be of what a job compiles. */
static void bound_bystander(void)
{
    enum { SHARE = 128, MIN_BYTES = 1 << 20 };
    const uint64_t most = constants.max_bytes, share = most / SHARE;
    const uint64_t least = MIN_BYTES < most ? MIN_BYTES : most;
    constants.max_bytes = share > least ? share : least;
}

/* PID-START.seep; `name` has room for SEEP_NAME_BYTES. */
static void profile_name(char *name)
{
    strcpy(seep_os_put_decimal(name, constants.pid), "-");
    add_hex(name, constants.start_ns);
    strcat(name, SEEP_PROFILE_SUFFIX);
}

static void profile_path(char path[SEEP_PATH_BYTES + SEEP_NAME_BYTES])
{
    strcpy(path, seep_run_settings.dir);
    strcat(path, "/");
    profile_name(path + strlen(path));
}

static void note_trouble(int error)
{
    seep_job_trouble(!error            ? SEEP_TROUBLE_NONE
                     : error == EXFULL ? SEEP_TROUBLE_FOLDER
                                       : SEEP_TROUBLE_PROFILE,
                     error);
}

/* The profile of this process, as `constants` describe it: a file, or counters in memory for a
 * bystander, and if there can be no file. */
static bool create_profile(bool count)
{
    static SEEP_LARGE char
        path[SEEP_PATH_BYTES + SEEP_NAME_BYTES]; /* static: a signal stack may be small */
    profile_path(path);
    int error = count ? 0 : -seep_arena_create(path, &constants);
    note_trouble(error);
    if ((count || error) && seep_arena_count(&constants) != 0)
        return false;
    static const char *const names[] = {"host", "mmap", "shm"};
    for (unsigned i = 0; i < 3; i++)
        strcpy(seep_arena.header->spaces[i].name, names[i]);
    seep_arena.header->live = seep_live_place();
    seep_arena.header->ranks = constants.ranks;
    seep_sampling_set(seep_sampling.coarseness);
    seep_job_flag(seep_arena_counting ? SEEP_PROCESS_COUNTED : SEEP_PROCESS_PROFILE);
    return true;
}

uintptr_t seep_allocator_start, seep_allocator_end;

static void note_allocator(void)
{
    struct seep_loaded allocator;
    const char *name = strrchr(seep_real_allocator, '/');
    if (name && (strncmp(name, "/libc.so", 8) == 0 || strncmp(name, "/libc-", 6) == 0))
        return;
    seep_rss_other_malloc = true;
    if (seep_modules_find((uintptr_t)seep_real.malloc, &allocator)) {
        seep_allocator_start = allocator.start;
        seep_allocator_end = allocator.end;
    }
}

/* Prepares what only stacks need. */
static void prepare_stacks(void)
{
    seep_walk_many = !seep_program_is_bystander;
    seep_walk_start();
    seep_upcalls.watch_objects();
    (void)seep_modules_refresh();
    seep_python_attach();
    seep_arena.header->python_version = seep_python_version;
    seep_arena.header->python_support = seep_python_support();
}

static char *const *environment; /* that the program began with */

/* Of a filter that a process of the job has installed. */
static bool in_sandbox(char *const *variables)
{
    static const char name[] = "SEEP_SANDBOX=";
    while (variables && *variables && strncmp(*variables, name, sizeof(name) - 1) != 0)
        variables++;
    return variables && *variables;
}

/* A gap that the job was started with is the finest; else there is none as long as the budget
 * lasts, and larger blocks are recorded in any case. */
static void sample(void)
{
    enum { FINEST_GAP = 512, EXACT = 16 * 1024 };
    const uint64_t given = seep_run_settings.sample_bytes;
    seep_sampling = (struct seep_sampling){.coarseness = given != 0,
                                           .gap_bytes = given ? given : FINEST_GAP,
                                           .exact_bytes = given ? UINT64_MAX : EXACT};
    seep_overhead = (struct seep_overhead){.share = seep_run_settings.overhead_share,
                                           .memory_bytes = seep_run_settings.overhead_bytes,
                                           .least = given != 0,
                                           .most = SEEP_MAX_COARSENESS};
    constants.sample_bytes = seep_sampling.gap_bytes;
}

static uint64_t boot_number(void)
{
    char text[SEEP_BOOT_TEXT];
    return seep_os_read_file(SEEP_BOOT_FILE, text, sizeof(text)) > 0 ? seep_boot_number(text) : 0;
}

/* Finds the folder of this process from seep_run_settings.dir, which it changes, and opens the
 * job's table there. `sandboxed`: it runs under a filter of the job's, so only calls are made that
 * any program's start makes, and nothing is created. `by_wake`: the folder was chosen for it. */
static void join_machine(bool sandboxed, bool by_wake)
{
    char machine[SEEP_CLUSTER_FOLDER_BYTES], part[SEEP_CLUSTER_FOLDER_BYTES];
    struct utsname names = {0};
    struct seep_cluster cluster;
    seep_cluster_read(seep_run_settings_variable, &cluster);
    if (!sandboxed)
        (void)seep_os_call3(SYS_uname, (long)&names, 0, 0);
    seep_cluster_folder(names.nodename, -1, machine);
    seep_cluster_folder(names.nodename, cluster.part, part);
    struct seep_job_request want = {.dir = seep_run_settings.dir,
                                    .capacity = sizeof(seep_run_settings.dir) - SEEP_NAME_BYTES,
                                    .part = cluster.part >= 0 && !by_wake ? part : NULL,
                                    .machine = machine,
                                    .host = names.nodename,
                                    .boot = boot_number(),
                                    .max_folder_bytes = seep_run_settings.max_folder_bytes,
                                    .may_make = !sandboxed};
    seep_job_open(&want);
}

static bool start_program(void)
{
    seep_run_settings_read(environment, woken_into);
    if (!seep_run_settings.dir[0])
        return false;
    const bool sandboxed = in_sandbox(environment);
    join_machine(sandboxed, woken_into);
    if (!seep_sandbox_permits(sandboxed))
        return false;
    seep_environment_start(environment);
    sample();
    seep_device_is_left = seep_run_settings.no_devices;
    describe_start();
    seep_allocators_first(constants.allocator, sizeof(constants.allocator));
    constants.inherited_end = SEEP_HEADER_BYTES;
    seep_sites_first_own = SEEP_HEADER_BYTES / 64;
    constants.process_plus_1 = seep_job_enter(constants.start_ns, false);
    bool root = seep_job_is_root(); /* recorded whole even if it only starts others */
    seep_program_is_bystander = (!root || seep_program_is_starter(seep_process->name)) &&
                                !seep_program_is_python() && !seep_run_settings.record_bystanders;
    if (seep_program_is_bystander && !root)
        bound_bystander();
    if (seep_program_exports("malloc"))
        seep_process->flags = SEEP_PROCESS_OWN_MALLOC;
    if (root || !seep_program_is_bystander)
        describe_process();
    if (!create_profile(seep_program_is_bystander && !root))
        return false;
    if (woken_into)
        seep_arena.header->waited_ns = seep_os_clock_ns(CLOCK_MONOTONIC) - waiting_since_ns;
    seep_threads_start();
    note_allocator();
    if (!seep_arena_counting)
        prepare_stacks();
    return true;
}

void seep_start_promote_helper(uint64_t now_ns)
{
    static SEEP_LARGE char path[SEEP_PATH_BYTES + SEEP_NAME_BYTES];
    struct seep_header *header = seep_arena.header;
    int64_t live = (int64_t)(header->spaces[SEEP_SPACE_HOST].live_bytes +
                             header->spaces[SEEP_SPACE_MMAP].live_bytes);
    int64_t age_ns = (int64_t)(now_ns - header->start_ns); /* the coarse clock lags behind */
    if (!seep_arena_counting || seep_process->trouble ||
        (age_ns < HELPER_PROMOTE_NS && live < HELPER_PROMOTE_BYTES) || !seep_os_try_lock(&lock))
        return;
    describe_process();
    profile_path(path);
    int error = -seep_arena_persist(path, &constants);
    note_trouble(error);
    if (!error) {
        seep_arena.header->ranks = constants.ranks;
        seep_arena.header->uncounted_stacks_bytes = seep_job_allocated_bytes();
        seep_job_flag(SEEP_PROCESS_PROFILE);
        prepare_stacks();
    }
    seep_os_unlock(&lock);
}

struct seep_lock *seep_start_lock(void)
{
    return &lock;
}

/* Begins in the child. What the parent has written stays readable; its header goes at once. */
static bool start_child(void)
{
    if (seep_os_sandboxed)
        return false;         /* its parent lists it */
    if (!seep_arena.header) { /* nor has its parent a profile */
        (void)seep_job_enter(seep_os_clock_ns(CLOCK_MONOTONIC), true);
        return false;
    }
    const struct seep_inherited *inherited = seep_fork_inherited();
    constants.inherited_end = inherited->end;
    /* A parent that was only counted has no stacks to pass on. */
    if (!seep_arena_counting)
        profile_name(constants.parent_file);
    if (!seep_program_is_bystander)
        describe_rank(); /* set before the fork for each, or it will be */
    constants.python_version = inherited->python_version;
    constants.python_support = inherited->python_support;
    seep_arena_leave();
    seep_sites_first_own = (uint32_t)(constants.inherited_end / 64);
    seep_upcalls.after_fork();
    describe_start();
    if (seep_program_is_bystander)
        bound_bystander();
    constants.process_plus_1 = seep_job_enter(constants.start_ns, true);
    if (!create_profile(seep_program_is_bystander))
        return false;
    for (unsigned s = 0; s < SEEP_MAX_SPACES && inherited->names[s][0]; s++) {
        struct seep_space *space = &seep_arena.header->spaces[s];
        memcpy(space->name, inherited->names[s], sizeof(space->name));
        space->inherited_bytes = inherited->live_bytes[s];
    }
    return true;
}

/* The page that reads 0 in every child has the activity, the number of skipped events, and, away
 * from what all hooks read, what threads are in. */
enum { WAITED = 1, INSIDE = 64, FIRST_EVENTS = 256, NO_ADVICE = 9999 };

/* A page that reads 0 in every child, however it was made. */
static void make_activity_page(void)
{
    const size_t page = seep_os_page_bytes();
    wiped = seep_os_pages(page);
    if (wiped)
        *wiped = SEEP_IDLE; /* a page that is read first costs two faults */
    if (!wiped || in_sandbox(environment))
        return; /* what begins in a sandbox records nothing, nor do its children */
    seep_os_inside = (struct seep_os_inside *)(wiped + INSIDE);
    /* qemu's user emulation says yes to any advice, and does nothing. */
    wipe_on_fork = seep_os_call3(SYS_madvise, (long)wiped, (long)page, MADV_WIPEONFORK) == 0 &&
                   seep_os_call3(SYS_madvise, (long)wiped, (long)page, NO_ADVICE) < 0;
}

static void wipe(void)
{
    *wiped = SEEP_IDLE;
    wiped[WAITED] = 0;
    *seep_os_inside = (struct seep_os_inside){0};
}

static bool start(void)
{
    if (!seep_os_try_lock(&lock))
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

/* Hooks pass by as they do where nothing can be recorded. */
static void begin_to_wait(void)
{
    *wiped = SEEP_OFF;
    __atomic_store_n(&seep_activity, wiped, __ATOMIC_RELEASE);
    waiting_since_ns = seep_os_clock_ns(CLOCK_MONOTONIC);
    seep_waiting = true;
}

bool seep_start_wakes(void)
{
    if (*wiped == SEEP_IDLE)
        *wiped = SEEP_OFF; /* a child that was forked while its parent waited, and waits as well */
    const char *folder = seep_waiting_look();
    char *const *whole = folder ? seep_waiting_environment(environment) : NULL;
    if (!whole)
        return false;
    environment = whole;
    woken_into = folder;
    __atomic_store_n(wiped, SEEP_IDLE, __ATOMIC_RELEASE);
    __atomic_store_n(&seep_waiting, false, __ATOMIC_RELEASE);
    return true;
}

bool seep_start_waits(void)
{
    return seep_program_is_bystander && started && wiped && wiped[WAITED]++ < FIRST_EVENTS;
}

void seep_start_list(void)
{
    if (!seep_program_is_bystander || !started || !wiped || *wiped != SEEP_IDLE || !wiped[WAITED])
        return;
    (void)seep_job_enter(seep_os_clock_ns(CLOCK_MONOTONIC), true);
    seep_job_flag(SEEP_PROCESS_COUNTED);
}

bool seep_start(void)
{
    return (started || woken_into) && wiped && *wiped != SEEP_OFF && start();
}

void seep_end(uint32_t kind, int value)
{
    struct seep_header *header = seep_arena.header;
    if (!header || header->pid != (uint32_t)seep_os_pid())
        return; /* a vfork child: the memory is its parent's */
    if (kind)
        seep_upcalls.snapshot_before_end();
    else
        seep_upcalls.snapshot_goes_on();
    header->exit_value = value;
    header->end_ns = kind ? seep_os_clock_ns(CLOCK_MONOTONIC) : 0;
    __atomic_store_n(&header->exit_kind, kind, __ATOMIC_RELEASE);
    if (kind && seep_tls.thread)
        seep_main_loop_end(seep_tls.thread);
    if (kind && !(seep_arena_counting && kind == SEEP_EXIT_EXEC))
        seep_tick_final();
    if (seep_arena_counting)
        seep_job_count();
}

static void at_exit(int status, void *unused)
{
    (void)unused;
    /* Most helpers end without an event, and without one no thread needs a state. */
    if (seep_arena_counting && !seep_tls.thread && !seep_tls.depth && seep_is_recording()) {
        seep_guard_raise();
        seep_end(SEEP_EXIT_EXIT, status & 0xff);
        seep_guard_lower();
        return;
    }
    if (!seep_enter()) {
        seep_start_list();
        return;
    }
    seep_end(SEEP_EXIT_EXIT, status & 0xff);
    seep_leave();
}

/* ---- as the library is loaded ---------------------------------------------------------------- */

/* --python-allocators and a Python without a GIL: that has one allocator only, and ends at
 * PYTHONMALLOC=malloc before it has begun. So what `seep run` has added is taken away there. */
static char **find_variable(char **variables, const char *start)
{
    const size_t n = strlen(start);

    while (variables && *variables && strncmp(*variables, start, n) != 0)
        variables++;
    return variables && *variables ? variables : NULL;
}

/* Takes the variable out of `variables`, in place, if such a Python is loaded. Before the program
 * reads it, while the loader starts. */
static void keep_python_alive(char **variables)
{
    static const char malloc_is_set[] = "PYTHONMALLOC=malloc";
    char **line = find_variable(variables, malloc_is_set);

    if (!line || (*line)[sizeof malloc_is_set - 1] ||
        !find_variable(variables, SEEP_VARIABLE_PYTHON_ALLOCATORS "=1"))
        return;
    seep_python_attach();
    if (seep_python_support() != SEEP_PYTHON_NO_GIL)
        return;
    for (; *line; line++)
        line[0] = line[1];
}

/* The first of all constructors (-z initfirst): what other libraries allocate is recorded, and no
 * allocator holds a lock. Libc has not run its own: the environment comes as an argument. */
__attribute__((constructor)) static void construct(int argc, char **argv, char **environment_given)
{
    (void)argc;
    (void)argv;
    environment = environment_given;
    seep_loader_starting = true;
    seep_guard_raise();
    if (!in_sandbox(environment))
        seep_first_start_begin(environment);
    seep_real_resolve();
    seep_fork_watch();
    keep_python_alive(environment_given);
    make_activity_page();
    if (wiped && seep_waiting_is_asked(environment))
        begin_to_wait();
    else if (wiped)
        (void)start();
    if (seep_is_recording() || seep_waiting) {
        on_exit(at_exit, NULL);
        if (!wipe_on_fork) /* a kernel before 4.14, an emulator, or a sandbox */
            pthread_atfork(NULL, NULL, wipe);
    }
    seep_guard_lower();
    seep_loader_starting = false;
    seep_first_start_end();
}
