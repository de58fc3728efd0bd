/* Structural similarity against plain loops in double precision, its gradient against differences.
 */
#include "kernels/splat/splat_ssim.h"
#include "tests/kernels/splat/raster_fixture.h"
#include "tests/suite.h"

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

static void *on_stream(struct seep_stream *stream, const void *from, size_t bytes)
{
    void *to;

    ck_assert_int_eq(seep_stream_alloc(stream, bytes, &to), 0);
    ck_assert_int_eq(seep_stream_upload(stream, to, from, bytes), 0);
    return to;
}

static double ssim_of(const float *a, const float *b, int width, int height, float weight,
                      float *grad, int kind)
{
    struct seep_stream *stream = make_stream(kind);
    size_t n = (size_t)width * (size_t)height * 3 * sizeof *a, bytes = 0;
    float *there[] = {on_stream(stream, a, n), on_stream(stream, b, n),
                      grad ? on_stream(stream, grad, n) : NULL};
    double ssim, none;

    ck_assert_int_eq(seep_splat_ssim(there[0], there[1], width, height, weight, there[2], &ssim,
                                     NULL, &bytes, stream),
                     0);
    /* To the byte, and holding nothing that would be an answer. */
    void *noise = malloc(bytes);
    memset(noise, 0xff, bytes);
    void *scratch = on_stream(stream, noise, bytes);
    ck_assert_int_eq(seep_splat_ssim(there[0], there[1], width, height, weight, there[2], &ssim,
                                     scratch, &bytes, stream),
                     0);
    bytes--;
    ck_assert_int_eq(seep_splat_ssim(there[0], there[1], width, height, weight, there[2], &none,
                                     scratch, &bytes, stream),
                     -SEEP_EINVAL);
    if (grad)
        ck_assert_int_eq(seep_stream_download(stream, grad, there[2], n), 0);
    for (int k = 0; k < 3; k++)
        seep_stream_free(stream, there[k]);
    seep_stream_free(stream, scratch);
    free(noise);
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
    for (int kind = 0; kind < n_streams(); kind++) {
        double one = ssim_of(a, b, width, height, 0, NULL, kind);
        ck_assert_double_eq_tol(one, want, 1e-5);
        ck_assert_double_eq(ssim_of(a, b, width, height, 0, NULL, kind == CPU_1 ? CPU_3 : kind),
                            one);
        ck_assert_double_eq_tol(ssim_of(a, a, width, height, 0, NULL, kind), 1, 1e-5);
    }
    free(a);
    free(b);
}

static void check_gradient(int width, int height, int kind)
{
    int n = width * height * 3;
    float *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b);
    float *grad = malloc((size_t)n * sizeof *grad);
    const double step = 1e-3;
    const float weight = 0.2f;

    srand(8);
    draw(a, b, n);
    for (int i = 0; i < n; i++)
        grad[i] = 1e-3f * (float)(i % 7);
    (void)ssim_of(a, b, width, height, weight, grad, kind);
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

TEST(its_gradient_is_that_of_differences_and_joins_the_other_losss, .to = N(sizes))
{
    for (int kind = 0; kind < n_streams(); kind++)
        check_gradient(sizes[_i][0], sizes[_i][1], kind);
}

TEST(no_picture_is_refused, .to = n_streams())
{
    struct seep_stream *stream = make_stream(_i);
    size_t bytes = 0;
    double ssim;

    ck_assert_int_eq(seep_splat_ssim(NULL, NULL, 0, 5, 0, NULL, &ssim, NULL, &bytes, stream),
                     -SEEP_EINVAL);
    ck_assert_int_eq(seep_splat_ssim(NULL, NULL, 5, 16385, 0, NULL, &ssim, NULL, &bytes, stream),
                     -SEEP_EINVAL);
    seep_stream_destroy(stream);
}

SUITE("splat ssim")
