/* The writer of COCO annotations. We do not keep names of categories: their numbers serve as names,
 * so that readers that insist on the list find it. */
#include "kernels/formats/byte_file.h"
#include "kernels/formats/coco.h"
#include "kernels/formats/coco_parts.h"
#include "kernels/formats/coco_runs.h"
#include "kernels/formats/json_file.h"
#include "libprof/base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    const struct seep_coco *coco;
    bool compressed;
    struct seep_coco_index index;
    bool failed; /* no memory */
};

static void append(struct writer *w, json_t *list, json_t *item)
{
    if (json_array_append_new(list, item))
        w->failed = true;
}

static bool are_finite(const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i]))
            return false;
    }
    return true;
}

/* Whether the values can be written at all: if so, a failure of jansson means out of memory. */
static bool is_writable(const struct writer *w)
{
    for (size_t i = 0; i < w->coco->n_images; i++) {
        if (!seep_text_is_utf8(w->coco->images[i].file))
            return false;
    }
    for (size_t i = 0; i < w->coco->n_annotations; i++) {
        const struct seep_coco_annotation *a = &w->coco->annotations[i];
        size_t n_points = a->n_rings ? a->ring_starts[a->n_rings] : 0;
        if (!isfinite(a->area) || !are_finite(a->bbox, 4) ||
            (n_points && !are_finite(a->xy[0], 2 * n_points)) ||
            (a->n_runs && !seep_coco_index_find(&w->index, a->image_id)))
            return false;
    }
    return true;
}

static json_t *build_images(struct writer *w)
{
    json_t *list = json_array();

    for (size_t i = 0; i < w->coco->n_images; i++) {
        const struct seep_coco_image *image = &w->coco->images[i];
        append(w, list,
               json_pack("{s:I, s:I, s:I, s:s}", "id", (json_int_t)image->id, "width",
                         (json_int_t)image->width, "height", (json_int_t)image->height, "file_name",
                         image->file));
    }
    return list;
}

static json_t *build_rings(struct writer *w, const struct seep_coco_annotation *annotation)
{
    json_t *list = json_array();

    for (size_t i = 0; i < annotation->n_rings; i++) {
        json_t *ring = json_array();
        for (size_t j = annotation->ring_starts[i]; j < annotation->ring_starts[i + 1]; j++) {
            append(w, ring, json_real(annotation->xy[j][0]));
            append(w, ring, json_real(annotation->xy[j][1]));
        }
        append(w, list, ring);
    }
    return list;
}

static json_t *build_runs(struct writer *w, const struct seep_coco_annotation *annotation)
{
    const struct seep_coco_image *image = seep_coco_index_find(&w->index, annotation->image_id);
    json_t *counts;

    if (w->compressed) {
        char *text = seep_coco_runs_to_text(annotation->runs, annotation->n_runs);
        counts = json_string(text);
        free(text);
    } else {
        counts = json_array();
        for (size_t i = 0; i < annotation->n_runs; i++)
            append(w, counts, json_integer(annotation->runs[i]));
    }
    return json_pack("{s:[I, I], s:o}", "size", (json_int_t)image->height, (json_int_t)image->width,
                     "counts", counts);
}

static json_t *build_annotations(struct writer *w)
{
    json_t *list = json_array();

    for (size_t i = 0; i < w->coco->n_annotations; i++) {
        const struct seep_coco_annotation *a = &w->coco->annotations[i];
        json_t *shape = a->n_runs ? build_runs(w, a) : build_rings(w, a);
        append(w, list,
               json_pack("{s:I, s:I, s:I, s:i, s:f, s:[f, f, f, f], s:o}", "id", (json_int_t)a->id,
                         "image_id", (json_int_t)a->image_id, "category_id",
                         (json_int_t)a->category_id, "iscrowd", (int)a->is_crowd, "area", a->area,
                         "bbox", a->bbox[0], a->bbox[1], a->bbox[2], a->bbox[3], "segmentation",
                         shape));
    }
    return list;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

static json_t *build_categories(struct writer *w)
{
    size_t n = w->coco->n_annotations;
    uint64_t *ids = calloc(n ? n : 1, sizeof *ids);
    json_t *list = json_array();

    if (!ids)
        w->failed = true;
    for (size_t i = 0; ids && i < n; i++)
        ids[i] = w->coco->annotations[i].category_id;
    if (ids)
        qsort(ids, n, sizeof *ids, compare_numbers);
    for (size_t i = 0; ids && i < n; i++) {
        char name[32];
        if (i && ids[i] == ids[i - 1])
            continue;
        snprintf(name, sizeof name, "category %llu", (unsigned long long)ids[i]);
        append(w, list, json_pack("{s:I, s:s}", "id", (json_int_t)ids[i], "name", name));
    }
    free(ids);
    return list;
}

int seep_coco_print(FILE *out, const struct seep_coco *coco, bool compressed)
{
    struct writer w = {.coco = coco, .compressed = compressed};

    if (seep_coco_index_init(&w.index, coco->images, coco->n_images))
        return -SEEP_ENOMEM;
    int rc = -SEEP_EINVAL;
    if (is_writable(&w)) {
        json_t *images = build_images(&w), *annotations = build_annotations(&w);
        json_t *root = json_pack("{s:o, s:o, s:o}", "images", images, "annotations", annotations,
                                 "categories", build_categories(&w));
        rc = w.failed ? -SEEP_ENOMEM : seep_json_print(out, root, JSON_COMPACT);
        json_decref(root);
    }
    seep_coco_index_fini(&w.index);
    return rc;
}

int seep_coco_write(const char *path, const struct seep_coco *coco, bool compressed,
                    struct seep_error *err)
{
    struct seep_file_writer w;
    int rc = seep_file_writer_open(&w, path, err);

    if (rc)
        return rc;
    errno = 0;
    rc = seep_coco_print(w.stream, coco, compressed);
    if (!rc)
        return seep_file_writer_commit(&w, err);
    if (rc == -SEEP_EINVAL)
        rc = seep_error_set(err, SEEP_EINVAL, path, 0,
                            "an annotation without its image, or a value that JSON cannot hold");
    else
        rc = seep_error_set(err, -rc, path, 0, "%s",
                            rc == -SEEP_EIO ? strerror(errno) : seep_error_name(rc));
    seep_file_writer_cancel(&w);
    return rc;
}
