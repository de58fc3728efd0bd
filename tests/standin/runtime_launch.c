/* Kernels, modules and graphs: they exist, but do nothing. */
#include <string.h>

#include "tests/standin/cuda.h"
#include "tests/standin/runtime.h"

struct dim3 {
    unsigned x, y, z;
};

struct cudaFuncAttributes {
    size_t shared, constant, local;
    int threads, registers, ptx, binary, cached, most_shared, carveout, rest[9];
};

static char handles[4096]; /* of modules, libraries, kernels: any will do */

#define HANDLE(name, ...)                                                                          \
    EXPORT int name(void **handle, __VA_ARGS__);                                                   \
    EXPORT int name(void **handle, __VA_ARGS__)                                                    \
    {                                                                                              \
        CALL();                                                                                    \
        *handle = handles;                                                                         \
        return 0;                                                                                  \
    }

/* ---- what nvcc writes into programs --------------------------------------------------------- */

EXPORT void **__cudaRegisterFatBinary(void *binary)
{
    (void)binary;
    return (void **)handles;
}

EXPORT void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

EXPORT void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle;
}

EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                   int limit, void *a, void *b, void *c, void *d, int *size)
{
    (void)handle, (void)host, (void)device, (void)name, (void)limit, (void)a, (void)b, (void)c,
        (void)d, (void)size;
}

EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name,
                              int external, size_t size, int constant, int global)
{
    (void)handle, (void)host, (void)device, (void)name, (void)external, (void)size, (void)constant,
        (void)global;
}

EXPORT char __cudaInitModule(void **handle)
{
    (void)handle;
    return 1;
}

static _Thread_local struct launch {
    struct dim3 grid, block;
    size_t shared;
    void *stream;
} pushed;

EXPORT unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared,
                                            void *stream)
{
    pushed = (struct launch){grid, block, shared, stream};
    return 0;
}

EXPORT int __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared,
                                      void *stream)
{
    *grid = pushed.grid;
    *block = pushed.block;
    *shared = pushed.shared;
    *(void **)stream = pushed.stream;
    return 0;
}

HANDLE(__cudaGetKernel, const void *function)

#define LAUNCHES(name)                                                                             \
    EXPORT int name(const void *function, struct dim3 grid, struct dim3 block, void **arguments,   \
                    size_t shared, void *stream)                                                   \
    {                                                                                              \
        CALL();                                                                                    \
        (void)function, (void)grid, (void)block, (void)arguments, (void)shared, (void)stream;      \
        return 0;                                                                                  \
    }

LAUNCHES(__cudaLaunchKernel)
LAUNCHES(cudaLaunchKernel)
LAUNCHES(cudaLaunchCooperativeKernel)
NOTHING(cudaLaunchKernelExC, const void *config, const void *function, void **arguments)

/* ---- what is told of a kernel --------------------------------------------------------------- */

EXPORT int cudaFuncGetAttributes(struct cudaFuncAttributes *of, const void *function)
{
    CALL();
    (void)function;
    memset(of, 0, sizeof *of);
    of->threads = 1024;
    of->registers = 32;
    of->ptx = of->binary = 80;
    return 0;
}

static int active_blocks(int *n, int threads)
{
    *n = threads > 0 && threads < 2048 ? 2048 / threads : 1;
    return 0;
}

EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *function, int threads,
                                                         size_t shared)
{
    CALL();
    (void)function, (void)shared;
    return active_blocks(n, threads);
}

EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *function,
                                                                  int threads, size_t shared,
                                                                  unsigned flags)
{
    CALL();
    (void)function, (void)shared, (void)flags;
    return active_blocks(n, threads);
}

HANDLE(cudaGetFuncBySymbol, const void *symbol)
NOTHING(cudaFuncSetCacheConfig, const void *function, int config)
NOTHING(cudaFuncSetAttribute, const void *function, int attribute, int value)
NOTHING(cudaKernelSetAttributeForDevice, void *kernel, int attribute, int value, int device)

HANDLE(cudaLibraryLoadData, const void *code, int *a, void **b, unsigned n, int *c, void **d,
       unsigned m)
HANDLE(cudaLibraryLoadFromFile, const char *file, int *a, void **b, unsigned n, int *c, void **d,
       unsigned m)
HANDLE(cudaLibraryGetKernel, void *library, const char *name)
HANDLE(cudaLibraryGetUnifiedFunction, void *library, const char *name)
NOTHING(cudaLibraryGetGlobal, void **at, size_t *bytes, void *library, const char *name)
NOTHING(cudaLibraryGetManaged, void **at, size_t *bytes, void *library, const char *name)
NOTHING(cudaLibraryGetKernelCount, unsigned *n, void *library)
NOTHING(cudaLibraryUnload, void *library)

/* ---- graphs --------------------------------------------------------------------------------- */

HANDLE(cudaGraphInstantiate, void *graph, unsigned long long flags)
HANDLE(cudaGraphInstantiateWithFlags, void *graph, unsigned long long flags)
HANDLE(cudaGraphAddNode, void *graph, const void **nodes, const void *edges, size_t n, void *params)
HANDLE(cudaGraphAddEmptyNode, void *graph, const void **nodes, size_t n)
HANDLE(cudaGraphAddEventRecordNode, void *graph, const void **nodes, size_t n, void *event)
HANDLE(cudaGraphAddEventWaitNode, void *graph, const void **nodes, size_t n, void *event)
HANDLE(cudaGraphAddHostNode, void *graph, const void **nodes, size_t n, const void *params)
HANDLE(cudaGraphAddKernelNode, void *graph, const void **nodes, size_t n, const void *params)
HANDLE(cudaGraphConditionalHandleCreate, void *graph, unsigned value, unsigned flags)
HANDLE(cudaUserObjectCreate, void *at, void (*destroy)(void *), unsigned references, unsigned flags)

EXPORT int cudaGraphGetNodes(void *graph, void **nodes, size_t *n)
{
    CALL();
    (void)graph;
    if (nodes && *n)
        nodes[0] = handles;
    *n = 1;
    return 0;
}

NOTHING(cudaGraphDebugDotPrint, void *graph, const char *path, unsigned flags)
NOTHING(cudaGraphDestroy, void *graph)
NOTHING(cudaGraphExecDestroy, void *graph)
NOTHING(cudaGraphLaunch, void *graph, void *stream)
NOTHING(cudaGraphNodeGetDependencies, void *node, void **nodes, void *edges, size_t *n)
NOTHING(cudaGraphNodeGetType, void *node, int *type)
NOTHING(cudaGraphRetainUserObject, void *graph, void *object, unsigned n, unsigned flags)
NOTHING(cudaUserObjectRelease, void *object, unsigned n)
