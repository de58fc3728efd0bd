/* The base of the runtime: its driver, and a thread's device and last error. */
#include <dlfcn.h>
#include <stdio.h>

#include "tests/standin/cuda.h"
#include "tests/standin/runtime.h"

static const struct standin_core *driver;
static void *library;
static _Thread_local int last_error;

const struct standin_core *standin_driver(void)
{
    const struct standin_core *found = __atomic_load_n(&driver, __ATOMIC_ACQUIRE);
    if (found)
        return found;
    library = dlopen("libcuda.so.1", RTLD_NOW);
    const struct standin_core *(*core)(void) = NULL;
    if (library)
        *(void **)&core = dlsym(library, "standin_core");
    if (!core)
        return NULL;
    found = core();
    __atomic_store_n(&driver, found, __ATOMIC_RELEASE);
    return found;
}

void *standin_driver_function(const char *name)
{
    static const char *const versions[] = {"_v3", "_v2", ""};
    char with[128];
    void *found = NULL;
    for (int i = 0; i < 3 && !found && standin_driver(); i++) {
        snprintf(with, sizeof with, "%s%s", name, versions[i]);
        found = dlsym(library, with);
    }
    return found;
}

int standin_enter(int *slot, const char *name)
{
    const struct standin_core *core = standin_driver();
    return standin_leave(core ? core->begin(slot, name) : STANDIN_NO_DRIVER);
}

int standin_leave(int error)
{
    if (error && error != last_error && driver)
        driver->note("error");
    if (error)
        last_error = error;
    return error;
}

int standin_device(void)
{
    return *standin_driver()->device();
}

bool standin_is_device(int device)
{
    return device >= 0 && device < standin_driver()->devices();
}

int cudaGetDeviceCount(int *count)
{
    ASK();
    *count = standin_driver()->devices();
    return *count ? 0 : standin_leave(STANDIN_NO_DEVICE);
}

int cudaGetDevice(int *device)
{
    ASK();
    *device = standin_device();
    return 0;
}

int cudaSetDevice(int device)
{
    ASK();
    if (!standin_is_device(device))
        return standin_leave(STANDIN_INVALID_DEVICE);
    if (device != standin_device())
        standin_driver()->note("device");
    *standin_driver()->device() = device;
    standin_driver()->context(device);
    return 0;
}

int cudaDeviceReset(void)
{
    ASK();
    standin_driver()->reset(standin_device());
    return 0;
}

int cudaDeviceSynchronize(void)
{
    CALL();
    return 0;
}

int cudaGetLastError(void)
{
    static int slot;
    int error = standin_driver() ? standin_driver()->begin(&slot, __func__) : STANDIN_NO_DRIVER;
    if (error == STANDIN_OK || error == STANDIN_NO_MEMORY) {
        error = last_error;
        if (error)
            driver->note("error");
        last_error = 0;
    }
    return error;
}

int cudaPeekAtLastError(void)
{
    static int slot;
    if (standin_driver())
        standin_driver()->begin(&slot, __func__);
    return last_error;
}

const char *cudaGetErrorName(int error)
{
    return error == STANDIN_OK          ? "cudaSuccess"
           : error == STANDIN_NO_MEMORY ? "cudaErrorMemoryAllocation"
                                        : "cudaError";
}

const char *cudaGetErrorString(int error)
{
    switch (error) {
    case STANDIN_OK:
        return "no error";
    case STANDIN_INVALID:
        return "invalid argument";
    case STANDIN_NO_MEMORY:
        return "out of memory";
    case STANDIN_NOT_INITIALIZED:
        return "initialization error";
    case STANDIN_NO_DRIVER:
        return "CUDA driver version is insufficient for CUDA runtime version";
    case STANDIN_NO_DEVICE:
        return "no CUDA-capable device is detected";
    default:
        return "an error of the stand-in";
    }
}

int cudaMemGetInfo(size_t *available, size_t *total)
{
    CALL();
    uint64_t capacity = standin_driver()->capacity(),
             used = standin_driver()->used(standin_device());
    *total = capacity;
    *available = used < capacity ? capacity - used : 0;
    return 0;
}

/* Flags: which thread's streams are meant; nothing here differs by that. */
int cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                            int *result)
{
    ASK();
    (void)flags;
    *function = standin_driver_function(name);
    if (result)
        *result = *function ? 0 : 1;
    return 0;
}

int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                     unsigned long long flags, int *result)
{
    (void)version;
    ASK();
    (void)flags;
    *function = standin_driver_function(name);
    if (result)
        *result = *function ? 0 : 1;
    return 0;
}
