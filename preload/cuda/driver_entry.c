/* How programs get the driver's functions: they ask the runtime for each (PyTorch from 2.8 on), or
 * keep a table of functions found in the driver's library (2.4 to 2.7). seep replaces the runtime's
 * answers, or the entries of the table. */
#include <errno.h>
#include <sys/uio.h>

#include "preload/cuda/driver.h"
#include "preload/cuda/runtime.h"
#include "preload/objects/loader.h"

static int handed_out(const struct seep_runtime_call *call, int result, const char *name,
                      void **function)
{
    if (result != SEEP_CUDA_SUCCESS || !name || !function || !*function || !seep_device_enter())
        return result;
    const int saved_errno = errno;
    seep_note_hook(call->hook);
    seep_driver_stand_in(name, function);
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
    for (unsigned i = 0; seep_driver_pair(i, &real, &ours); i++)
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
