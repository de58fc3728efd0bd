#include "kernels/formats/colmap_parts.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* The least bytes of a record: one without parameters to speak of, name, 2D points or track. */
enum {
    MIN_CAMERA = 4 + 4 + 8 + 8 + 3 * 8,
    MIN_IMAGE = 4 + 7 * 8 + 4 + 1 + 8,
    MIN_POINT = 8 + 3 * 8 + 3 + 8 + 8,
    POINT2D = 8 + 8 + 8,
    TRACK_ITEM = 4 + 4,
};

/* A count of things of at least `least` bytes each. */
static int take_count(struct seep_colmap_source *source, size_t least, size_t *count)
{
    uint64_t n = seep_bytes_u64(&source->bytes);

    if (source->bytes.short_)
        return seep_colmap_error(source, SEEP_EFORMAT, "the file ends early");
    if (n > seep_bytes_left(&source->bytes) / least)
        return seep_colmap_error(source, SEEP_EFORMAT, "a count is larger than the file");
    *count = (size_t)n;
    return 0;
}

/* calloc() for what take_count() found; no things take no memory. */
static int allocate(struct seep_colmap_source *source, size_t n, size_t size, void *out)
{
    void *memory = n ? calloc(n, size) : NULL;

    if (n && !memory)
        return seep_colmap_error(source, SEEP_ENOMEM, "no memory");
    memcpy(out, &memory, sizeof memory);
    return 0;
}

static int parse_camera(struct seep_colmap_source *source, struct seep_colmap_camera *camera)
{
    struct seep_bytes *b = &source->bytes;

    camera->id = seep_bytes_u32(b);
    camera->model = (int32_t)seep_bytes_u32(b);
    camera->width = seep_bytes_u64(b);
    camera->height = seep_bytes_u64(b);
    camera->n_params = seep_colmap_model_params(camera->model);
    /* How long the record is depends on the model: nothing can be read on. */
    if (!camera->n_params)
        return seep_colmap_error(source, SEEP_EFORMAT, "a camera has an unknown model");
    for (unsigned i = 0; i < camera->n_params; i++)
        camera->params[i] = seep_bytes_f64(b);
    return 0;
}

static int parse_name(struct seep_colmap_source *source, char **name)
{
    struct seep_bytes *b = &source->bytes;
    size_t left = seep_bytes_left(b);
    const uint8_t *end = left ? memchr(b->at, 0, left) : NULL;

    if (!end)
        return seep_colmap_error(source, SEEP_EFORMAT, "an image's name is not terminated");
    *name = strdup((const char *)b->at);
    if (!*name)
        return seep_colmap_error(source, SEEP_ENOMEM, "no memory");
    b->at = end + 1;
    return 0;
}

static int parse_image(struct seep_colmap_source *source, struct seep_colmap_image *image)
{
    struct seep_bytes *b = &source->bytes;
    int rc;

    image->id = seep_bytes_u32(b);
    for (unsigned i = 0; i < 4; i++)
        image->rotation[i] = seep_bytes_f64(b);
    for (unsigned i = 0; i < 3; i++)
        image->translation[i] = seep_bytes_f64(b);
    image->camera_id = seep_bytes_u32(b);
    rc = parse_name(source, &image->name);
    if (!rc)
        rc = take_count(source, POINT2D, &image->n_points2d);
    if (!rc)
        rc = allocate(source, image->n_points2d, sizeof *image->xy, &image->xy);
    if (!rc)
        rc = allocate(source, image->n_points2d, sizeof *image->point3d_ids, &image->point3d_ids);
    for (size_t i = 0; i < image->n_points2d && !rc; i++) {
        image->xy[i][0] = seep_bytes_f64(b);
        image->xy[i][1] = seep_bytes_f64(b);
        image->point3d_ids[i] = (int64_t)seep_bytes_u64(b);
    }
    return rc;
}

static int parse_point(struct seep_colmap_source *source, struct seep_colmap_point *point)
{
    struct seep_bytes *b = &source->bytes;

    point->id = seep_bytes_u64(b);
    for (unsigned i = 0; i < 3; i++)
        point->xyz[i] = seep_bytes_f64(b);
    for (unsigned i = 0; i < 3; i++)
        point->rgb[i] = seep_bytes_u8(b);
    point->error = seep_bytes_f64(b);
    int rc = take_count(source, TRACK_ITEM, &point->n_track);
    if (!rc)
        rc = allocate(source, point->n_track, sizeof *point->track, &point->track);
    for (size_t i = 0; i < point->n_track && !rc; i++) {
        point->track[i][0] = seep_bytes_u32(b);
        point->track[i][1] = seep_bytes_u32(b);
    }
    return rc;
}

static int parse_records(struct seep_colmap_source *source, enum seep_colmap_part part,
                         struct seep_colmap *model)
{
    static const size_t least[] = {MIN_CAMERA, MIN_IMAGE, MIN_POINT};
    size_t n = 0;
    int rc = take_count(source, least[part], &n);

    if (rc)
        return rc;
    if (part == SEEP_COLMAP_CAMERAS) {
        rc = allocate(source, n, sizeof *model->cameras, &model->cameras);
        for (; model->n_cameras < n && !rc; model->n_cameras++)
            rc = parse_camera(source, &model->cameras[model->n_cameras]);
    } else if (part == SEEP_COLMAP_IMAGES) {
        rc = allocate(source, n, sizeof *model->images, &model->images);
        for (; model->n_images < n && !rc; model->n_images++)
            rc = parse_image(source, &model->images[model->n_images]);
    } else {
        rc = allocate(source, n, sizeof *model->points, &model->points);
        for (; model->n_points < n && !rc; model->n_points++)
            rc = parse_point(source, &model->points[model->n_points]);
    }
    return rc;
}

int seep_colmap_parse_binary(struct seep_colmap_source *source, enum seep_colmap_part part,
                             struct seep_colmap *model)
{
    int rc = parse_records(source, part, model);

    if (rc)
        return rc;
    if (source->bytes.short_)
        return seep_colmap_error(source, SEEP_EFORMAT, "the last record is cut off");
    if (seep_bytes_left(&source->bytes))
        return seep_colmap_error(source, SEEP_EFORMAT, "there are bytes after the last record");
    return 0;
}

static void put_u32(FILE *out, uint32_t value)
{
    value = htole32(value);
    fwrite_unlocked(&value, sizeof value, 1, out);
}

static void put_u64(FILE *out, uint64_t value)
{
    value = htole64(value);
    fwrite_unlocked(&value, sizeof value, 1, out);
}

static void put_f64(FILE *out, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        put_u64(out, bits);
    }
}

static void print_camera(FILE *out, const struct seep_colmap_camera *camera)
{
    put_u32(out, camera->id);
    put_u32(out, (uint32_t)camera->model);
    put_u64(out, camera->width);
    put_u64(out, camera->height);
    put_f64(out, camera->params, camera->n_params);
}

static void print_image(FILE *out, const struct seep_colmap_image *image)
{
    put_u32(out, image->id);
    put_f64(out, image->rotation, 4);
    put_f64(out, image->translation, 3);
    put_u32(out, image->camera_id);
    fwrite_unlocked(image->name, strlen(image->name) + 1, 1, out);
    put_u64(out, image->n_points2d);
    for (size_t i = 0; i < image->n_points2d; i++) {
        put_f64(out, image->xy[i], 2);
        put_u64(out, (uint64_t)image->point3d_ids[i]);
    }
}

static void print_point(FILE *out, const struct seep_colmap_point *point)
{
    put_u64(out, point->id);
    put_f64(out, point->xyz, 3);
    fwrite_unlocked(point->rgb, 3, 1, out);
    put_f64(out, &point->error, 1);
    put_u64(out, point->n_track);
    for (size_t i = 0; i < point->n_track; i++) {
        put_u32(out, point->track[i][0]);
        put_u32(out, point->track[i][1]);
    }
}

void seep_colmap_print_binary(FILE *out, enum seep_colmap_part part,
                              const struct seep_colmap *model)
{
    const size_t counts[] = {model->n_cameras, model->n_images, model->n_points};

    put_u64(out, counts[part]);
    for (size_t i = 0; i < counts[part]; i++) {
        if (part == SEEP_COLMAP_CAMERAS)
            print_camera(out, &model->cameras[i]);
        else if (part == SEEP_COLMAP_IMAGES)
            print_image(out, &model->images[i]);
        else
            print_point(out, &model->points[i]);
    }
}
