/* CUPTI tells a tool of every call of the CUDA runtime and driver, also of those that stand in no
 * table of dynamic calls: of a runtime that is linked into a library (cuBLAS, cuDNN, NCCL). It lets
 * few tools in, often one, and so it is used with --gpu=cupti alone. The driver loads the library
 * that CUDA_INJECTION64_PATH names as it begins, and calls the function at the end of this file:
 * that is a call of the job's, in the thread that uses CUDA first, and the one place from which the
 * library opens another one.
 *
 * A call that reached a hook of ours is not cupti_call twice: its guard is up while it makes
 * memory, and what it frees has left the books. A call of the driver's within one of the runtime's
 * is a part of it. Calls are known by their names, which CUPTI has a list of; records are laid out
 * as in cupti_callbacks.h and generated_cuda_runtime_api_meta.h of CUDA 11 to 13. No device has
 * seen this. */
#include <dlfcn.h>
#include <errno.h>

#include "libprof/runtime/store/placement.h"
#include "preload/cuda/runtime.h"
#include "preload/life/run_settings.h"
#include "preload/objects/real.h"

enum { DRIVER = 1, RUNTIME = 2, N_DOMAINS, MAX_CALLS = 1024 };
enum { BEGINS = 0, ENDS = 1 };

enum what {
    NOTHING = 0,
    MAKES,
    MAKES_ROWS, /* and says how long one is */
    MAKES_PINNED,
    FREES,
    FREES_PINNED,
};

static const struct {
    const char *name;
    enum what what;
} wanted[] = {
    {"cudaMalloc_v3020", MAKES},
    {"cudaMallocManaged_v6000", MAKES},
    {"cudaMallocAsync_v11020", MAKES},
    {"cudaMallocAsync_ptsz_v11020", MAKES},
    {"cudaMallocFromPoolAsync_v11020", MAKES},
    {"cudaMallocFromPoolAsync_ptsz_v11020", MAKES},
    {"cudaMallocPitch_v3020", MAKES_ROWS},
    {"cudaMallocHost_v3020", MAKES_PINNED},
    {"cudaHostAlloc_v3020", MAKES_PINNED},
    {"cudaFree_v3020", FREES},
    {"cudaFreeAsync_v11020", FREES},
    {"cudaFreeAsync_ptsz_v11020", FREES},
    {"cudaFreeHost_v3020", FREES_PINNED},
    {"cuMemAlloc_v2", MAKES},
    {"cuMemAllocManaged", MAKES},
    {"cuMemAllocAsync", MAKES},
    {"cuMemAllocAsync_ptsz", MAKES},
    {"cuMemAllocFromPoolAsync", MAKES},
    {"cuMemAllocFromPoolAsync_ptsz", MAKES},
    {"cuMemAllocPitch_v2", MAKES_ROWS},
    {"cuMemAllocHost_v2", MAKES_PINNED},
    {"cuMemHostAlloc", MAKES_PINNED},
    {"cuMemFree_v2", FREES},
    {"cuMemFreeAsync", FREES},
    {"cuMemFreeAsync_ptsz", FREES},
    {"cuMemFreeHost", FREES_PINNED},
};

static SEEP_LARGE uint8_t what_is[N_DOMAINS][MAX_CALLS]; /* enum what */

/* The beginning of CUpti_CallbackData. */
struct cupti_call {
    int site;
    const char *function;
    const void *parameters;
    const int *result;
    const char *symbol;
    void *context;
};

/* All of these calls begin like this; if the call frees, `block` is the address itself. */
struct parameters {
    void **block;
    size_t bytes;
};

struct parameters_of_rows {
    void **block;
    size_t *row_bytes;
    size_t width, n_rows;
};

typedef void callback(void *, int, uint32_t, const struct cupti_call *);

static struct {
    int (*subscribe)(void **, callback *, void *);
    int (*enable)(uint32_t, void *, int, uint32_t);
    int (*name_of)(int, uint32_t, const char **);
    int (*device_of)(void *, uint32_t *);
} cupti;

/* ---- what is cupti_call
 * ---------------------------------------------------------------------------- */

static __thread bool in_runtime;                     /* a call that is wanted */
static __thread struct seep_runtime_free on_its_way; /* of this thread's call */

static uint64_t bytes_of(enum what what, const void *parameters, bool is_made)
{
    const struct parameters *p = parameters;
    const struct parameters_of_rows *rows = parameters;
    if (what != MAKES_ROWS)
        return p->bytes;
    return (is_made && rows->row_bytes ? *rows->row_bytes : rows->width) * rows->n_rows;
}

static struct seep_runtime_block block_of(enum what what, const struct cupti_call *cupti_call,
                                          bool is_made)
{
    const struct parameters *p = cupti_call->parameters;
    const bool is_pinned = what == MAKES_PINNED;
    uint32_t device = 0;
    if (!is_pinned && cupti_call->context)
        (void)cupti.device_of(cupti_call->context, &device);
    return (struct seep_runtime_block){
        .keyspace = is_pinned ? SEEP_KEYSPACE_PINNED : SEEP_KEYSPACE_DEVICE,
        .device = is_pinned ? SEEP_DEVICE_PINNED : device,
        .at = is_made && p->block ? *p->block : NULL,
        .bytes = bytes_of(what, p, is_made),
    };
}

static void on_free(enum what what, const struct cupti_call *cupti_call)
{
    const enum seep_keyspace keyspace =
        what == FREES_PINNED ? SEEP_KEYSPACE_PINNED : SEEP_KEYSPACE_DEVICE;
    if (cupti_call->site == BEGINS) {
        on_its_way = seep_runtime_free_begins(
            SEEP_HOOK_InitializeInjection, keyspace,
            (const void *)((const struct parameters *)cupti_call->parameters)->block);
        return;
    }
    if (cupti_call->result)
        (void)seep_runtime_freed(&on_its_way, *cupti_call->result);
    on_its_way = (struct seep_runtime_free){0};
}

static void told_of_call(void *user, int domain, uint32_t number,
                         const struct cupti_call *cupti_call)
{
    struct seep_runtime_call call = {.regs = SEEP_REGS(), .hook = SEEP_HOOK_InitializeInjection};
    const bool is_known = (domain == DRIVER || domain == RUNTIME) && number < MAX_CALLS;
    const enum what what = is_known ? what_is[domain][number] : NOTHING;
    (void)user;
    if (!what || !cupti_call || !cupti_call->parameters || (domain == DRIVER && in_runtime))
        return;
    if (domain == RUNTIME)
        in_runtime = cupti_call->site == BEGINS;
    if (what >= FREES) {
        on_free(what, cupti_call);
    } else if (cupti_call->site == ENDS && cupti_call->result) {
        const bool is_made = *cupti_call->result == SEEP_CUDA_SUCCESS;
        call.is_recorded = seep_device_enter();
        if (!call.is_recorded)
            return;
        const struct seep_runtime_block block = block_of(what, cupti_call, is_made);
        (void)seep_runtime_made(&call, *cupti_call->result, &block);
    }
}

/* ---- as CUDA begins -------------------------------------------------------------------------- */

static void *library(void)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
                                        "libcupti.so"};
    enum { N = sizeof names / sizeof *names };
    void *found = NULL;
    for (unsigned i = 0; i < N && !found; i++) /* the library that the job has loaded anyway */
        found = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
    for (unsigned i = 0; i < N && !found; i++)
        found = dlopen(names[i], RTLD_LAZY);
    return found;
}

static bool find_functions(void)
{
    void *from = library();
    if (!from)
        return false;
    *(void **)&cupti.subscribe = dlsym(from, "cuptiSubscribe");
    *(void **)&cupti.enable = dlsym(from, "cuptiEnableCallback");
    *(void **)&cupti.name_of = dlsym(from, "cuptiGetCallbackName");
    *(void **)&cupti.device_of = dlsym(from, "cuptiGetDeviceId");
    return cupti.subscribe && cupti.enable && cupti.name_of && cupti.device_of;
}

static enum what wants(const char *name)
{
    for (size_t i = 0; name && i < sizeof wanted / sizeof *wanted; i++)
        if (strcmp(wanted[i].name, name) == 0)
            return wanted[i].what;
    return NOTHING;
}

static int listen(void)
{
    void *subscriber = NULL;
    int error = cupti.subscribe(&subscriber, told_of_call, NULL);
    for (int domain = DRIVER; domain <= RUNTIME && !error; domain++)
        for (uint32_t i = 0; i < MAX_CALLS; i++) {
            const char *name = NULL;
            if (cupti.name_of(domain, i, &name) != 0 || !wants(name))
                continue;
            what_is[domain][i] = (uint8_t)wants(name);
            if (!error)
                error = cupti.enable(1, subscriber, domain, i);
        }
    return error;
}

static void note(enum seep_cupti_state state, int error)
{
    if (!seep_enter())
        return;
    seep_note_hook(SEEP_HOOK_InitializeInjection);
    seep_arena.header->devices.cupti = (uint16_t)state;
    seep_arena.header->devices.cupti_error = (uint16_t)error;
    seep_leave();
}

/* What the loader and CUPTI allocate for themselves is not the job's. */
SEEP_EXPORT int InitializeInjection(void)
{
    static bool is_begun;
    if (!seep_run_settings.with_cupti || __atomic_exchange_n(&is_begun, true, __ATOMIC_RELAXED))
        return 1;
    const int saved_errno = errno;
    int error = 0;
    seep_guard_raise();
    const bool is_there = find_functions();
    if (is_there)
        error = listen();
    seep_guard_lower();
    note(!is_there ? SEEP_CUPTI_ABSENT : error ? SEEP_CUPTI_REFUSED : SEEP_CUPTI_LISTENS, error);
    errno = saved_errno;
    return 1;
}
