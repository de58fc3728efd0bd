/* Stands in for CUPTI: calls its subscriber at the begin and end of the calls that it enabled. It
 * admits one subscriber; with CUPTI_LIKE_ERROR=N none, with that error. */
#include "cupti_like.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { OK = 0, INVALID = 1, TAKEN = 39 };

/* At their numbers, which are none that the real one has. */
static const char *const names[][64] = {
    [DRIVER] = {"INVALID", "cuInit", "cuMemAlloc", "cuMemAlloc_v2", "cuMemFree_v2",
                "cuLaunchKernel", "cuMemAllocAsync_ptsz", "cuMemFreeAsync_ptsz"},
    [RUNTIME] = {"INVALID", "cudaLaunchKernel_v7000", "cudaFree_v3020", "cudaMalloc_v3020",
                 "cudaMallocPitch_v3020", "cudaMallocManaged_v6000", "cudaHostAlloc_v3020",
                 "cudaFreeHost_v3020", "cudaMallocAsync_ptsz_v11020", "cudaFreeAsync_ptsz_v11020"},
};

typedef void callback(void *, int, uint32_t, const struct told *);

static callback *listener;
static void *listeners_own;
static unsigned char enabled[3][64];

static int number_of(int domain, const char *name)
{
    for (int i = 1; i < 64 && names[domain][i]; i++)
        if (strcmp(names[domain][i], name) == 0)
            return i;
    abort();
}

EXPORT int cuptiSubscribe(void **subscriber, callback *f, void *own)
{
    const char *error = getenv("CUPTI_LIKE_ERROR");
    if (error)
        return atoi(error);
    if (listener)
        return TAKEN;
    listener = f;
    listeners_own = own;
    *subscriber = &listener;
    return OK;
}

EXPORT int cuptiUnsubscribe(void *subscriber)
{
    (void)subscriber;
    listener = NULL;
    return OK;
}

EXPORT int cuptiEnableCallback(uint32_t on, void *subscriber, int domain, uint32_t number)
{
    if (subscriber != &listener || domain < DRIVER || domain > RUNTIME || number >= 64)
        return INVALID;
    enabled[domain][number] = on != 0;
    return OK;
}

EXPORT int cuptiGetCallbackName(int domain, uint32_t number, const char **name)
{
    if (domain < DRIVER || domain > RUNTIME || number >= 64 || !names[domain][number])
        return INVALID;
    *name = names[domain][number];
    return OK;
}

EXPORT int cuptiGetDeviceId(void *context, uint32_t *device)
{
    if (!context)
        return INVALID;
    *device = (uint32_t) * (int *)context;
    return OK;
}

EXPORT cupti_like_tell cupti_like_told;
void cupti_like_told(int domain, const char *name, const struct told *told)
{
    const int number = number_of(domain, name);
    if (listener && enabled[domain][number])
        listener(listeners_own, domain, (uint32_t)number, told);
}
