/* How good the Gaussians are, in numbers and in pictures. */
#include "kernels/formats/image.h"
#include "kernels/lab/scenarios/splat_pass.h"
#include "kernels/lab/scenarios/splat_training.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVALUATED = 8, SHOWN = 2 };

static uint8_t to_byte(float value)
{
    /* A NaN is black. */
    return value > 0 ? (uint8_t)(fminf(value, 1) * 255 + 0.5f) : 0;
}

/* Rendered left, true right. */
static int write_picture(const char *path, const struct seep_splat_pass *pass, const uint8_t *truth,
                         struct seep_error *err)
{
    size_t width = (size_t)pass->camera.width, height = (size_t)pass->camera.height;
    float *image = malloc(width * height * 3 * sizeof *image);
    uint8_t *both = malloc(2 * width * height * 3);
    int rc = image && both ? 0 : -SEEP_ENOMEM;

    if (!rc)
        rc = seep_stream_download(pass->stream, image, pass->picture.image,
                                  width * height * 3 * sizeof *image);
    for (size_t y = 0; y < height && !rc; y++) {
        uint8_t *row = both + 6 * width * y;
        for (size_t i = 0; i < 3 * width; i++)
            row[i] = to_byte(image[3 * width * y + i]);
        memcpy(row + 3 * width, truth + 3 * width * y, 3 * width);
    }
    if (!rc) {
        const struct seep_image picture = {(uint32_t)(2 * width), (uint32_t)height, 3, both};
        rc = seep_image_write_png(path, &picture, err);
    }
    free(image);
    free(both);
    return rc;
}

static int evaluate_view(const struct seep_view *view, const struct seep_splat_model *model,
                         struct seep_stream *stream, const char *picture,
                         struct seep_splat_loss *loss, double *ssim, struct seep_error *err)
{
    size_t n = (size_t)view->camera.width * (size_t)view->camera.height * 3;
    struct seep_splat_pass pass = {0};
    void *target = NULL;
    uint8_t *bytes;
    int rc = seep_photo_read(view, &bytes, err);

    if (!rc)
        rc = seep_stream_alloc(stream, n * sizeof(float), &target);
    if (!rc)
        rc = seep_photo_upload(stream, bytes, n, target);
    if (!rc)
        rc = seep_splat_pass_forward(&view->camera, model, stream, &pass);
    if (!rc)
        rc = seep_splat_pass_loss(&pass, target, false, loss);
    if (!rc && picture)
        rc = write_picture(picture, &pass, bytes, err);
    *ssim = pass.ssim;
    seep_splat_pass_fini(&pass);
    seep_stream_free(stream, target);
    free(bytes);
    return rc ? seep_error_set(err, -rc, view->photo, 0, "%s", seep_error_name(rc)) : 0;
}

int seep_splat_evaluate(const struct seep_views *views, const struct seep_gaussians *g,
                        int sh_degree, const char *pictures, unsigned step,
                        struct seep_splat_loss *mean, double *ssim, struct seep_error *err)
{
    const struct seep_splat_model model = seep_gaussians_model(g, sh_degree);
    size_t n = views->n < EVALUATED ? views->n : EVALUATED;
    char path[PATH_MAX];

    *mean = (struct seep_splat_loss){0};
    *ssim = 0;
    for (size_t i = 0; i < n; i++) {
        size_t which = i * views->n / n;
        struct seep_splat_loss loss;
        double alike;
        bool shown = pictures && i < SHOWN;
        if (shown && snprintf(path, sizeof path, "%s/view-%zu-step-%05u.png", pictures, which,
                              step) >= (int)sizeof path)
            return seep_error_set(err, SEEP_EINVAL, "", 0, "the folder's name is too long");
        int rc = evaluate_view(&views->list[which], &model, g->stream, shown ? path : NULL, &loss,
                               &alike, err);
        if (rc)
            return rc;
        mean->l1 += loss.l1 / (double)n;
        *ssim += alike / (double)n;
        mean->mse += loss.mse / (double)n;
        mean->psnr_db += loss.psnr_db / (double)n;
    }
    return 0;
}
