#include "kernels/compute/stream.h"

#include "kernels/compute/stream_cuda.h"
#include "preload/seep.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 64, ALIGNMENT = 64 };

struct seep_stream {
    enum seep_device device;
    void *cuda; /* cudaStream_t */
    int cuda_device;
    bool owned;                             /* `cuda` is ours */
    char space[sizeof "device:2147483647"]; /* seep's space for the device's blocks */
    unsigned n_threads;
    pthread_t threads[MAX_THREADS];
    pthread_mutex_t lock;
    pthread_cond_t begins, ends;
    unsigned long turn; /* of _run() */
    unsigned n_working; /* threads other than the caller that are still at work */
    bool stops;
    seep_stream_work *work;
    void *arg;
};

/* Not by `cuda`: the default stream is NULL. */
static bool is_cuda(const struct seep_stream *s)
{
    return s->device == SEEP_DEVICE_CUDA;
}

struct start {
    struct seep_stream *stream;
    unsigned thread;
};

static void *wait_for_work(void *arg)
{
    struct start start = *(struct start *)arg;
    struct seep_stream *s = start.stream;
    unsigned long turn = 0;

    free(arg);
    for (;;) {
        pthread_mutex_lock(&s->lock);
        while (s->turn == turn && !s->stops)
            pthread_cond_wait(&s->begins, &s->lock);
        bool stops = s->stops;
        turn = s->turn;
        pthread_mutex_unlock(&s->lock);
        if (stops)
            return NULL;
        s->work(s->arg, start.thread, s->n_threads);
        pthread_mutex_lock(&s->lock);
        if (--s->n_working == 0)
            pthread_cond_signal(&s->ends);
        pthread_mutex_unlock(&s->lock);
    }
}

static unsigned usable_cpus(void)
{
    cpu_set_t sets[16]; /* one holds 1,024; Linux is built for 8,192 at most */

    if (sched_getaffinity(0, sizeof sets, sets))
        return 1;
    return (unsigned)CPU_COUNT_S(sizeof sets, sets);
}

int seep_stream_create_cpu(unsigned n_threads, struct seep_stream **out)
{
    struct seep_stream *s = calloc(1, sizeof *s);

    if (!s)
        return -SEEP_ENOMEM;
    s->device = SEEP_DEVICE_CPU;
    if (n_threads == 0)
        n_threads = usable_cpus();
    if (n_threads > MAX_THREADS)
        n_threads = MAX_THREADS;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->begins, NULL);
    pthread_cond_init(&s->ends, NULL);
    for (s->n_threads = 1; s->n_threads < n_threads; s->n_threads++) {
        struct start *start = malloc(sizeof *start);
        if (start)
            *start = (struct start){s, s->n_threads};
        if (!start || pthread_create(&s->threads[s->n_threads], NULL, wait_for_work, start)) {
            free(start);
            seep_stream_destroy(s);
            return -SEEP_ENOMEM;
        }
    }
    *out = s;
    return 0;
}

/*   why  NULL, or why there can be none */
static int make_cuda(int device, void *cuda, bool owned, const char *why, struct seep_stream **out,
                     struct seep_error *err)
{
    struct seep_stream *s;

    if (why)
        return seep_error_set(err, SEEP_EDEVICE, "", 0, "no CUDA device: %s", why);
    s = calloc(1, sizeof *s);
    if (!s) {
        if (owned)
            seep_cuda_stream_destroy(device, cuda);
        return seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory");
    }
    *s = (struct seep_stream){.device = SEEP_DEVICE_CUDA,
                              .cuda = cuda,
                              .cuda_device = device,
                              .owned = owned,
                              .n_threads = 1};
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->begins, NULL);
    pthread_cond_init(&s->ends, NULL);
    snprintf(s->space, sizeof s->space, "device:%d", device);
    *out = s;
    return 0;
}

int seep_stream_create_cuda(int device, struct seep_stream **out, struct seep_error *err)
{
    void *cuda = NULL;
    const char *why = seep_cuda_stream_create(device, &cuda);

    return make_cuda(device, cuda, true, why, out, err);
}

int seep_stream_of_cuda(int device, void *cuda_stream, struct seep_stream **out,
                        struct seep_error *err)
{
    return make_cuda(device, cuda_stream, false, seep_cuda_check(device), out, err);
}

void seep_stream_destroy(struct seep_stream *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stops = true;
    pthread_cond_broadcast(&s->begins);
    pthread_mutex_unlock(&s->lock);
    for (unsigned i = 1; i < s->n_threads; i++)
        pthread_join(s->threads[i], NULL);
    if (s->owned)
        seep_cuda_stream_destroy(s->cuda_device, s->cuda);
    pthread_cond_destroy(&s->ends);
    pthread_cond_destroy(&s->begins);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

enum seep_device seep_stream_device(const struct seep_stream *s)
{
    return s->device;
}

unsigned seep_stream_threads(const struct seep_stream *s)
{
    return s->n_threads;
}

void *seep_stream_cuda(const struct seep_stream *s)
{
    return s->cuda;
}

int seep_stream_cuda_device(const struct seep_stream *s)
{
    return is_cuda(s) ? s->cuda_device : -1;
}

void seep_stream_run(struct seep_stream *s, seep_stream_work *work, void *arg)
{
    if (s->n_threads > 1) {
        pthread_mutex_lock(&s->lock);
        s->work = work;
        s->arg = arg;
        s->n_working = s->n_threads - 1;
        s->turn++;
        pthread_cond_broadcast(&s->begins);
        pthread_mutex_unlock(&s->lock);
    }
    work(arg, 0, s->n_threads);
    if (s->n_threads > 1) {
        pthread_mutex_lock(&s->lock);
        while (s->n_working)
            pthread_cond_wait(&s->ends, &s->lock);
        pthread_mutex_unlock(&s->lock);
    }
}

int seep_stream_wait(struct seep_stream *s)
{
    return is_cuda(s) ? seep_cuda_stream_wait(s->cuda_device, s->cuda) : 0;
}

int seep_stream_alloc(struct seep_stream *s, size_t bytes, void **out)
{
    *out = NULL;
    if (is_cuda(s)) {
        int rc = seep_cuda_alloc(s->cuda_device, bytes, out);
        if (!rc)
            seep_block_made(s->space, *out, bytes);
        return rc;
    }
    return posix_memalign(out, ALIGNMENT, bytes ? bytes : 1) ? -SEEP_ENOMEM : 0;
}

void seep_stream_free(struct seep_stream *s, void *block)
{
    if (!is_cuda(s)) {
        free(block);
        return;
    }
    if (block)
        seep_block_gone(s->space, block);
    seep_cuda_free(s->cuda_device, block);
}

int seep_stream_upload(struct seep_stream *s, void *to, const void *from, size_t bytes)
{
    if (is_cuda(s))
        return seep_cuda_copy(s->cuda_device, s->cuda, to, from, bytes);
    memcpy(to, from, bytes);
    return 0;
}

int seep_stream_download(struct seep_stream *s, void *to, const void *from, size_t bytes)
{
    return seep_stream_upload(s, to, from, bytes);
}
