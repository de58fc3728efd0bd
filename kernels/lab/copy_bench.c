#include "kernels/lab/copy_bench.h"

#include "kernels/compute/stopwatch.h"
#include "libprof/base/statistics.h"

#include <string.h>

enum { REPEATS = 15 };

struct copy {
    struct seep_stream *stream;
    char *from, *to;
    size_t bytes;
};

static void copy_part(void *arg, unsigned thread, unsigned n_threads)
{
    struct copy *c = arg;
    size_t begin = c->bytes * thread / n_threads, end = c->bytes * (thread + 1) / n_threads;

    memcpy(c->to + begin, c->from + begin, end - begin);
}

static int copy_once(struct copy *c)
{
    if (seep_stream_device(c->stream) == SEEP_DEVICE_CUDA)
        return seep_stream_upload(c->stream, c->to, c->from, c->bytes);
    seep_stream_run(c->stream, copy_part, c);
    return 0;
}

static int time_copy(struct copy *c, const char *input, json_t *results)
{
    double times[REPEATS];
    int rc = copy_once(c); /* pages and caches are warm after it */

    for (int i = 0; i < REPEATS && !rc; i++) {
        double start = seep_clock_ms();
        rc = copy_once(c);
        times[i] = seep_clock_ms() - start;
    }
    if (rc)
        return rc;
    double median = seep_median(times, REPEATS), moved = 2.0 * (double)c->bytes;
    json_t *row =
        json_pack("{s:s, s:s, s:I, s:f, s:f}", "kernel", "copy", "input", input, "bytes_moved",
                  (json_int_t)moved, "median_ms", median, "gb_per_s", moved / median / 1e6);
    return json_array_append_new(results, row) ? -SEEP_ENOMEM : 0;
}

int seep_copy_bench(json_t *results, const char *data, struct seep_stream *stream,
                    struct seep_error *err)
{
    static const struct {
        const char *name;
        size_t bytes;
    } inputs[] = {{"1 MiB", (size_t)1 << 20}, {"256 MiB", (size_t)256 << 20}};
    int rc = 0;

    (void)data, (void)err;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs && !rc; i++) {
        struct copy c = {.stream = stream, .bytes = inputs[i].bytes};
        void *from = NULL, *to = NULL;
        rc = seep_stream_alloc(stream, c.bytes, &from);
        if (!rc)
            rc = seep_stream_alloc(stream, c.bytes, &to);
        c.from = from;
        c.to = to;
        if (!rc && seep_stream_device(stream) == SEEP_DEVICE_CPU)
            memset(from, 1, c.bytes); /* pages of its own, not the zero page */
        if (!rc)
            rc = time_copy(&c, inputs[i].name, results);
        if (from)
            seep_stream_free(stream, from);
        if (to)
            seep_stream_free(stream, to);
    }
    return rc;
}
