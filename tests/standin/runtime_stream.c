/* Streams and events: work given to a stream is already done, so there is nothing to wait for. A
 * capture is known by its stream. */
#include <string.h>

#include "tests/standin/cuda.h"
#include "tests/standin/runtime.h"

enum { MAX_STREAMS = 4096, CAPTURING = 1 };

static struct stream {
    bool used;
    int priority;
    unsigned long long capture; /* 0: none */
} streams[MAX_STREAMS];         /* the first is the default one, by whatever name */

static unsigned long long n_captures, n_events;

static struct stream *stream_of(void *handle)
{
    uint64_t i = ((uint64_t)handle - (uint64_t)streams) / sizeof *streams;
    return i < MAX_STREAMS ? handle : &streams[0];
}

static int make_stream(void **handle, int priority)
{
    for (int i = 1; i < MAX_STREAMS; i++)
        if (!__atomic_test_and_set(&streams[i].used, __ATOMIC_ACQ_REL)) {
            streams[i].priority = priority;
            streams[i].capture = 0;
            *handle = &streams[i];
            return 0;
        }
    return standin_leave(STANDIN_NO_MEMORY);
}

EXPORT int cudaStreamCreate(void **handle)
{
    CALL();
    return make_stream(handle, 0);
}

EXPORT int cudaStreamCreateWithFlags(void **handle, unsigned flags)
{
    CALL();
    (void)flags;
    return make_stream(handle, 0);
}

EXPORT int cudaStreamCreateWithPriority(void **handle, unsigned flags, int priority)
{
    CALL();
    (void)flags;
    return make_stream(handle, priority);
}

EXPORT int cudaStreamDestroy(void *handle)
{
    CALL();
    if (stream_of(handle) == &streams[0])
        return standin_leave(STANDIN_INVALID_HANDLE);
    __atomic_clear(&stream_of(handle)->used, __ATOMIC_RELEASE);
    return 0;
}

EXPORT int cudaStreamGetPriority(void *handle, int *priority)
{
    CALL();
    *priority = stream_of(handle)->priority;
    return 0;
}

NOTHING(cudaStreamQuery, void *stream)
NOTHING(cudaStreamSynchronize, void *stream)
NOTHING(cudaStreamWaitEvent, void *stream, void *event, unsigned flags)

EXPORT int cudaStreamAddCallback(void *stream, void (*done)(void *, int, void *), void *data,
                                 unsigned flags)
{
    CALL();
    (void)flags;
    done(stream, 0, data);
    return 0;
}

EXPORT int cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data)
{
    CALL();
    (void)stream;
    function(data);
    return 0;
}

/* ---- captures ------------------------------------------------------------------------------- */

static int begin_capture(void *stream)
{
    stream_of(stream)->capture = __atomic_add_fetch(&n_captures, 1, __ATOMIC_RELAXED);
    return 0;
}

EXPORT int cudaStreamBeginCapture(void *stream, int mode)
{
    CALL();
    (void)mode;
    return begin_capture(stream);
}

EXPORT int cudaStreamBeginCaptureToGraph(void *stream, void *graph, const void **nodes,
                                         const void *edges, size_t n, int mode)
{
    CALL();
    (void)graph, (void)nodes, (void)edges, (void)n, (void)mode;
    return begin_capture(stream);
}

EXPORT int cudaStreamEndCapture(void *stream, void **graph)
{
    CALL();
    *graph = (void *)(stream_of(stream)->capture * 16);
    stream_of(stream)->capture = 0;
    return 0;
}

EXPORT int cudaStreamIsCapturing(void *stream, int *status)
{
    CALL();
    *status = stream_of(stream)->capture ? CAPTURING : 0;
    return 0;
}

static int capture_info(void *stream, int *status, unsigned long long *id, void **graph)
{
    unsigned long long capture = stream_of(stream)->capture;
    *status = capture ? CAPTURING : 0;
    if (id)
        *id = capture;
    if (graph)
        *graph = (void *)(capture * 16);
    return 0;
}

#if CUDA_MAJOR == 11
EXPORT int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id)
{
    CALL();
    return capture_info(stream, status, id, NULL);
}
#endif
#if CUDA_MAJOR < 13
EXPORT int cudaStreamGetCaptureInfo_v2(void *stream, int *status, unsigned long long *id,
                                       void **graph, const void ***nodes, size_t *n)
{
    CALL();
    if (nodes)
        *nodes = NULL;
    if (n)
        *n = 0;
    return capture_info(stream, status, id, graph);
}
#else
EXPORT int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id, void **graph,
                                    const void ***nodes, const void **edges, size_t *n)
{
    CALL();
    if (nodes)
        *nodes = NULL;
    if (edges)
        *edges = NULL;
    if (n)
        *n = 0;
    return capture_info(stream, status, id, graph);
}
#endif

NOTHING(cudaStreamUpdateCaptureDependencies, void *stream, void **nodes, const void *edges,
        size_t n, unsigned flags)
NOTHING(cudaThreadExchangeStreamCaptureMode, int *mode)

/* ---- events: each is a number --------------------------------------------------------------- */

static int make_event(void **event)
{
    *event = (void *)(__atomic_add_fetch(&n_events, 1, __ATOMIC_RELAXED) * 16);
    return 0;
}

EXPORT int cudaEventCreate(void **event)
{
    CALL();
    return make_event(event);
}

EXPORT int cudaEventCreateWithFlags(void **event, unsigned flags)
{
    CALL();
    (void)flags;
    return make_event(event);
}

EXPORT int cudaEventElapsedTime(float *ms, void *begin, void *end)
{
    CALL();
    (void)begin, (void)end;
    *ms = 1;
    return 0;
}

EXPORT int cudaIpcGetEventHandle(struct cudaIpcMemHandle *handle, void *event)
{
    CALL();
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &event, sizeof event);
    return 0;
}

EXPORT int cudaIpcOpenEventHandle(void **event, struct cudaIpcMemHandle handle)
{
    CALL();
    (void)handle;
    return make_event(event);
}

NOTHING(cudaEventDestroy, void *event)
NOTHING(cudaEventQuery, void *event)
NOTHING(cudaEventRecord, void *event, void *stream)
NOTHING(cudaEventRecordWithFlags, void *event, void *stream, unsigned flags)
NOTHING(cudaEventSynchronize, void *event)
