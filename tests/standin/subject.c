/* Calls everything that a program may ask of the stand-ins, section by section: each ends with 0 if
 * they answered correctly. The calls are then in the log. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/standin/cuda.h"

#define MUST(what)                                                                                 \
    do                                                                                             \
        if (!(what)) {                                                                             \
            fprintf(stderr, "line %d: %s\n", __LINE__, #what);                                     \
            exit(1);                                                                               \
        }                                                                                          \
    while (0)

enum { MIB = 1 << 20 };

static void memory(void)
{
    void *at[8], *pool, *alias;
    struct cudaPitchedPtr volume;
    struct cudaIpcMemHandle handle;
    struct cudaChannelFormatDesc floats = {32, 0, 0, 0, 2};
    size_t pitch;
    MUST(!cudaMalloc(&at[0], MIB) && at[0]);
    memset(at[0], 1, MIB);
    MUST(!cudaSetDevice(1));
    MUST(!cudaMallocPitch(&at[1], &pitch, 100, 10) && pitch == 512);
    MUST(!cudaMalloc3D(&volume, (struct cudaExtent){100, 10, 2}) && volume.pitch == 512);
    MUST(!cudaMallocManaged(&at[2], 3000, 1));
    MUST(!cudaMallocArray(&at[3], &floats, 10, 10, 0));
    MUST(!cudaMallocAsync(&at[4], 5000, NULL) && !cudaMallocAsync_ptsz(&at[5], 5000, NULL));
    MUST(!cudaDeviceGetDefaultMemPool(&pool, 0) &&
         !cudaMallocFromPoolAsync(&at[6], 7000, pool, NULL));
    MUST(!cudaIpcGetMemHandle(&handle, (char *)at[0] + 5) &&
         !cudaIpcOpenMemHandle(&alias, handle, 1));
    MUST(!cudaFree(at[2]) && !cudaFreeArray(at[3]) && !cudaFreeAsync(at[4], NULL) &&
         !cudaFree(at[5]));
    MUST(!cudaFree(NULL) && !cudaMalloc(&at[7], 0) && !at[7]);
    MUST(cudaFree(at[2]) == 1 && cudaFree(at[3]) == 1 && cudaFree((char *)at[0] + 8) == 1);
    MUST(cudaGetLastError() == 1 && cudaGetLastError() == 0);
    MUST(!cudaIpcCloseMemHandle(alias));
}

static void host(void)
{
    static char own[8192];
    void *at[2], *device;
    MUST(!cudaMallocHost(&at[0], 1000) && !cudaHostAlloc(&at[1], 2000, 0));
    MUST(!cudaHostGetDevicePointer(&device, at[1], 0) && device == at[1]);
    MUST(!cudaHostRegister(own, sizeof own, 0) && cudaHostRegister(own, sizeof own, 0) == 712);
    MUST(!cudaFreeHost(at[0]) && cudaFreeHost(own) == 1);
    MUST(!cudaHostUnregister(own) && cudaHostUnregister(own) == 713);
}

static void expandable(void)
{
    int (*reserve)(uint64_t *, size_t, size_t, uint64_t, unsigned long long), result;
    struct CUmemAllocationProp prop = {.type = 1, .location = {1, 1}};
    uint64_t at, first, second;
    MUST(!cudaFree(NULL));
    MUST(!cudaGetDriverEntryPoint("cuMemAddressReserve", (void **)&reserve, 0, &result) &&
         reserve && !result);
    MUST(reserve == cuMemAddressReserve && !reserve(&at, 1ull << 40, 0, 0, 0));
    MUST(!cuMemCreate(&first, 2 * MIB, &prop, 0) && !cuMemCreate(&second, 2 * MIB, &prop, 0));
    MUST(!cuMemMap(at, 2 * MIB, 0, first, 0) && !cuMemMap(at + 2 * MIB, 2 * MIB, 0, second, 0));
    memset((void *)at, 1, 4 * MIB);
    MUST(!cuMemRelease(first) && !cuMemRelease(second));
    MUST(!cuMemUnmap(at, 2 * MIB) && cuMemUnmap(at, 2 * MIB));
}

static void full(void)
{
    size_t available, total;
    void *at;
    MUST(!cudaMemGetInfo(&available, &total) && available < total);
    MUST(cudaMalloc(&at, available + 1) == 2 && cudaPeekAtLastError() == 2);
    MUST(!cudaMalloc(&at, available) && cudaMalloc(&at, 1) == 2);
}

static void failing(void)
{
    void *at;
    for (int i = 1; i <= 9; i++)
        MUST(cudaMalloc(&at, 1000) == (i % 3 ? 0 : 2));
}

static void forked(void)
{
    void *at;
    int status, n;
    MUST(!cudaGetDeviceCount(&n) && n == 2);
    if (!fork()) /* nothing was begun: a child may go on */
        _exit(cudaMalloc(&at, MIB));
    MUST(wait(&status) > 0 && !status);
    MUST(!cudaMalloc(&at, MIB));
    if (!fork())
        _exit(cudaFree(at) == 3 ? 0 : 1);
    MUST(wait(&status) > 0 && !status);
}

/* With STANDIN_UNTOUCHED a device's memory stays as it was. */
static void copies(void)
{
    const int touched = !getenv("STANDIN_UNTOUCHED");
    unsigned char from[100], to[100] = {0};
    void *at;
    memset(from, 7, sizeof from);
    MUST(!cudaMalloc(&at, 50) && !cudaMemset(at, 5, 50) && !cudaMemcpy(at, from, 20, 1));
    MUST(!cudaMemcpy(to, at, 100, 2));
    MUST(to[0] == 7 * touched && to[19] == 7 * touched && to[20] == 5 * touched);
    MUST(to[49] == 5 * touched && to[50] == 0); /* no more than there is */
}

static void captures(void)
{
    void *stream, *graph;
    int status;
    MUST(!cudaStreamCreate(&stream) && !cudaStreamIsCapturing(stream, &status) && !status);
    MUST(!cudaStreamBeginCapture(stream, 0) && !cudaStreamIsCapturing(stream, &status) &&
         status == 1);
    MUST(!cudaStreamIsCapturing(NULL, &status) && !status);
    MUST(!cudaStreamEndCapture(stream, &graph) && graph &&
         !cudaStreamIsCapturing(stream, &status) && !status);
    MUST(!cudaStreamDestroy(stream) && cudaStreamDestroy(NULL) == 400 && cudaGetLastError() == 400);
}

static void *churn(void *unused)
{
    void *at[16] = {NULL};
    for (int i = 0; i < 2000; i++) {
        MUST(!cudaFree(at[i % 16]));
        MUST(!cudaMalloc(&at[i % 16], 4096));
    }
    for (int i = 0; i < 16; i++)
        MUST(!cudaFree(at[i]));
    return unused;
}

static void threads(void)
{
    pthread_t t[8];
    for (int i = 0; i < 8; i++)
        MUST(!pthread_create(&t[i], NULL, churn, NULL));
    for (int i = 0; i < 8; i++)
        pthread_join(t[i], NULL);
}

static void nvml(void)
{
    struct nvmlProcessInfo of[4];
    struct nvmlMemory info;
    unsigned n = 4;
    void *device, *at;
    MUST(!nvmlInit_v2() && !nvmlDeviceGetHandleByIndex_v2(1, &device));
    MUST(!nvmlDeviceGetComputeRunningProcesses_v3(device, &n, of) && n == 0);
    MUST(!cudaSetDevice(1) && !cudaMalloc(&at, MIB));
    n = 4;
    MUST(!nvmlDeviceGetComputeRunningProcesses_v3(device, &n, of) && n == 1 &&
         of[0].pid == (unsigned)getpid());
    MUST(!nvmlDeviceGetMemoryInfo(device, &info) && info.used == of[0].used &&
         info.used == 65 * MIB);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } sections[] = {{"memory", memory},    {"host", host},       {"expandable", expandable},
                    {"full", full},        {"failing", failing}, {"forked", forked},
                    {"threads", threads},  {"nvml", nvml},       {"copies", copies},
                    {"captures", captures}};
    for (size_t i = 0; argc > 1 && i < sizeof sections / sizeof *sections; i++)
        if (!strcmp(argv[1], sections[i].name)) {
            sections[i].run();
            return 0;
        }
    return 2;
}
