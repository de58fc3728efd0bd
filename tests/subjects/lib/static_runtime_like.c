/* A package with the CUDA runtime linked in statically, so that no table of dynamic calls shows its
 * calls; and a runtime that is called through such a table, too. Both use one driver: its calls are
 * nested in theirs, and when it starts it loads the library that CUDA_INJECTION64_PATH names. Its
 * memory is only addresses; a freed one is available to others before the call returns. */
#include "cupti_like.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

enum { OK = 0, NO_MEMORY = 2, ROW_BYTES = 512 };
enum { STATIC, DRIVERS, ASYNC, ROWS, MANAGED, DYNAMIC, PINNED };

static cupti_like_tell *tell;
static int devices[] = {0, 1};

/* ---- the driver ------------------------------------------------------------------------------ */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *freed[64];
static int n_freed;
static uintptr_t fresh = 0x6000000000;

static void *take(void)
{
    pthread_mutex_lock(&lock);
    void *block = n_freed ? freed[--n_freed] : (void *)(fresh += 1 << 20);
    pthread_mutex_unlock(&lock);
    return block;
}

static void give(void *block)
{
    pthread_mutex_lock(&lock);
    if (n_freed < 64)
        freed[n_freed++] = block;
    pthread_mutex_unlock(&lock);
}

static void begin_once(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *tool = path ? dlopen(path, RTLD_LAZY) : NULL;
    int (*initialize)(void) = NULL;
    if (tool)
        *(void **)&initialize = dlsym(tool, "InitializeInjection");
    if (initialize)
        (void)initialize();
    void *cupti = dlopen("libcupti.so.13", RTLD_LAZY | RTLD_NOLOAD);
    if (cupti)
        *(void **)&tell = dlsym(cupti, "cupti_like_told");
}

static void begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin_once);
}

static void say(int domain, const char *name, int site, int device, const void *parameters,
                const int *result)
{
    const struct told told = {.site = site,
                              .function = name,
                              .parameters = parameters,
                              .result = result,
                              .context = &devices[device]};
    if (tell)
        tell(domain, name, &told);
}

struct made {
    void **block;
    size_t bytes;
};

struct rows {
    void **block;
    size_t *row_bytes;
    size_t width, n;
};

static int driver_makes(const char *name, int device, void **block, size_t bytes, int fails)
{
    const struct made parameters = {block, bytes};
    int result = 0;
    say(DRIVER, name, BEGINS, device, &parameters, NULL);
    if (fails)
        result = NO_MEMORY;
    else
        *block = take();
    say(DRIVER, name, ENDS, device, &parameters, &result);
    return result;
}

static int driver_frees(const char *name, void *block)
{
    int result = OK;
    say(DRIVER, name, BEGINS, 0, &block, NULL);
    give(block);
    say(DRIVER, name, ENDS, 0, &block, &result);
    return result;
}

/* ---- the runtime ----------------------------------------------------------------------------- */

static int makes(const char *name, const char *drivers, int device, const void *parameters,
                 void **block, size_t bytes, int fails)
{
    begin();
    say(RUNTIME, name, BEGINS, device, parameters, NULL);
    const int result = driver_makes(drivers, device, block, bytes, fails);
    say(RUNTIME, name, ENDS, device, parameters, &result);
    return result;
}

static int frees(const char *name, const char *drivers, void *block)
{
    say(RUNTIME, name, BEGINS, 0, &block, NULL);
    const int result = driver_frees(drivers, block);
    say(RUNTIME, name, ENDS, 0, &block, &result);
    return result;
}

EXPORT int cudaMalloc(void **block, size_t bytes);
int cudaMalloc(void **block, size_t bytes)
{
    const struct made parameters = {block, bytes};
    return makes("cudaMalloc_v3020", "cuMemAlloc_v2", 0, &parameters, block, bytes, 0);
}

EXPORT int cudaFree(void *block);
int cudaFree(void *block)
{
    return frees("cudaFree_v3020", "cuMemFree_v2", block);
}

/* ---- the package ----------------------------------------------------------------------------- */

/* NULL: there is no room. Rows: `bytes` of them, of a byte each. */
EXPORT void *package_made(int how, int device, size_t bytes, int fails);
void *package_made(int how, int device, size_t bytes, int fails)
{
    static const char *const names[] = {[STATIC] = "cudaMalloc_v3020",
                                        [ASYNC] = "cudaMallocAsync_ptsz_v11020",
                                        [ROWS] = "cudaMallocPitch_v3020",
                                        [MANAGED] = "cudaMallocManaged_v6000",
                                        [PINNED] = "cudaHostAlloc_v3020"};
    void *block = NULL;
    size_t row_bytes = ROW_BYTES;
    const struct made made = {&block, bytes};
    const struct rows rows = {&block, &row_bytes, 1, bytes};
    int result;
    begin();
    if (how == DYNAMIC)
        result = cudaMalloc(&block, bytes);
    else if (how == DRIVERS)
        result = driver_makes("cuMemAlloc_v2", device, &block, bytes, fails);
    else
        result = makes(names[how], how == ASYNC ? "cuMemAllocAsync_ptsz" : "cuMemAlloc_v2", device,
                       how == ROWS ? (const void *)&rows : &made, &block, bytes, fails);
    return result == OK ? block : NULL;
}

EXPORT void package_freed(int how, void *block);
void package_freed(int how, void *block)
{
    switch (how) {
    case DRIVERS:
        (void)driver_frees("cuMemFree_v2", block);
        break;
    case ASYNC:
        (void)frees("cudaFreeAsync_ptsz_v11020", "cuMemFreeAsync_ptsz", block);
        break;
    case PINNED:
        (void)frees("cudaFreeHost_v3020", "cuMemFree_v2", block);
        break;
    case DYNAMIC:
        (void)cudaFree(block);
        break;
    default:
        (void)frees("cudaFree_v3020", "cuMemFree_v2", block);
        break;
    }
}
