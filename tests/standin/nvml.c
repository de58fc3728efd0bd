/* libnvidia-ml.so.1: what all processes use of a device, without needing a context. It reads the
 * ledger of the driver in its own process, and in any other process that of STANDIN_SHARED. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/standin/cuda.h"
#include "tests/standin/inside.h"

enum { INVALID = 2, NOT_SUPPORTED = 3, TOO_SMALL = 7 }; /* there are no links and fabrics either */

static char places[STANDIN_MOST_DEVICES];

uint64_t standin_number_of(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

/* The ledger is the driver's where that is loaded. */
static uint64_t used_by(int device, int pid)
{
    uint64_t (*used)(int, int) = standin_used;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver) {
        *(void **)&used = dlsym(driver, "standin_used");
        dlclose(driver);
    }
    return used ? used(device, pid) : 0;
}

static int users_of(int device, int *pids, int room)
{
    int (*users)(int, int *, int) = standin_users;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver) {
        *(void **)&users = dlsym(driver, "standin_users");
        dlclose(driver);
    }
    return users ? users(device, pids, room) : 0;
}

static int number_of(const void *device)
{
    return (int)((const char *)device - places);
}

int nvmlInit_v2(void)
{
    return 0;
}

int nvmlShutdown(void)
{
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = (unsigned)standin_number_of("STANDIN_DEVICES", 2);
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    if (index >= standin_number_of("STANDIN_DEVICES", 2))
        return INVALID;
    *device = &places[index];
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device)
{
    unsigned domain, index;
    if (sscanf(bus, "%x:%x:", &domain, &index) != 2 || !index)
        return INVALID;
    return nvmlDeviceGetHandleByIndex_v2(index - 1, device);
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
    unsigned index;
    if (sscanf(uuid, "GPU-%8x", &index) != 1)
        return INVALID;
    return nvmlDeviceGetHandleByIndex_v2(index, device);
}

int nvmlDeviceGetIndex(void *device, unsigned *index)
{
    *index = (unsigned)number_of(device);
    return 0;
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length)
{
    snprintf(uuid, length, "GPU-%08x-0000-0000-0000-000000000000", number_of(device));
    return 0;
}

int nvmlDeviceGetMemoryInfo(void *device, struct nvmlMemory *memory)
{
    if (standin_number_of("STANDIN_ONE_MEMORY", 0)) /* as GB10's, which takes the host's */
        return NOT_SUPPORTED;
    memory->total = standin_number_of("STANDIN_CAPACITY", 8ull << 30);
    memory->used = used_by(number_of(device), 0);
    memory->available = memory->used < memory->total ? memory->total - memory->used : 0;
    return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count,
                                            struct nvmlProcessInfo *infos)
{
    int pids[64], n = users_of(number_of(device), pids, 64);
    unsigned room = *count;
    *count = (unsigned)(n > 64 ? 64 : n);
    if (*count > room)
        return TOO_SMALL;
    for (unsigned i = 0; i < *count; i++)
        infos[i] = (struct nvmlProcessInfo){(unsigned)pids[i], used_by(number_of(device), pids[i]),
                                            ~0u, ~0u};
    return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v2(void *device, unsigned *count,
                                            struct nvmlProcessInfo *infos)
{
    return nvmlDeviceGetComputeRunningProcesses_v3(device, count, infos);
}

int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count,
                                         struct nvmlProcessInfo_v1 *infos)
{
    struct nvmlProcessInfo all[64];
    unsigned n = 64, room = *count;
    int error = nvmlDeviceGetComputeRunningProcesses_v3(device, &n, all);
    *count = n;
    if (error || n > room)
        return error ? error : TOO_SMALL;
    for (unsigned i = 0; i < n; i++)
        infos[i] = (struct nvmlProcessInfo_v1){all[i].pid, all[i].used};
    return 0;
}

int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    *version = 13030;
    return 0;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, int *type)
{
    (void)device, (void)link, (void)type;
    return NOT_SUPPORTED;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, void *info)
{
    (void)device, (void)link, (void)info;
    return NOT_SUPPORTED;
}

struct fabric_info {
    unsigned version;
    char cluster[16];
    int status;
    unsigned clique;
    unsigned char state; /* 0: it is in none */
};

int nvmlDeviceGetGpuFabricInfoV(void *device, void *info)
{
    (void)device;
    ((struct fabric_info *)info)->state = 0;
    return 0;
}
