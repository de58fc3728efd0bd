#include "kernels/formats/colmap_parts.h"
#include "kernels/formats/growing.h"
#include "kernels/formats/text_fields.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Fields of one line; the first that is missing or wrong makes all later ones 0. */
struct row {
    struct seep_bytes line;
    bool bad;
};

static bool next(struct row *row, struct seep_field *field)
{
    if (!row->bad && seep_text_field(&row->line, field))
        return true;
    row->bad = true;
    return false;
}

/* The line goes back to the field, for the error's offset. */
static void refuse(struct row *row, const struct seep_field *field)
{
    row->line.at = (const uint8_t *)field->at;
    row->bad = true;
}

static double take_f64(struct row *row)
{
    struct seep_field field;
    double value = 0;

    if (next(row, &field) && !seep_field_f64(&field, &value))
        refuse(row, &field);
    return value;
}

static uint64_t take_u64(struct row *row, uint64_t most)
{
    struct seep_field field;
    uint64_t value = 0;

    if (next(row, &field) && (!seep_field_u64(&field, &value) || value > most)) {
        refuse(row, &field);
        return 0;
    }
    return value;
}

static int64_t take_i64(struct row *row)
{
    struct seep_field field;
    int64_t value = 0;

    if (next(row, &field) && !seep_field_i64(&field, &value))
        refuse(row, &field);
    return value;
}

static size_t count_fields(struct seep_bytes line)
{
    struct seep_field field;
    size_t n = 0;

    while (seep_text_field(&line, &field))
        n++;
    return n;
}

static int row_error(struct seep_colmap_source *source, const struct row *row, const char *text)
{
    source->bytes.at = row->line.at;
    return seep_colmap_error(source, SEEP_EFORMAT, text);
}

static int parse_camera(struct seep_colmap_source *source, struct row *row,
                        struct seep_colmap *model)
{
    struct seep_colmap_camera *camera =
        seep_array_append(&model->cameras, model->n_cameras, sizeof *camera);
    struct seep_field name = {"", 0};

    if (!camera)
        return seep_colmap_error(source, SEEP_ENOMEM, "no memory");
    model->n_cameras++;
    camera->id = (uint32_t)take_u64(row, UINT32_MAX);
    next(row, &name);
    while (seep_colmap_model_name(camera->model) &&
           !seep_field_is(&name, seep_colmap_model_name(camera->model)))
        camera->model++;
    camera->n_params = seep_colmap_model_params(camera->model);
    if (row->bad || !camera->n_params)
        return row_error(source, row, "a camera has an unknown model");
    camera->width = take_u64(row, UINT64_MAX);
    camera->height = take_u64(row, UINT64_MAX);
    for (unsigned i = 0; i < camera->n_params; i++)
        camera->params[i] = take_f64(row);
    if (row->bad || count_fields(row->line))
        return row_error(source, row, "a line is not \"ID MODEL WIDTH HEIGHT PARAMETERS\"");
    return 0;
}

/* The rest of the line without the white space around it: names may hold spaces. */
static int take_name(struct seep_colmap_source *source, struct row *row, char **name)
{
    struct seep_field first;

    if (!next(row, &first))
        return row_error(source, row, "an image has no name");
    const char *end = (const char *)row->line.end;
    while (end > first.at && strchr(" \t\r", end[-1]) && end[-1])
        end--;
    size_t n = (size_t)(end - first.at);
    if (memchr(first.at, 0, n))
        return row_error(source, row, "an image's name holds a zero byte");
    *name = strndup(first.at, n);
    return *name ? 0 : seep_colmap_error(source, SEEP_ENOMEM, "no memory");
}

/* The line behind an image's: X Y POINT3D_ID for each of its points, and empty where it has none.
 */
static int parse_points2d(struct seep_colmap_source *source, struct seep_colmap_image *image)
{
    struct row row = {.bad = false};

    seep_text_line(&source->bytes, &row.line);
    size_t n = count_fields(row.line);
    if (n % 3)
        return row_error(source, &row, "2D points are not \"X Y POINT3D_ID\"");
    n /= 3;
    if (!n)
        return 0;
    image->xy = calloc(n, sizeof *image->xy);
    image->point3d_ids = calloc(n, sizeof *image->point3d_ids);
    if (!image->xy || !image->point3d_ids)
        return seep_colmap_error(source, SEEP_ENOMEM, "no memory");
    image->n_points2d = n;
    for (size_t i = 0; i < n && !row.bad; i++) {
        image->xy[i][0] = take_f64(&row);
        image->xy[i][1] = take_f64(&row);
        image->point3d_ids[i] = take_i64(&row);
    }
    return row.bad ? row_error(source, &row, "2D points are not \"X Y POINT3D_ID\"") : 0;
}

static int parse_image(struct seep_colmap_source *source, struct row *row,
                       struct seep_colmap *model)
{
    struct seep_colmap_image *image =
        seep_array_append(&model->images, model->n_images, sizeof *image);

    if (!image)
        return seep_colmap_error(source, SEEP_ENOMEM, "no memory");
    model->n_images++;
    image->id = (uint32_t)take_u64(row, UINT32_MAX);
    for (unsigned i = 0; i < 4; i++)
        image->rotation[i] = take_f64(row);
    for (unsigned i = 0; i < 3; i++)
        image->translation[i] = take_f64(row);
    image->camera_id = (uint32_t)take_u64(row, UINT32_MAX);
    if (row->bad)
        return row_error(source, row, "a line is not \"ID QW QX QY QZ TX TY TZ CAMERA NAME\"");
    int rc = take_name(source, row, &image->name);
    return rc ? rc : parse_points2d(source, image);
}

static int parse_point(struct seep_colmap_source *source, struct row *row,
                       struct seep_colmap *model)
{
    struct seep_colmap_point *point =
        seep_array_append(&model->points, model->n_points, sizeof *point);

    if (!point)
        return seep_colmap_error(source, SEEP_ENOMEM, "no memory");
    model->n_points++;
    point->id = take_u64(row, UINT64_MAX);
    for (unsigned i = 0; i < 3; i++)
        point->xyz[i] = take_f64(row);
    for (unsigned i = 0; i < 3; i++)
        point->rgb[i] = (uint8_t)take_u64(row, UINT8_MAX);
    point->error = take_f64(row);
    size_t n = count_fields(row->line);
    if (row->bad || n % 2)
        return row_error(source, row, "a line is not \"ID X Y Z R G B ERROR TRACK\"");
    if (!n)
        return 0;
    point->track = calloc(n / 2, sizeof *point->track);
    if (!point->track)
        return seep_colmap_error(source, SEEP_ENOMEM, "no memory");
    point->n_track = n / 2;
    for (size_t i = 0; i < point->n_track; i++) {
        point->track[i][0] = (uint32_t)take_u64(row, UINT32_MAX);
        point->track[i][1] = (uint32_t)take_u64(row, UINT32_MAX);
    }
    return row->bad ? row_error(source, row, "a track is not \"IMAGE INDEX\"") : 0;
}

int seep_colmap_parse_text(struct seep_colmap_source *source, enum seep_colmap_part part,
                           struct seep_colmap *model)
{
    struct row row = {.bad = false};
    int rc = 0;

    while (!rc && seep_text_line(&source->bytes, &row.line)) {
        struct seep_bytes peek = row.line;
        struct seep_field first;
        if (!seep_text_field(&peek, &first) || *first.at == '#')
            continue;
        if (part == SEEP_COLMAP_CAMERAS)
            rc = parse_camera(source, &row, model);
        else if (part == SEEP_COLMAP_IMAGES)
            rc = parse_image(source, &row, model);
        else
            rc = parse_point(source, &row, model);
    }
    return rc;
}

static void print_values(FILE *out, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        putc_unlocked(' ', out);
        seep_text_print(out, values[i], 17);
    }
}

static void print_image(FILE *out, const struct seep_colmap_image *image)
{
    fprintf(out, "%" PRIu32, image->id);
    print_values(out, image->rotation, 4);
    print_values(out, image->translation, 3);
    fprintf(out, " %" PRIu32 " %s\n", image->camera_id, image->name);
    for (size_t i = 0; i < image->n_points2d; i++) {
        seep_text_print(out, image->xy[i][0], 17);
        print_values(out, &image->xy[i][1], 1);
        fprintf(out, i + 1 < image->n_points2d ? " %" PRId64 " " : " %" PRId64,
                image->point3d_ids[i]);
    }
    putc_unlocked('\n', out);
}

static void print_point(FILE *out, const struct seep_colmap_point *point)
{
    fprintf(out, "%" PRIu64, point->id);
    print_values(out, point->xyz, 3);
    fprintf(out, " %u %u %u", point->rgb[0], point->rgb[1], point->rgb[2]);
    print_values(out, &point->error, 1);
    for (size_t i = 0; i < point->n_track; i++)
        fprintf(out, " %" PRIu32 " %" PRIu32, point->track[i][0], point->track[i][1]);
    putc_unlocked('\n', out);
}

void seep_colmap_print_text(FILE *out, enum seep_colmap_part part, const struct seep_colmap *model)
{
    if (part == SEEP_COLMAP_CAMERAS) {
        fputs("# CAMERA_ID, MODEL, WIDTH, HEIGHT, PARAMS[]\n", out);
        for (size_t i = 0; i < model->n_cameras; i++) {
            const struct seep_colmap_camera *camera = &model->cameras[i];
            fprintf(out, "%" PRIu32 " %s %" PRIu64 " %" PRIu64, camera->id,
                    seep_colmap_model_name(camera->model), camera->width, camera->height);
            print_values(out, camera->params, camera->n_params);
            putc_unlocked('\n', out);
        }
    } else if (part == SEEP_COLMAP_IMAGES) {
        fputs("# IMAGE_ID, QW, QX, QY, QZ, TX, TY, TZ, CAMERA_ID, NAME\n"
              "# POINTS2D[] as (X, Y, POINT3D_ID)\n",
              out);
        for (size_t i = 0; i < model->n_images; i++)
            print_image(out, &model->images[i]);
    } else {
        fputs("# POINT3D_ID, X, Y, Z, R, G, B, ERROR, TRACK[] as (IMAGE_ID, POINT2D_IDX)\n", out);
        for (size_t i = 0; i < model->n_points; i++)
            print_point(out, &model->points[i]);
    }
}
