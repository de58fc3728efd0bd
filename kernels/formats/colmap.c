#include "kernels/formats/colmap.h"
#include "kernels/formats/colmap_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t max_bytes = UINT64_C(4) << 30;

static const char *const file_names[SEEP_COLMAP_PARTS] = {
    [SEEP_COLMAP_CAMERAS] = "cameras",
    [SEEP_COLMAP_IMAGES] = "images",
    [SEEP_COLMAP_POINTS] = "points3D",
};

int seep_colmap_error(const struct seep_colmap_source *source, int code, const char *text)
{
    return seep_error_set(source->err, code, source->file, seep_bytes_offset(&source->bytes), "%s",
                          text);
}

static int parse(bool text, struct seep_colmap_source sources[SEEP_COLMAP_PARTS],
                 struct seep_colmap **out)
{
    struct seep_colmap *model = calloc(1, sizeof *model);
    int rc = 0;

    if (!model)
        return seep_colmap_error(&sources[0], SEEP_ENOMEM, "no memory");
    for (unsigned i = 0; i < SEEP_COLMAP_PARTS && !rc; i++) {
        rc = text ? seep_colmap_parse_text(&sources[i], i, model)
                  : seep_colmap_parse_binary(&sources[i], i, model);
    }
    if (!rc)
        rc = seep_colmap_check(model,
                               (const char *[]){sources[0].file, sources[1].file, sources[2].file},
                               SEEP_EFORMAT, sources[0].err);
    if (rc) {
        seep_colmap_free(model);
        return rc;
    }
    *out = model;
    return 0;
}

int seep_colmap_from_bytes(bool text, const void *cameras, size_t n_cameras, const void *images,
                           size_t n_images, const void *points, size_t n_points,
                           struct seep_colmap **out, struct seep_error *err)
{
    struct seep_colmap_source sources[SEEP_COLMAP_PARTS] = {
        {text ? "cameras.txt" : "cameras.bin", seep_bytes_of(cameras, cameras ? n_cameras : 0),
         err},
        {text ? "images.txt" : "images.bin", seep_bytes_of(images, images ? n_images : 0), err},
        {text ? "points3D.txt" : "points3D.bin", seep_bytes_of(points, points ? n_points : 0), err},
    };

    return parse(text, sources, out);
}

/* False where the path is too long. */
static bool path_of(const char *folder, unsigned part, bool text, char path[4096])
{
    int n = snprintf(path, 4096, "%s/%s.%s", folder, file_names[part], text ? "txt" : "bin");

    return n > 0 && n < 4096;
}

int seep_colmap_read(const char *folder, struct seep_colmap **out, struct seep_error *err)
{
    struct seep_colmap_source sources[SEEP_COLMAP_PARTS];
    char paths[SEEP_COLMAP_PARTS][4096];
    uint8_t *bytes[SEEP_COLMAP_PARTS] = {NULL};
    int rc = 0;

    bool text = !path_of(folder, SEEP_COLMAP_CAMERAS, false, paths[0]) || access(paths[0], F_OK);
    for (unsigned i = 0; i < SEEP_COLMAP_PARTS && !rc; i++) {
        size_t n = 0;
        if (!path_of(folder, i, text, paths[i]))
            rc = seep_error_set(err, SEEP_EIO, folder, 0, "the path is too long");
        else
            rc = seep_file_read(paths[i], max_bytes, &bytes[i], &n, err);
        sources[i] = (struct seep_colmap_source){paths[i], seep_bytes_of(bytes[i], n), err};
    }
    if (!rc)
        rc = parse(text, sources, out);
    for (unsigned i = 0; i < SEEP_COLMAP_PARTS; i++)
        free(bytes[i]);
    return rc;
}

static int write_part(const char *folder, bool text, unsigned part, const struct seep_colmap *model,
                      struct seep_error *err)
{
    struct seep_file_writer writer;
    char path[4096];

    if (!path_of(folder, part, text, path))
        return seep_error_set(err, SEEP_EINVAL, folder, 0, "the path is too long");
    int rc = seep_file_writer_open(&writer, path, err);
    if (rc)
        return rc;
    if (text)
        seep_colmap_print_text(writer.stream, part, model);
    else
        seep_colmap_print_binary(writer.stream, part, model);
    return seep_file_writer_commit(&writer, err);
}

int seep_colmap_write(const char *folder, bool text, const struct seep_colmap *model,
                      struct seep_error *err)
{
    int rc = seep_colmap_check(model, (const char *[]){folder, folder, folder}, SEEP_EINVAL, err);

    /* Cameras are what a reader looks for first. */
    for (unsigned i = SEEP_COLMAP_PARTS; i > 0 && !rc; i--)
        rc = write_part(folder, text, i - 1, model, err);
    return rc;
}

void seep_colmap_free(struct seep_colmap *model)
{
    if (!model)
        return;
    for (size_t i = 0; i < model->n_images; i++) {
        free(model->images[i].name);
        free(model->images[i].xy);
        free(model->images[i].point3d_ids);
    }
    for (size_t i = 0; i < model->n_points; i++)
        free(model->points[i].track);
    free(model->cameras);
    free(model->images);
    free(model->points);
    free(model);
}
