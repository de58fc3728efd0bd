/* Memory of devices, from packages that each bring their own CUDA runtime; prints what it did
 * (tally.h).
 *   usage: runtime SECTION PACKAGE [PACKAGE] */
#include "run_threads.h"
#include "tally.h"

#include <dlfcn.h>
#include <sys/wait.h>

#include "lib/package_like.h"

enum { MAX_PACKAGES = 2, EACH = 10, KIB = 1024, ROUNDS = 3000, HELD = 8 };

static struct package {
    int (*made)(enum package_way, void **, size_t), (*gone)(enum package_way, void *);
    int (*set_device)(int), (*get_device)(int *), (*last_error)(void), (*reset)(void);
    int (*registered)(void *, size_t);
    int (*ipc_handle)(void *, void *), (*ipc_open)(void **, const void *), (*ipc_close)(void *);
    int (*entry)(int, const char *, void **);
} packages[MAX_PACKAGES];
static int n_packages;
static const char *last_argument;

static void open_package(struct package *p, const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    MUST(library);
    *(void **)&p->made = dlsym(library, "package_made");
    *(void **)&p->gone = dlsym(library, "package_gone");
    *(void **)&p->set_device = dlsym(library, "package_set_device");
    *(void **)&p->get_device = dlsym(library, "package_get_device");
    *(void **)&p->last_error = dlsym(library, "package_last_error");
    *(void **)&p->reset = dlsym(library, "package_reset");
    *(void **)&p->registered = dlsym(library, "package_registered");
    *(void **)&p->ipc_handle = dlsym(library, "package_ipc_handle");
    *(void **)&p->ipc_open = dlsym(library, "package_ipc_open");
    *(void **)&p->ipc_close = dlsym(library, "package_ipc_close");
    *(void **)&p->entry = dlsym(library, "package_entry");
    MUST(p->made && p->gone && p->set_device && p->entry);
}

/* ---- blocks, made on each device and of the host -----------------------------------------------
 */

TALLY(subject_first, "device:0");
static NOIPA void *subject_first(const struct package *p, enum package_way way, size_t bytes)
{
    void *block = NULL;
    const int line = __LINE__ + 1;
    MUST(p->made(way, &block, bytes) == 0);
    MUST(block);
    tally_made(&tally_subject_first, bytes, line);
    return block;
}

TALLY(subject_second, "device:1");
static NOIPA void *subject_second(const struct package *p, enum package_way way, size_t bytes)
{
    void *block = NULL;
    const int line = __LINE__ + 1;
    MUST(p->made(way, &block, bytes) == 0);
    MUST(block);
    tally_made(&tally_subject_second, bytes, line);
    return block;
}

TALLY(subject_pinned, "pinned");
static NOIPA void *subject_pinned(const struct package *p, enum package_way way, size_t bytes)
{
    void *block = NULL;
    const int line = __LINE__ + 1;
    MUST(p->made(way, &block, bytes) == 0);
    MUST(block);
    tally_made(&tally_subject_pinned, bytes, line);
    return block;
}

static void drop(const struct package *p, enum package_way way, void *block, struct tally *t,
                 size_t bytes)
{
    tally_gone(t, bytes);
    MUST(p->gone(way, block) == 0);
}

static int is_pinned(enum package_way way)
{
    return way == PACKAGE_MALLOC_HOST || way == PACKAGE_HOST_ALLOC;
}

/* Every way, by every package, on both devices; half of it is given back. */
static void section_every(void)
{
    for (int k = 0; k < n_packages; k++)
        for (int way = 0; way < PACKAGE_N_WAYS; way++)
            for (size_t i = 1; i <= EACH; i++) {
                const struct package *p = &packages[k];
                const size_t bytes = i * 60 * KIB;
                const int device = i % 3 == 0;
                MUST(p->set_device(device) == 0);
                void *block = is_pinned(way) ? subject_pinned(p, way, bytes)
                              : device       ? subject_second(p, way, bytes)
                                             : subject_first(p, way, bytes);
                struct tally *t = is_pinned(way) ? &tally_subject_pinned
                                  : device       ? &tally_subject_second
                                                 : &tally_subject_first;
                if (i % 2)
                    drop(p, way, block, t, bytes);
            }
}

/* What is no allocation: of nothing, a free of nothing, one that failed. */
static void section_nothing(void)
{
    const struct package *p = &packages[0];
    void *block = NULL, *kept = subject_first(p, PACKAGE_MALLOC, 64 * KIB);
    int local = 0;
    MUST(p->made(PACKAGE_MALLOC, &block, 0) == 0 && !block);
    MUST(p->gone(PACKAGE_MALLOC, NULL) == 0);
    MUST(p->gone(PACKAGE_MALLOC, &local) != 0);
    MUST(p->made(PACKAGE_MALLOC, &block, (size_t)1 << 46) == 2);
    MUST(p->made(PACKAGE_HOST_ALLOC, &block, (size_t)1 << 46) == 2);
    MUST(p->last_error() == 2 && p->last_error() == 0);
    MUST(p->gone(PACKAGE_HOST_ALLOC, kept) != 0); /* is not freed so */
    (void)p->last_error();
}

/* Some of these fail, by the stand-in's variables: the block is still there, and goes the next
 * time. */
static void section_failed_frees(void)
{
    const struct package *p = &packages[0];
    unsigned n_failed = 0;
    for (unsigned i = 0; i < 10; i++) {
        const int way = i % 2 ? PACKAGE_MALLOC : PACKAGE_HOST_ALLOC;
        void *block = i % 2 ? subject_first(p, way, 60 * KIB) : subject_pinned(p, way, 60 * KIB);
        for (unsigned k = 0; k < 2 && p->gone(way, block) != 0; k++)
            n_failed++;
        tally_gone(i % 2 ? &tally_subject_first : &tally_subject_pinned, 60 * KIB);
    }
    MUST(n_failed >= 8);
    (void)p->last_error();
}

/* What one runtime sets is the driver's, and so the other's. */
static void section_other_device(void)
{
    MUST(packages[0].set_device(1) == 0);
    (void)subject_second(&packages[1], PACKAGE_MALLOC, 60 * KIB);
    MUST(packages[1].set_device(0) == 0);
    (void)subject_first(&packages[0], PACKAGE_MALLOC, 60 * KIB);
}

static void *thread(void *arg)
{
    const unsigned number = *(unsigned *)arg;
    const struct package *p = &packages[number % (unsigned)n_packages];
    void *held[HELD] = {NULL};
    size_t bytes[HELD] = {0};
    MUST(p->set_device(number % 2) == 0);
    struct tally *t = number % 2 ? &tally_subject_second : &tally_subject_first;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const unsigned i = round % HELD;
        if (held[i])
            drop(p, PACKAGE_MALLOC, held[i], t, bytes[i]);
        bytes[i] = 512 * (1 + round % 7);
        held[i] = number % 2 ? subject_second(p, PACKAGE_MALLOC, bytes[i])
                             : subject_first(p, PACKAGE_MALLOC, bytes[i]);
    }
    return NULL;
}

static void section_threads(void)
{
    run_threads(thread);
}

/* A child lets go of what its parent has, as destructors do. */
static void section_forked(void)
{
    const struct package *p = &packages[0];
    void *first = subject_first(p, PACKAGE_MALLOC, 64 * KIB);
    void *second = subject_first(p, PACKAGE_MALLOC, 64 * KIB), *block = NULL;
    pid_t child = fork();
    MUST(child >= 0);
    if (!child) {
        (void)p->gone(PACKAGE_MALLOC, first);
        (void)p->made(PACKAGE_MALLOC, &block, 4096);
        _exit(0);
    }
    int status = -1;
    MUST(waitpid(child, &status, 0) == child && status == 0);
    drop(p, PACKAGE_MALLOC, second, &tally_subject_first, 64 * KIB);
}

static void section_aliases(void)
{
    const struct package *p = &packages[0];
    static char memory[1 << 20] __attribute__((aligned(4096)));
    char handle[64];
    void *block = subject_first(p, PACKAGE_MALLOC, 64 * KIB), *again = NULL;
    MUST(p->registered(memory, sizeof memory) == 0);
    MUST(p->registered(memory, 0) == 0);
    MUST(p->registered(memory, sizeof memory / 2) == 0);
    MUST(p->ipc_handle(handle, block) == 0);
    MUST(p->ipc_open(&again, handle) == 0 && again);
    MUST(p->ipc_close(again) == 0);
    MUST(p->ipc_open(&again, handle) == 0 && again);
}

/* One that is registered, and two requests that there is no room for: by the stand-in's variable
 * every second of the former fails. */
static void section_refused_pins(void)
{
    const struct package *p = &packages[0];
    static char memory[2][1 << 20] __attribute__((aligned(4096)));
    void *block = NULL;
    MUST(p->registered(memory[0], sizeof memory[0]) == 0);
    MUST(p->made(PACKAGE_HOST_ALLOC, &block, (size_t)1 << 46) == 2);
    MUST(p->registered(memory[1], sizeof memory[1]) == 2);
    MUST(p->last_error() == 2 && p->last_error() == 0);
}

static void section_reset(void)
{
    const struct package *p = &packages[0];
    MUST(p->set_device(1) == 0);
    for (unsigned i = 0; i < 5; i++)
        (void)subject_second(p, i ? PACKAGE_MALLOC : PACKAGE_ARRAY, 60 * KIB);
    MUST(p->set_device(0) == 0);
    for (unsigned i = 0; i < 5; i++)
        (void)subject_first(p, PACKAGE_MALLOC, 60 * KIB);
    MUST(p->reset() == 0);
    for (unsigned i = 0; i < 5; i++)
        tally_gone(&tally_subject_first, 60 * KIB);
}

/* Until a file is there: others are to look at what the process has now. */
static void section_waits(void)
{
    const struct package *p = &packages[0];
    MUST(p->set_device(0) == 0);
    (void)subject_first(p, PACKAGE_MALLOC, 60 * KIB);
    while (access(last_argument, F_OK) != 0)
        usleep(1000);
}

/* ---- segments that grow ------------------------------------------------------------------------
 */

struct wanted {
    int type, handle_types;
    struct {
        int type, id;
    } location;
    void *windows;
    unsigned char flags[16];
};

enum { SEGMENT = 2 << 20, SEGMENTS = 12 };

static int (*reserve)(uint64_t *, size_t, size_t, uint64_t, uint64_t);
static int (*create)(uint64_t *, size_t, const struct wanted *, uint64_t);
static int (*map)(uint64_t, size_t, size_t, uint64_t, uint64_t);
static int (*unmap)(uint64_t, size_t), (*release)(uint64_t);

TALLY(subject_grows, "device:1");
static NOIPA uint64_t subject_grows(uint64_t at)
{
    const struct wanted wanted = {1, 0, {1, 1}, NULL, {0}};
    uint64_t handle = 0;
    const int line = __LINE__ + 1;
    MUST(create(&handle, SEGMENT, &wanted, 0) == 0);
    MUST(map(at, SEGMENT, 0, handle, 0) == 0);
    tally_made(&tally_subject_grows, SEGMENT, line);
    return handle;
}

static void grow_and_shrink(void)
{
    uint64_t at = 0, handles[SEGMENTS];
    MUST(reserve(&at, (size_t)SEGMENTS * SEGMENT, 0, 0, 0) == 0 && at);
    for (unsigned i = 0; i < SEGMENTS; i++)
        handles[i] = subject_grows(at + (uint64_t)i * SEGMENT);
    MUST(release(handles[11]) == 0); /* it stays while it is mapped */
    MUST(unmap(at + 2 * SEGMENT, SEGMENT) == 0);
    MUST(unmap(at + 4 * SEGMENT, 3 * SEGMENT) == 0); /* three at once */
    for (unsigned i = 0; i < 4; i++)
        tally_gone(&tally_subject_grows, SEGMENT);
    MUST(map(at + 2 * SEGMENT, SEGMENT, 0, handles[2], 0) == 0); /* once more */
    tally_made(&tally_subject_grows, SEGMENT, tally_subject_grows.line);
    MUST(unmap(at + 20 * (uint64_t)SEGMENT, SEGMENT) != 0);
}

static void by_entry_points(int by_version)
{
    const struct package *p = &packages[0];
    MUST(p->entry(by_version, "cuMemAddressReserve", (void **)&reserve) == 0);
    MUST(p->entry(by_version, "cuMemCreate", (void **)&create) == 0);
    MUST(p->entry(by_version, "cuMemMap", (void **)&map) == 0);
    MUST(p->entry(by_version, "cuMemUnmap", (void **)&unmap) == 0);
    MUST(p->entry(by_version, "cuMemRelease", (void **)&release) == 0);
    grow_and_shrink();
}

static void section_entry_points(void)
{
    by_entry_points(0);
}

static void section_entry_points_by_version(void)
{
    by_entry_points(1);
}

/* A library with a table of the driver's functions, as PyTorch 2.4 to 2.7 have it. */
static void section_table(void)
{
    void *library = dlopen(last_argument, RTLD_NOW | RTLD_LOCAL);
    MUST(library);
    void *(*function)(const char *);
    *(void **)&function = dlsym(library, "table_function");
    MUST(function && packages[0].set_device(0) == 0); /* which loads the driver */
    *(void **)&reserve = function("cuMemAddressReserve");
    *(void **)&create = function("cuMemCreate");
    *(void **)&map = function("cuMemMap");
    *(void **)&unmap = function("cuMemUnmap");
    *(void **)&release = function("cuMemRelease");
    MUST(reserve && create && map && unmap && release);
    grow_and_shrink();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } sections[] = {{"every", section_every},
                    {"nothing", section_nothing},
                    {"failed_frees", section_failed_frees},
                    {"other_device", section_other_device},
                    {"threads", section_threads},
                    {"forked", section_forked},
                    {"aliases", section_aliases},
                    {"refused_pins", section_refused_pins},
                    {"reset", section_reset},
                    {"waits", section_waits},
                    {"entry_points", section_entry_points},
                    {"entry_points_by_version", section_entry_points_by_version},
                    {"table", section_table}};
    MUST(argc >= 3);
    last_argument = argv[argc - 1];
    for (int i = 2; i < argc && n_packages < MAX_PACKAGES && strstr(argv[i], "package"); i++)
        open_package(&packages[n_packages++], argv[i]);
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if (strcmp(argv[1], sections[i].name) == 0)
            sections[i].run();
    for (int i = 0; i < n_packages; i++) { /* as it was left */
        int device = -1;
        MUST(packages[i].get_device(&device) == 0);
        MUST(packages[i].last_error() == 0);
    }
    tally_print();
    return 0;
}
