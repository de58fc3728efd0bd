/* Replacements of the driver's functions that give memory to map (expandable segments), wherever a
 * program gets their addresses from. Memory of a device comes as a handle. It counts from
 * cuMemMap() until cuMemUnmap(). A handle that was not made in this process is another process's
 * memory. One that is mapped twice counts twice. */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "preload/cuda/runtime.h"
#include "preload/device/backward.h"
#include "preload/device/layout.h"
#include "preload/objects/loader.h"
#include "preload/record/capture.h"

enum { GRANULE_BYTES = 2 << 20 }; /* mappings begin and end at multiples of this */

enum function { CREATE, MAP, UNMAP, RELEASE, N_FUNCTIONS };

/* As the driver handed them out; a process has one driver. */
static void *real_of[N_FUNCTIONS];

/* Of a function whose stand-in was called: another thread may have put that where the caller found
 * it, and real_of before. */
static void *real_behind(enum function function)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&real_of[function], __ATOMIC_RELAXED);
}

static bool is_on_device(const struct seep_cu_wanted *wanted)
{
    return wanted && wanted->location_type == SEEP_CU_ON_DEVICE && wanted->location >= 0 &&
           wanted->location < SEEP_MAX_DEVICES;
}

/* The handle keeps the site that made it; nothing is counted before it is mapped. */
static void created(const struct seep_regs *regs, uint64_t handle, size_t bytes, unsigned device)
{
    const unsigned space = seep_runtime_space(device);
    const uint32_t site = space ? seep_capture(seep_tls.thread, regs, space) : 0;
    const struct seep_block block = {.site = seep_backward_site(seep_tls.thread, site, space),
                                     .bytes = bytes};
    if (block.site)
        seep_device_blocks_put_back(SEEP_KEYSPACE_PHYSICAL, (void *)handle, &block);
}

static int create(uint64_t *handle, size_t bytes, const struct seep_cu_wanted *wanted,
                  uint64_t flags)
{
    const struct seep_regs regs = SEEP_REGS();
    int (*real)(uint64_t *, size_t, const struct seep_cu_wanted *, uint64_t);
    *(void **)&real = real_behind(CREATE);
    const bool is_recorded = is_on_device(wanted) && seep_device_enter();
    const int result = real(handle, bytes, wanted, flags);
    if (!is_recorded)
        return result;
    const int saved_errno = errno;
    if (result == SEEP_CUDA_SUCCESS)
        created(&regs, *handle, bytes, (unsigned)wanted->location);
    else if (result == SEEP_CUDA_OUT_OF_MEMORY)
        seep_runtime_refused(&regs, SEEP_OOM_BY_RUNTIME, (unsigned)wanted->location, bytes);
    errno = saved_errno;
    seep_leave();
    return result;
}

static int map(uint64_t at, size_t bytes, size_t offset, uint64_t handle, uint64_t flags)
{
    int (*real)(uint64_t, size_t, size_t, uint64_t, uint64_t);
    *(void **)&real = real_behind(MAP);
    const bool is_recorded = seep_device_enter();
    const int result = real(at, bytes, offset, handle, flags);
    if (!is_recorded)
        return result;
    const int saved_errno = errno;
    struct seep_block block;
    if (result == SEEP_CUDA_SUCCESS &&
        seep_device_blocks_take(SEEP_KEYSPACE_PHYSICAL, (void *)handle, &block)) {
        seep_device_blocks_put_back(SEEP_KEYSPACE_PHYSICAL, (void *)handle, &block);
        seep_device_blocks_made(SEEP_KEYSPACE_MAPPED, (void *)at, bytes, block.site);
        if (block.site)
            seep_layout_grew(seep_site_at(block.site)->space);
    }
    errno = saved_errno;
    seep_leave();
    return result;
}

/* One call may unmap several mappings. Each is taken off the books before the call, because another
 * thread may get its address at once. */
static void move(enum seep_keyspace from, enum seep_keyspace to, uint64_t at, size_t bytes)
{
    struct seep_block block;
    for (uint64_t i = at; i - at < bytes; i += GRANULE_BYTES)
        if (seep_device_blocks_take(from, (void *)i, &block))
            seep_device_blocks_put_back(to, (void *)i, &block);
}

static void settle(uint64_t at, size_t bytes)
{
    for (uint64_t i = at; i - at < bytes; i += GRANULE_BYTES)
        (void)seep_device_blocks_gone(SEEP_KEYSPACE_UNMAPPING, (void *)i);
}

static int unmap(uint64_t at, size_t bytes)
{
    int (*real)(uint64_t, size_t);
    *(void **)&real = real_behind(UNMAP);
    const bool is_recorded = seep_device_enter();
    if (is_recorded) {
        move(SEEP_KEYSPACE_MAPPED, SEEP_KEYSPACE_UNMAPPING, at, bytes);
        seep_leave();
    }
    const int result = real(at, bytes);
    const int saved_errno = errno;
    if (is_recorded && seep_device_enter()) {
        if (result == SEEP_CUDA_SUCCESS)
            settle(at, bytes);
        else
            move(SEEP_KEYSPACE_UNMAPPING, SEEP_KEYSPACE_MAPPED, at, bytes);
        seep_leave();
    }
    errno = saved_errno;
    return result;
}

/* What is mapped stays until it is unmapped. */
static int release(uint64_t handle)
{
    int (*real)(uint64_t);
    *(void **)&real = real_behind(RELEASE);
    struct seep_block block;
    bool is_known = seep_device_enter();
    if (is_known) {
        is_known = seep_device_blocks_take(SEEP_KEYSPACE_PHYSICAL, (void *)handle, &block);
        seep_leave();
    }
    const int result = real(handle);
    const int saved_errno = errno;
    if (result != SEEP_CUDA_SUCCESS && is_known && seep_device_enter()) {
        seep_device_blocks_put_back(SEEP_KEYSPACE_PHYSICAL, (void *)handle, &block);
        seep_leave();
    }
    errno = saved_errno;
    return result;
}

static const struct {
    const char *name;
    void *ours;
} functions[N_FUNCTIONS] = {
    [CREATE] = {"cuMemCreate", (void *)create},
    [MAP] = {"cuMemMap", (void *)map},
    [UNMAP] = {"cuMemUnmap", (void *)unmap},
    [RELEASE] = {"cuMemRelease", (void *)release},
};

/* A function that another driver handed out is left alone: ours calls the first driver. */
static bool is_real(unsigned i, void *function)
{
    void *none = NULL;
    return function && function != functions[i].ours &&
           (__atomic_compare_exchange_n(&real_of[i], &none, function, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE) ||
            none == function);
}

/* Replaces *function by ours, if it is the driver's function of this name and one of those. */
static void stand_in(const char *name, void **function)
{
    for (unsigned i = 0; i < N_FUNCTIONS; i++)
        if (strcmp(name, functions[i].name) == 0 && is_real(i, *function))
            *function = functions[i].ours;
}

/* The driver's own function and ours, as a pair; NULL in *real: it is not loaded. False: there are
 * not that many. */
static bool pair_at(unsigned index, void **real, void **ours)
{
    if (index >= N_FUNCTIONS)
        return false;
    *ours = functions[index].ours;
    *real = seep_caller_anyone(functions[index].name);
    if (!is_real(index, *real))
        *real = NULL;
    return true;
}

/* ---- where programs get them from ------------------------------------------------------------ */

/* How programs get the driver's functions: they ask the runtime for each (PyTorch from 2.8 on), or
 * keep a table of functions found in the driver's library (2.4 to 2.7). seep replaces the runtime's
 * answers, or the entries of the table. */

static int handed_out(const struct seep_runtime_call *call, int result, const char *name,
                      void **function)
{
    if (result != SEEP_CUDA_SUCCESS || !name || !function || !*function || !seep_device_enter())
        return result;
    const int saved_errno = errno;
    seep_note_hook(call->hook);
    stand_in(name, function);
    errno = saved_errno;
    seep_leave();
    return result;
}

/* The runtime of CUDA 11 has no parameter `found`, and ignores it. */
#define ENTRY_POINT(function_name)                                                                 \
    SEEP_EXPORT int function_name(const char *name, void **function, unsigned long long flags,     \
                                  int *found)                                                      \
    {                                                                                              \
        SEEP_RUNTIME_CALL(function_name, (const char *, void **, unsigned long long, int *));      \
        return handed_out(&call, real(name, function, flags, found), name, function);              \
    }

#define ENTRY_POINT_BY_VERSION(function_name)                                                      \
    SEEP_EXPORT int function_name(const char *name, void **function, unsigned version,             \
                                  unsigned long long flags, int *found)                            \
    {                                                                                              \
        SEEP_RUNTIME_CALL(function_name,                                                           \
                          (const char *, void **, unsigned, unsigned long long, int *));           \
        return handed_out(&call, real(name, function, version, flags, found), name, function);     \
    }

ENTRY_POINT(cudaGetDriverEntryPoint)
ENTRY_POINT(cudaGetDriverEntryPoint_ptsz)
ENTRY_POINT_BY_VERSION(cudaGetDriverEntryPointByVersion)
ENTRY_POINT_BY_VERSION(cudaGetDriverEntryPointByVersion_ptsz)

/* ---- the table of libc10_cuda ---------------------------------------------------------------- */

#define TABLE _ZN3c104cuda9DriverAPI3getEv

/* It has had 13 entries or a few more; what follows belongs to the library and is no such
 * address. */
enum { MAX_ENTRIES = 32 };

static void *table_done;

/* The kernel writes: if the page is not writable, nothing happens. */
static void replace(void **entry, void *ours)
{
    const struct iovec from = {&ours, sizeof(ours)}, to = {entry, sizeof(*entry)};
    (void)seep_os_call6(SYS_process_vm_writev, seep_os_pid(), (long)&from, 1, (long)&to, 1, 0);
}

static void replace_in(void **table)
{
    void *entries[MAX_ENTRIES], *real, *ours;
    const size_t n = seep_loader_read((uintptr_t)table, entries, sizeof(entries)) / sizeof(void *);
    for (unsigned i = 0; pair_at(i, &real, &ours); i++)
        for (size_t k = 0; real && k < n; k++)
            if (entries[k] == real)
                replace(&table[k], ours);
}

SEEP_EXPORT void *TABLE(void)
{
    const struct seep_regs regs = SEEP_REGS();
    void *(*real)(void);
    *(void **)&real = seep_caller_real(regs.ra, SEEP_HOOK_OF(TABLE));
    void *table = real ? real() : NULL;
    if (table && table != __atomic_load_n(&table_done, __ATOMIC_RELAXED) && seep_device_enter()) {
        const int saved_errno = errno;
        seep_note_hook(SEEP_HOOK_OF(TABLE));
        replace_in(table);
        __atomic_store_n(&table_done, table, __ATOMIC_RELAXED);
        errno = saved_errno;
        seep_leave();
    }
    return table;
}
