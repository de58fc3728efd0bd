/* Five sums over the window (of x, y, x², y² and xy), by rows, then by columns. Where they meet,
 * SSIM's derivatives by three of them replace them, and go the same way back: the window is
 * symmetric, so its transpose is itself. */
#include "kernels/splat/splat_ssim_value.h"
#include "kernels/splat/splat_twins.h"

#include <string.h>

struct ssim {
    const float *image, *target;
    float *grad;
    float weight;
    struct ssim_window window;
    size_t row, height;          /* values in a row; rows */
    float *sums[SSIM_SUMS];      /* [height][row] by rows alone; derivatives by rows later */
    float *by[SSIM_DERIVATIVES]; /* [height][row] */
    float *scratch_row;          /* [n_threads][SSIM_SUMS][row] */
    double *row_sums;            /* [height] */
};

static void rows_of(const struct ssim *s, unsigned thread, unsigned n_threads, size_t *y,
                    size_t *end)
{
    *y = s->height * thread / n_threads;
    *end = s->height * (thread + 1) / n_threads;
}

/* to[i] = the window over from[i] and its neighbours in the row. */
static void along_row(const struct ssim *s, const float *from, float *to)
{
    memset(to, 0, s->row * sizeof *to);
    for (int k = -SSIM_REACH; k <= SSIM_REACH; k++) {
        size_t away = (size_t)(k < 0 ? -k : k) * SSIM_CHANNELS;
        float w = s->window.taps[k + SSIM_REACH];
        if (away >= s->row)
            continue;
        const float *in = k < 0 ? from : from + away;
        float *out = k < 0 ? to + away : to;
        for (size_t i = 0; i < s->row - away; i++)
            out[i] += w * in[i];
    }
}

/* The same by columns, of row y. */
static void along_columns(const struct ssim *s, const float *plane, size_t y, float *to)
{
    memset(to, 0, s->row * sizeof *to);
    for (size_t k = y < SSIM_REACH ? SSIM_REACH - y : 0;
         k < SSIM_TAPS && y + k < s->height + SSIM_REACH; k++) {
        const float *in = plane + (y + k - SSIM_REACH) * s->row;
        for (size_t i = 0; i < s->row; i++)
            to[i] += s->window.taps[k] * in[i];
    }
}

static void sum_rows(void *arg, unsigned thread, unsigned n_threads)
{
    const struct ssim *s = arg;
    float *product = s->scratch_row + (size_t)thread * SSIM_SUMS * s->row;
    size_t y, end;

    for (rows_of(s, thread, n_threads, &y, &end); y < end; y++) {
        size_t at = y * s->row;
        const float *a = s->image + at, *b = s->target + at;
        along_row(s, a, s->sums[SSIM_X] + at);
        along_row(s, b, s->sums[SSIM_Y] + at);
        for (int p = SSIM_XX; p <= SSIM_XY; p++) {
            const float *first = p == SSIM_YY ? b : a, *second = p == SSIM_XX ? a : b;
            for (size_t i = 0; i < s->row; i++)
                product[i] = first[i] * second[i];
            along_row(s, product, s->sums[p] + at);
        }
    }
}

static void compare_all(void *arg, unsigned thread, unsigned n_threads)
{
    const struct ssim *s = arg;
    float *here = s->scratch_row + (size_t)thread * SSIM_SUMS * s->row;
    size_t y, end;

    for (rows_of(s, thread, n_threads, &y, &end); y < end; y++) {
        double total = 0;
        for (int k = 0; k < SSIM_SUMS; k++)
            along_columns(s, s->sums[k], y, here + (size_t)k * s->row);
        for (size_t i = 0; i < s->row; i++) {
            float sum[SSIM_SUMS], by[SSIM_DERIVATIVES];
            for (int k = 0; k < SSIM_SUMS; k++)
                sum[k] = here[(size_t)k * s->row + i];
            total += (double)ssim_of(sum, by);
            for (int k = 0; k < SSIM_DERIVATIVES; k++)
                s->by[k][y * s->row + i] = by[k];
        }
        s->row_sums[y] = total;
    }
}

static void derive_rows(void *arg, unsigned thread, unsigned n_threads)
{
    const struct ssim *s = arg;
    size_t y, end;

    for (rows_of(s, thread, n_threads, &y, &end); y < end; y++) {
        for (int k = 0; k < SSIM_DERIVATIVES; k++)
            along_row(s, s->by[k] + y * s->row, s->sums[k] + y * s->row);
    }
}

static void add_gradient(void *arg, unsigned thread, unsigned n_threads)
{
    const struct ssim *s = arg;
    const float share = s->weight / (float)(s->row * s->height);
    float *here = s->scratch_row + (size_t)thread * SSIM_SUMS * s->row;
    size_t y, end;

    for (rows_of(s, thread, n_threads, &y, &end); y < end; y++) {
        size_t at = y * s->row;
        for (int k = 0; k < SSIM_DERIVATIVES; k++)
            along_columns(s, s->sums[k], y, here + (size_t)k * s->row);
        for (size_t i = 0; i < s->row; i++) {
            float d = here[i] + 2 * s->image[at + i] * here[s->row + i] +
                      s->target[at + i] * here[2 * s->row + i];
            s->grad[at + i] = (1 - s->weight) * s->grad[at + i] - share * d;
        }
    }
}

static float *part(char *scratch, size_t *at, size_t n)
{
    char *here = scratch ? scratch + *at : NULL;

    *at += n * sizeof(float);
    return (float *)(void *)here;
}

/* Lays the scratch out; its size in bytes. */
static size_t lay_out(struct ssim *s, char *scratch, unsigned n_threads)
{
    size_t n = s->row * s->height, at = s->height * sizeof(double);

    s->row_sums = (double *)(void *)scratch;
    for (int k = 0; k < SSIM_SUMS; k++)
        s->sums[k] = part(scratch, &at, n);
    for (int k = 0; k < SSIM_DERIVATIVES; k++)
        s->by[k] = part(scratch, &at, n);
    s->scratch_row = part(scratch, &at, n_threads * SSIM_SUMS * s->row);
    return at;
}

int seep_splat_ssim_cpu(const float *image, const float *target, int width, int height,
                        float weight, float *image_grad, double *ssim, void *scratch,
                        size_t *scratch_bytes, struct seep_stream *stream)
{
    struct ssim s = {.image = image,
                     .target = target,
                     .grad = image_grad,
                     .weight = weight,
                     .window = ssim_window_of_paper()};

    s.row = (size_t)width * SSIM_CHANNELS;
    s.height = (size_t)height;
    size_t needed = lay_out(&s, scratch, seep_stream_threads(stream));
    if (!scratch) {
        *scratch_bytes = needed;
        return 0;
    }
    if (*scratch_bytes < needed)
        return -SEEP_EINVAL;
    seep_stream_run(stream, sum_rows, &s);
    seep_stream_run(stream, compare_all, &s);
    *ssim = 0;
    for (size_t y = 0; y < s.height; y++)
        *ssim += s.row_sums[y];
    *ssim /= (double)(s.row * s.height);
    if (image_grad) {
        seep_stream_run(stream, derive_rows, &s);
        seep_stream_run(stream, add_gradient, &s);
    }
    return 0;
}
