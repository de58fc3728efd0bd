/* libcuda.so.1: virtual memory management, the look-up of functions, and what the runtimes call. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "tests/standin/cuda.h"
#include "tests/standin/driver.h"
#include "tests/standin/inside.h"

static _Thread_local int current_device;

static int *device_of_thread(void)
{
    return &current_device;
}

static uint64_t used_of(int device)
{
    return standin_used(device, 0);
}

EXPORT const struct standin_core *standin_core(void)
{
    static const struct standin_core core = {
        .begin = standin_begin,
        .devices = standin_devices,
        .device = device_of_thread,
        .note = standin_note,
        .context = standin_context,
        .has_context = standin_has_context,
        .reset = standin_reset,
        .capacity = standin_capacity,
        .used = used_of,
        .live = standin_live,
        .take = standin_take,
        .give = standin_give,
        .find = standin_find,
        .registers = standin_registers,
        .map = standin_map,
        .unmap = standin_unmap,
        .copy = standin_copy,
    };
    return &core;
}

int cuInit(unsigned flags)
{
    DRIVER_CALL();
    (void)flags;
    return standin_devices() ? 0 : STANDIN_NO_DEVICE;
}

int cuMemAddressReserve(uint64_t *at, size_t size, size_t alignment, uint64_t address,
                        unsigned long long flags)
{
    void *taken;
    DRIVER_CALL();
    (void)alignment, (void)address, (void)flags;
    int error = standin_take(STANDIN_RESERVED, current_device, size, &taken);
    *at = (uint64_t)taken;
    return error;
}

int cuMemAddressFree(uint64_t at, size_t size)
{
    DRIVER_CALL();
    (void)size;
    return standin_give(1u << STANDIN_RESERVED, (void *)at);
}

int cuMemCreate(uint64_t *handle, size_t size, const struct CUmemAllocationProp *prop,
                unsigned long long flags)
{
    void *taken;
    DRIVER_CALL();
    (void)flags;
    if (prop->location.id < 0 || prop->location.id >= standin_devices())
        return STANDIN_INVALID_DEVICE;
    int error = standin_take(STANDIN_CREATED, prop->location.id, size, &taken);
    *handle = (uint64_t)taken;
    return error;
}

int cuMemRelease(uint64_t handle)
{
    DRIVER_CALL();
    return standin_give(1u << STANDIN_CREATED, (void *)handle);
}

int cuMemMap(uint64_t at, size_t size, size_t offset, uint64_t handle, unsigned long long flags)
{
    DRIVER_CALL();
    (void)flags;
    return offset ? STANDIN_INVALID : standin_map((void *)at, size, handle);
}

int cuMemUnmap(uint64_t at, size_t size)
{
    DRIVER_CALL();
    return standin_unmap((void *)at, size);
}

int cuMemSetAccess(uint64_t at, size_t size, const struct CUmemAccessDesc *desc, size_t n)
{
    DRIVER_CALL();
    (void)at, (void)size, (void)desc, (void)n;
    return 0;
}

/* The newest version of a function, as one who asks for today's gets it. */
static void *function_named(const char *name)
{
    static const char *const versions[] = {"_v3", "_v2", ""};
    void *self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), *found = NULL;
    char with[128];
    for (int i = 0; i < 3 && !found && self; i++) {
        snprintf(with, sizeof with, "%s%s", name, versions[i]);
        found = dlsym(self, with);
    }
    if (self)
        dlclose(self);
    return found;
}

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *result)
{
    DRIVER_CALL();
    (void)version, (void)flags;
    *function = function_named(name);
    if (result)
        *result = *function ? 0 : 1;
    return *function ? 0 : STANDIN_NOT_FOUND;
}

int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
    DRIVER_CALL();
    (void)version, (void)flags;
    *function = function_named(name);
    return *function ? 0 : STANDIN_NOT_FOUND;
}
