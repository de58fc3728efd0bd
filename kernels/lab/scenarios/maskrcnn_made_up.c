/* Made-up pictures of blobs, their annotations and masks. */
#include "kernels/compute/chance.h"
#include "kernels/lab/lab.h"
#include "kernels/lab/scenarios/maskrcnn_dataset.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 640,
    HEIGHT = 480,
    MIN_IMAGES = 32,
    CORNERS = 16,
    JPEG_QUALITY = 85,
    CATEGORIES = 90,
};

/* Instances of an image: COCO's train2017 has 860,001 in 117,266 images. */
static const double instances_an_image = 7.3;

/* ---- annotations ----------------------------------------------------------------------------- */

/* A star-shaped blob: what is drawn, and its box and area. */
static int draw_annotation(struct seep_coco_annotation *a, struct seep_chance *chance)
{
    double size = 20 + 100 * seep_chance_uniform(chance), x = WIDTH * seep_chance_uniform(chance);
    double y = HEIGHT * seep_chance_uniform(chance), low[2] = {WIDTH, HEIGHT}, high[2] = {0, 0};

    a->category_id = 1 + (uint64_t)(CATEGORIES * seep_chance_uniform(chance));
    a->n_rings = 1;
    a->ring_starts = calloc(2, sizeof *a->ring_starts);
    a->xy = calloc(CORNERS, sizeof *a->xy);
    if (!a->ring_starts || !a->xy)
        return -SEEP_ENOMEM;
    a->ring_starts[1] = CORNERS;
    for (int i = 0; i < CORNERS; i++) {
        double turn = 2 * M_PI * i / CORNERS,
               radius = size * (0.6 + 0.4 * seep_chance_uniform(chance));
        a->xy[i][0] = fmin(fmax(x + radius * cos(turn), 0), WIDTH);
        a->xy[i][1] = fmin(fmax(y + radius * sin(turn), 0), HEIGHT);
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], a->xy[i][k]);
            high[k] = fmax(high[k], a->xy[i][k]);
        }
    }
    for (int i = 0; i < CORNERS; i++) {
        const double *p = a->xy[i], *q = a->xy[(i + 1) % CORNERS];
        a->area += 0.5 * (p[0] * q[1] - q[0] * p[1]);
    }
    a->area = fabs(a->area);
    memcpy(a->bbox, (double[]){low[0], low[1], high[0] - low[0], high[1] - low[1]}, sizeof a->bbox);
    return 0;
}

/* Shares of the whole number that differ from image to image, and add up to it exactly. */
static void share_out(struct seep_coco *coco, struct seep_chance *chance)
{
    double sum = 0, at = 0;
    double *weights = malloc(coco->n_images * sizeof *weights);
    size_t k = 0;

    for (size_t i = 0; i < coco->n_images && weights; i++)
        sum += weights[i] = 0.3 + 1.4 * seep_chance_uniform(chance);
    for (size_t i = 0; i < coco->n_images && weights; i++) {
        at += weights[i];
        size_t end = i + 1 == coco->n_images ? coco->n_annotations
                                             : (size_t)((double)coco->n_annotations * at / sum);
        for (; k < end; k++)
            coco->annotations[k].image_id = coco->images[i].id;
    }
    for (; k < coco->n_annotations; k++) /* without memory for weights */
        coco->annotations[k].image_id = coco->images[k % coco->n_images].id;
    free(weights);
}

static int make_coco(size_t n, uint64_t seed, struct seep_coco **out)
{
    struct seep_chance chance = seep_chance_of(seed, 0);
    struct seep_coco *coco = calloc(1, sizeof *coco);
    int rc = 0;

    *out = coco;
    if (!coco)
        return -SEEP_ENOMEM;
    coco->images = calloc(n, sizeof *coco->images);
    coco->annotations =
        calloc((size_t)(instances_an_image * (double)n) + 1, sizeof *coco->annotations);
    if (!coco->images || !coco->annotations)
        return -SEEP_ENOMEM;
    for (; coco->n_images < n && !rc; coco->n_images++) {
        struct seep_coco_image *image = &coco->images[coco->n_images];
        *image =
            (struct seep_coco_image){.id = coco->n_images + 1, .width = WIDTH, .height = HEIGHT};
        if (asprintf(&image->file, "%012" PRIu64 ".jpg", image->id) < 0) {
            image->file = NULL;
            rc = -SEEP_ENOMEM;
        }
    }
    size_t n_annotations = (size_t)lround(instances_an_image * (double)n);
    while (coco->n_annotations < n_annotations && !rc) {
        struct seep_coco_annotation *a = &coco->annotations[coco->n_annotations++];
        a->id = coco->n_annotations;
        rc = draw_annotation(a, &chance);
    }
    if (!rc)
        share_out(coco, &chance);
    return rc;
}

/* ---- pictures -------------------------------------------------------------------------------- */

static int write_mask(const char *folder, const struct seep_coco_annotation *a, uint8_t *pixels,
                      struct seep_error *err)
{
    struct seep_image image = {WIDTH, HEIGHT, 1, pixels};
    char path[PATH_MAX];
    int rc = seep_coco_mask(a, WIDTH, HEIGHT, pixels);

    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT && !rc; i++)
        pixels[i] = pixels[i] ? 255 : 0;
    if ((size_t)snprintf(path, sizeof path, "%s/masks/%" PRIu64 ".png", folder, a->id) >=
        sizeof path)
        return seep_error_set(err, SEEP_EIO, folder, 0, "the path is too long");
    return rc ? rc : seep_image_write_png(path, &image, err);
}

static int write_picture(const char *folder, const struct seep_coco_image *of, uint8_t *pixels,
                         struct seep_error *err)
{
    struct seep_image image = {WIDTH, HEIGHT, 3, pixels};
    char path[PATH_MAX];

    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT * 3; i++)
        pixels[i] = (uint8_t)(of->id * 37 + i / WIDTH / 8 + i % 3 * 60);
    if ((size_t)snprintf(path, sizeof path, "%s/images/%s", folder, of->file) >= sizeof path)
        return seep_error_set(err, SEEP_EIO, folder, 0, "the path is too long");
    return seep_image_write_jpeg(path, &image, JPEG_QUALITY, err);
}

static int make_folders(const char *folder, struct seep_error *err)
{
    static const char *const names[] = {"images", "masks"};
    char path[PATH_MAX];
    int rc = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names && !rc; i++) {
        if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, names[i]) >= sizeof path)
            return seep_error_set(err, SEEP_EIO, folder, 0, "the path is too long");
        rc = seep_lab_make_folder(path, err);
    }
    return rc;
}

int seep_maskrcnn_make_data(const char *folder, double scale, uint64_t seed, struct seep_error *err)
{
    size_t n = (size_t)fmax(MIN_IMAGES, round(SEEP_MASKRCNN_IMAGES * fmin(scale, 1)));
    uint8_t *pixels = malloc((size_t)WIDTH * HEIGHT * 3);
    struct seep_coco *coco = NULL;
    char path[PATH_MAX];
    int rc = pixels ? make_coco(n, seed, &coco) : -SEEP_ENOMEM;

    if (!rc)
        rc = make_folders(folder, err);
    for (size_t i = 0; !rc && i < coco->n_images; i++)
        rc = write_picture(folder, &coco->images[i], pixels, err);
    for (size_t i = 0; !rc && i < coco->n_annotations; i++)
        rc = write_mask(folder, &coco->annotations[i], pixels, err);
    if (!rc && (size_t)snprintf(path, sizeof path, "%s/annotations.json", folder) >= sizeof path)
        rc = seep_error_set(err, SEEP_EIO, folder, 0, "the path is too long");
    if (!rc)
        rc = seep_coco_write(path, coco, false, err);
    seep_coco_free(coco);
    free(pixels);
    return rc;
}
