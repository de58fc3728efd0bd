/* Structural similarity against plain loops in double precision, its gradient against differences.
 */
#include "kernels/splat/splat_ssim.h"
#include "tests/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* By the definition: the window of each pixel, values beyond the edge are 0. */
static double plain_ssim(const float *a, const float *b, int width, int height)
{
    double total = 0, norm = 0;

    for (int v = -5; v <= 5; v++)
        for (int u = -5; u <= 5; u++)
            norm += exp(-(u * u + v * v) / 4.5);
    for (int i = 0; i < width * height * 3; i++) {
        int channel = i % 3, x = i / 3 % width, y = i / 3 / width;
        double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
        for (int v = -5; v <= 5; v++) {
            for (int u = -5; u <= 5; u++) {
                if (x + u < 0 || x + u >= width || y + v < 0 || y + v >= height)
                    continue;
                double w = exp(-(u * u + v * v) / 4.5) / norm;
                double p = (double)a[((y + v) * width + x + u) * 3 + channel];
                double q = (double)b[((y + v) * width + x + u) * 3 + channel];
                mx += w * p;
                my += w * q;
                xx += w * p * p;
                yy += w * q * q;
                xy += w * p * q;
            }
        }
        total += (2 * mx * my + 1e-4) * (2 * (xy - mx * my) + 9e-4) /
                 ((mx * mx + my * my + 1e-4) * (xx - mx * mx + yy - my * my + 9e-4));
    }
    return total / (width * height * 3);
}

static float random_value(void)
{
    return (float)rand() / (float)RAND_MAX;
}

static double ssim_of(const float *a, const float *b, int width, int height, float weight,
                      float *grad, unsigned n_threads)
{
    struct seep_stream *stream;
    size_t bytes = 0;
    double ssim;

    ck_assert_int_eq(seep_stream_create_cpu(n_threads, &stream), 0);
    ck_assert_int_eq(
        seep_splat_ssim(a, b, width, height, weight, grad, &ssim, NULL, &bytes, stream), 0);
    /* To the byte, and holding nothing that would be an answer. */
    void *scratch = malloc(bytes);
    memset(scratch, 0xff, bytes);
    ck_assert_int_eq(
        seep_splat_ssim(a, b, width, height, weight, grad, &ssim, scratch, &bytes, stream), 0);
    bytes--;
    double none;
    ck_assert_int_eq(
        seep_splat_ssim(a, b, width, height, weight, grad, &none, scratch, &bytes, stream),
        -SEEP_EINVAL);
    free(scratch);
    seep_stream_destroy(stream);
    return ssim;
}

/* Smaller than the window, of its size, larger. */
static const int sizes[][2] = {{1, 1}, {3, 17}, {11, 11}, {24, 4}, {21, 30}};

static void draw(float *a, float *b, int n)
{
    for (int i = 0; i < n; i++) {
        a[i] = random_value();
        b[i] = 0.7f * a[i] + 0.3f * random_value();
    }
}

TEST(it_is_that_of_plain_loops, .to = N(sizes))
{
    int width = sizes[_i][0], height = sizes[_i][1], n = width * height * 3;
    float *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b);

    srand(7);
    draw(a, b, n);
    double want = plain_ssim(a, b, width, height);
    double one = ssim_of(a, b, width, height, 0, NULL, 1);
    ck_assert_double_eq_tol(one, want, 1e-5);
    ck_assert_double_eq(ssim_of(a, b, width, height, 0, NULL, 5), one);
    ck_assert_double_eq_tol(ssim_of(a, a, width, height, 0, NULL, 2), 1, 1e-5);
    free(a);
    free(b);
}

TEST(its_gradient_is_that_of_differences_and_joins_the_other_losss, .to = N(sizes))
{
    int width = sizes[_i][0], height = sizes[_i][1], n = width * height * 3;
    float *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b);
    float *grad = malloc((size_t)n * sizeof *grad);
    const double step = 1e-3;
    const float weight = 0.2f;

    srand(8);
    draw(a, b, n);
    for (int i = 0; i < n; i++)
        grad[i] = 1e-3f * (float)(i % 7);
    (void)ssim_of(a, b, width, height, weight, grad, 3);
    for (int i = 0; i < n; i += 1 + n / 40) {
        float value = a[i];
        a[i] = value + (float)step;
        double more = plain_ssim(a, b, width, height), up = (double)a[i];
        a[i] = value - (float)step;
        double less = plain_ssim(a, b, width, height);
        double slope = (more - less) / (up - (double)a[i]);
        a[i] = value;
        double want = 0.8 * 1e-3 * (i % 7) - 0.2 * slope;
        ck_assert_double_eq_tol((double)grad[i], want, 0.002 * fabs(slope) + 2e-4 / n);
    }
    free(a);
    free(b);
    free(grad);
}

TEST(no_picture_is_refused)
{
    struct seep_stream *stream;
    size_t bytes = 0;
    double ssim;

    ck_assert_int_eq(seep_stream_create_cpu(1, &stream), 0);
    ck_assert_int_eq(seep_splat_ssim(NULL, NULL, 0, 5, 0, NULL, &ssim, NULL, &bytes, stream),
                     -SEEP_EINVAL);
    ck_assert_int_eq(seep_splat_ssim(NULL, NULL, 5, 16385, 0, NULL, &ssim, NULL, &bytes, stream),
                     -SEEP_EINVAL);
    seep_stream_destroy(stream);
}

SUITE("splat ssim")
