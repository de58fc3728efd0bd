/* Counts which calls the job made to the devices: a run under a profiler must make the same as one
 * without. Counters are shared with forked children, which are told "not initialized" if their
 * parent has a context, as by the real driver. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/standin/inside.h"
#include "tests/standin/raw.h"

enum { MAX_CALLS = 600, NAME = 56 };

struct call {
    char name[NAME];
    uint64_t n, every; /* every: how often it fails */
};

static struct conduct {
    uint64_t forked_calls, device_changes, error_changes, failures, contexts[STANDIN_MOST_DEVICES];
    int n_calls;
    struct call calls[MAX_CALLS];
} * seen;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int owner;   /* the process that `seen` is of */
static int starter; /* the one that makes it, or made it */
static uint64_t delay_us;
static bool visible;

uint64_t standin_number_of(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static int this_process(void)
{
    return (int)seep_arch_call6(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static void start(void)
{
    bool again = owner;
    pthread_mutex_init(&lock, NULL);
    seen = raw_map(sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED);
    if (!seen)
        abort();
    delay_us = standin_number_of("STANDIN_DELAY_US", 0);
    visible = standin_number_of("STANDIN_VISIBLE", 0);
    if (again)
        standin_forget();
    __atomic_store_n(&owner, this_process(), __ATOMIC_RELEASE);
}

/* The first of a process's threads starts, and the others wait for it. */
static void start_once(void)
{
    int self = this_process(), before = __atomic_load_n(&starter, __ATOMIC_ACQUIRE);
    if (before != self && __atomic_compare_exchange_n(&starter, &before, self, false,
                                                      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        start();
    while (__atomic_load_n(&owner, __ATOMIC_ACQUIRE) != self)
        seep_arch_call6(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

/* A child of fork() that finds no context of its parent's has nothing of it, and starts afresh. */
static bool is_forked(void)
{
    int self = this_process(), of = __atomic_load_n(&owner, __ATOMIC_ACQUIRE);
    if (self == of)
        return false;
    for (int i = 0; of && i < STANDIN_MOST_DEVICES; i++)
        if (standin_has_context(i)) /* unless another thread has just started, and made it */
            return __atomic_load_n(&owner, __ATOMIC_ACQUIRE) != self;
    start_once();
    return false;
}

/* Of "cudaMalloc:3,cuMemCreate:2". */
static uint64_t fails_every(const char *name)
{
    size_t length = strlen(name);
    for (const char *p = getenv("STANDIN_FAIL"); p && *p;
         p = strchr(p, ',') ? strchr(p, ',') + 1 : "")
        if (!strncmp(p, name, length) && p[length] == ':')
            return strtoull(p + length + 1, NULL, 10);
    return 0;
}

static int slot_of(const char *name)
{
    int i = 0;
    pthread_mutex_lock(&lock);
    while (i < seen->n_calls && strcmp(seen->calls[i].name, name))
        i++;
    if (i == seen->n_calls && i < MAX_CALLS) {
        strncpy(seen->calls[i].name, name, NAME - 1);
        seen->calls[i].every = fails_every(name);
        seen->n_calls++;
    }
    pthread_mutex_unlock(&lock);
    return i < MAX_CALLS ? i : MAX_CALLS - 1;
}

int standin_begin(int *slot, const char *name)
{
    if (is_forked()) {
        __atomic_fetch_add(&seen->forked_calls, 1, __ATOMIC_RELAXED);
        return STANDIN_NOT_INITIALIZED;
    }
    int at = __atomic_load_n(slot, __ATOMIC_RELAXED) - 1;
    if (at < 0 || at >= seen->n_calls || strcmp(seen->calls[at].name, name))
        __atomic_store_n(slot, (at = slot_of(name)) + 1, __ATOMIC_RELAXED);
    struct call *call = &seen->calls[at];
    uint64_t n = __atomic_add_fetch(&call->n, 1, __ATOMIC_RELAXED);
    if (!call->every || n % call->every)
        return STANDIN_OK;
    __atomic_fetch_add(&seen->failures, 1, __ATOMIC_RELAXED);
    return STANDIN_NO_MEMORY;
}

void standin_note(const char *change)
{
    __atomic_fetch_add(*change == 'd' ? &seen->device_changes : &seen->error_changes, 1,
                       __ATOMIC_RELAXED);
}

void standin_note_context(int device)
{
    __atomic_fetch_add(&seen->contexts[device], 1, __ATOMIC_RELAXED);
}

void standin_wait_a_little(void)
{
    struct timespec time = {0, (long)(delay_us % 1000000) * 1000};
    if (delay_us)
        seep_arch_call6(SYS_nanosleep, (long)&time, 0, 0, 0, 0, 0);
}

bool standin_visible(void)
{
    return visible;
}

static void write_live(int fd)
{
    static const char *const names[] = {STANDIN_KIND_NAMES};
    const char *comma = "";
    for (int kind = 0; kind < STANDIN_KINDS; kind++)
        for (int device = kind < STANDIN_PINNED ? 0 : -1; device < standin_devices(); device++) {
            uint64_t bytes = standin_live((enum standin_kind)kind, device);
            if (!bytes || (kind >= STANDIN_PINNED && device >= 0))
                continue;
            dprintf(fd, "%s\n  {\"kind\": \"%s\", \"device\": %d, \"bytes\": %lu}", comma,
                    names[kind], device, bytes);
            comma = ",";
        }
}

static void write_log(int fd)
{
    dprintf(fd,
            "{\"pid\": %d, \"forked_calls\": %lu, \"device_changes\": %lu, \"error_changes\": %lu, "
            "\"failures\": %lu,\n\"contexts\": [",
            owner, seen->forked_calls, seen->device_changes, seen->error_changes, seen->failures);
    for (int i = 0; i < standin_devices(); i++)
        dprintf(fd, "%s%lu", i ? ", " : "", seen->contexts[i]);
    dprintf(fd, "],\n\"live\": [");
    write_live(fd);
    dprintf(fd, "],\n\"calls\": {");
    for (int i = 0; i < seen->n_calls; i++)
        dprintf(fd, "%s\n  \"%s\": %lu", i ? "," : "", seen->calls[i].name, seen->calls[i].n);
    dprintf(fd, "}}\n");
}

/* %p is the process. */
static int open_log(const char *name)
{
    char path[4096];
    const char *mark = strstr(name, "%p");
    if (mark)
        snprintf(path, sizeof path, "%.*s%d%s", (int)(mark - name), name, owner, mark + 2);
    else
        snprintf(path, sizeof path, "%s", name);
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static void __attribute__((destructor)) at_exit(void)
{
    const char *name = getenv("STANDIN_LOG");
    if (!name || !owner || owner != this_process())
        return;
    int fd = open_log(name);
    if (fd >= 0) {
        write_log(fd);
        close(fd);
    }
}
