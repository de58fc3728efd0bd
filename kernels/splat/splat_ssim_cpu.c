/* Five sums over the window (of x, y, x², y² and xy), by rows, then by columns. Where they meet,
 * SSIM's derivatives by three of them replace them, and go the same way back: the window is
 * symmetric, so its transpose is itself. */
#include "kernels/splat/splat_ssim.h"

#include <math.h>
#include <string.h>

enum { REACH = 5, TAPS = 2 * REACH + 1, CHANNELS = 3, SUMS = 5, DERIVATIVES = 3, MOST = 16384 };
enum { X, Y, XX, YY, XY };
enum { BY_X, BY_XX, BY_XY };

static const double sigma = 1.5;
static const float c1 = 0.01f * 0.01f, c2 = 0.03f * 0.03f;

struct ssim {
    const float *image, *target;
    float *grad;
    float weight, window[TAPS];
    size_t row, height;     /* values in a row; rows */
    float *sums[SUMS];      /* [height][row] by rows alone; derivatives by rows later */
    float *by[DERIVATIVES]; /* [height][row] */
    float *scratch_row;     /* [n_threads][SUMS][row] */
    double *row_sums;       /* [height] */
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
    for (int k = -REACH; k <= REACH; k++) {
        size_t away = (size_t)(k < 0 ? -k : k) * CHANNELS;
        float w = s->window[k + REACH];
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
    for (size_t k = y < REACH ? REACH - y : 0; k < TAPS && y + k < s->height + REACH; k++) {
        const float *in = plane + (y + k - REACH) * s->row;
        for (size_t i = 0; i < s->row; i++)
            to[i] += s->window[k] * in[i];
    }
}

static void sum_rows(void *arg, unsigned thread, unsigned n_threads)
{
    const struct ssim *s = arg;
    float *product = s->scratch_row + (size_t)thread * SUMS * s->row;
    size_t y, end;

    for (rows_of(s, thread, n_threads, &y, &end); y < end; y++) {
        size_t at = y * s->row;
        const float *a = s->image + at, *b = s->target + at;
        along_row(s, a, s->sums[X] + at);
        along_row(s, b, s->sums[Y] + at);
        for (int p = XX; p <= XY; p++) {
            const float *first = p == YY ? b : a, *second = p == XX ? a : b;
            for (size_t i = 0; i < s->row; i++)
                product[i] = first[i] * second[i];
            along_row(s, product, s->sums[p] + at);
        }
    }
}

/* SSIM of one value, and its derivatives. */
static float compare(const float sum[SUMS], float by[DERIVATIVES])
{
    float mx = sum[X], my = sum[Y];
    float vx = sum[XX] - mx * mx, vy = sum[YY] - my * my, cov = sum[XY] - mx * my;
    float a1 = 2 * mx * my + c1, a2 = 2 * cov + c2, b1 = mx * mx + my * my + c1, b2 = vx + vy + c2;
    float ssim = a1 * a2 / (b1 * b2);

    by[BY_XX] = -ssim / b2;
    by[BY_XY] = 2 * a1 / (b1 * b2);
    by[BY_X] = 2 * my * a2 / (b1 * b2) - 2 * mx * ssim / b1 - my * by[BY_XY] - 2 * mx * by[BY_XX];
    return ssim;
}

static void compare_all(void *arg, unsigned thread, unsigned n_threads)
{
    const struct ssim *s = arg;
    float *here = s->scratch_row + (size_t)thread * SUMS * s->row;
    size_t y, end;

    for (rows_of(s, thread, n_threads, &y, &end); y < end; y++) {
        double total = 0;
        for (int k = 0; k < SUMS; k++)
            along_columns(s, s->sums[k], y, here + (size_t)k * s->row);
        for (size_t i = 0; i < s->row; i++) {
            float sum[SUMS], by[DERIVATIVES];
            for (int k = 0; k < SUMS; k++)
                sum[k] = here[(size_t)k * s->row + i];
            total += (double)compare(sum, by);
            for (int k = 0; k < DERIVATIVES; k++)
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
        for (int k = 0; k < DERIVATIVES; k++)
            along_row(s, s->by[k] + y * s->row, s->sums[k] + y * s->row);
    }
}

static void add_gradient(void *arg, unsigned thread, unsigned n_threads)
{
    const struct ssim *s = arg;
    const float share = s->weight / (float)(s->row * s->height);
    float *here = s->scratch_row + (size_t)thread * SUMS * s->row;
    size_t y, end;

    for (rows_of(s, thread, n_threads, &y, &end); y < end; y++) {
        size_t at = y * s->row;
        for (int k = 0; k < DERIVATIVES; k++)
            along_columns(s, s->sums[k], y, here + (size_t)k * s->row);
        for (size_t i = 0; i < s->row; i++) {
            float d = here[i] + 2 * s->image[at + i] * here[s->row + i] +
                      s->target[at + i] * here[2 * s->row + i];
            s->grad[at + i] = (1 - s->weight) * s->grad[at + i] - share * d;
        }
    }
}

static void fill_window(struct ssim *s)
{
    double values[TAPS], sum = 0;

    for (int k = 0; k < TAPS; k++) {
        values[k] = exp(-(k - REACH) * (k - REACH) / (2 * sigma * sigma));
        sum += values[k];
    }
    for (int k = 0; k < TAPS; k++)
        s->window[k] = (float)(values[k] / sum);
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
    for (int k = 0; k < SUMS; k++)
        s->sums[k] = part(scratch, &at, n);
    for (int k = 0; k < DERIVATIVES; k++)
        s->by[k] = part(scratch, &at, n);
    s->scratch_row = part(scratch, &at, n_threads * SUMS * s->row);
    return at;
}

int seep_splat_ssim(const float *image, const float *target, int width, int height, float weight,
                    float *image_grad, double *ssim, void *scratch, size_t *scratch_bytes,
                    struct seep_stream *stream)
{
    struct ssim s = {.image = image, .target = target, .grad = image_grad, .weight = weight};

    if (seep_stream_device(stream) != SEEP_DEVICE_CPU || width < 1 || height < 1 || width > MOST ||
        height > MOST)
        return -SEEP_EINVAL;
    s.row = (size_t)width * CHANNELS;
    s.height = (size_t)height;
    size_t needed = lay_out(&s, scratch, seep_stream_threads(stream));
    if (!scratch) {
        *scratch_bytes = needed;
        return 0;
    }
    if (*scratch_bytes < needed)
        return -SEEP_EINVAL;
    fill_window(&s);
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
