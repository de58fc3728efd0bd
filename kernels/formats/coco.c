#include "kernels/formats/coco.h"

#include "kernels/formats/byte_file.h"
#include "kernels/formats/coco_parts.h"
#include "kernels/formats/coco_runs.h"
#include "kernels/formats/json_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* instances_train2017.json has 470 MB; its 60 million values or so take about 4 GB. */
#define MAX_FILE_BYTES  ((size_t)512 << 20)
#define MAX_VALUE_BYTES ((size_t)6 << 30)

enum { MAX_SIDE = 65535 };

/* A coordinate beyond this cannot be in a picture. */
static const double max_coordinate = 1e6;

struct reader {
    const char *file;
    struct seep_error *err;
    struct seep_coco_index index;
};

static int no_memory(const struct reader *r)
{
    return seep_error_set(r->err, SEEP_ENOMEM, r->file, 0, "no memory");
}

/* A whole number that is not negative; refuses an absent one. Tools that pass through tables of
 * reals write 1.0. */
static int get_whole(const json_t *object, const char *key, uint64_t most, uint64_t *value)
{
    static const double exact = 9007199254740992; /* 2^53: above it reals have gaps */
    const json_t *item = json_object_get(object, key);
    const double real = json_is_real(item) ? json_real_value(item) : -1;
    const bool is_whole = real >= 0 && real <= exact && real == floor(real);

    if (!is_whole && (!json_is_integer(item) || json_integer_value(item) < 0))
        return -SEEP_EFORMAT;
    *value = is_whole ? (uint64_t)real : (uint64_t)json_integer_value(item);
    return *value > most ? -SEEP_EFORMAT : 0;
}

static int parse_image(const struct reader *r, const json_t *item, size_t index,
                       struct seep_coco_image *image)
{
    uint64_t width = 0, height = 0;
    const char *name = json_string_value(json_object_get(item, "file_name"));

    if (get_whole(item, "id", INT64_MAX, &image->id) ||
        get_whole(item, "width", MAX_SIDE, &width) ||
        get_whole(item, "height", MAX_SIDE, &height) || !width || !height)
        return seep_error_set(r->err, SEEP_EFORMAT, r->file, 0,
                              "image %zu: no id, or no size of 1 to %d pixels", index, MAX_SIDE);
    if (!name || !seep_name_is_safe(name))
        return seep_error_set(r->err, SEEP_EFORMAT, r->file, 0,
                              "image %zu: no file_name that stays in its folder", index);
    image->width = (uint32_t)width;
    image->height = (uint32_t)height;
    image->file = strdup(name);
    return image->file ? 0 : no_memory(r);
}

static int parse_images(struct reader *r, const json_t *list, struct seep_coco *coco)
{
    size_t n = json_array_size(list), i;
    json_t *item;

    if (!json_is_array(list))
        return seep_error_set(r->err, SEEP_EFORMAT, r->file, 0, "no list of images");
    if (!n)
        return 0;
    coco->images = calloc(n, sizeof *coco->images);
    if (!coco->images)
        return no_memory(r);
    coco->n_images = n;
    json_array_foreach (list, i, item) {
        int rc = parse_image(r, item, i, &coco->images[i]);
        if (rc)
            return rc;
    }
    if (seep_coco_index_init(&r->index, coco->images, n))
        return no_memory(r);
    for (i = 1; i < n; i++) {
        if (r->index.sorted[i]->id == r->index.sorted[i - 1]->id)
            return seep_error_set(r->err, SEEP_EFORMAT, r->file, 0, "two images of id %llu",
                                  (unsigned long long)r->index.sorted[i]->id);
    }
    return 0;
}

/* Rings of at least one point each; x and y alternate. */
static int parse_rings(const struct reader *r, const json_t *list,
                       struct seep_coco_annotation *annotation)
{
    size_t n_rings = json_array_size(list), n_points = 0, i, j;
    json_t *ring, *number;

    if (!n_rings)
        return 0;
    annotation->ring_starts = calloc(n_rings + 1, sizeof *annotation->ring_starts);
    if (!annotation->ring_starts)
        return no_memory(r);
    annotation->n_rings = n_rings;
    json_array_foreach (list, i, ring) {
        if (!json_array_size(ring) || json_array_size(ring) % 2)
            return -SEEP_EFORMAT;
        n_points += json_array_size(ring) / 2;
        annotation->ring_starts[i + 1] = n_points;
    }
    annotation->xy = calloc(n_points, sizeof *annotation->xy);
    if (!annotation->xy)
        return no_memory(r);
    json_array_foreach (list, i, ring) {
        double(*to)[2] = annotation->xy + annotation->ring_starts[i];
        json_array_foreach (ring, j, number) {
            if (!json_is_number(number) || !(fabs(json_number_value(number)) <= max_coordinate))
                return -SEEP_EFORMAT;
            to[j / 2][j % 2] = json_number_value(number);
        }
    }
    return 0;
}

static int parse_run_list(const struct reader *r, const json_t *counts,
                          struct seep_coco_annotation *annotation)
{
    size_t i;
    json_t *item;

    if (!json_array_size(counts))
        return -SEEP_EFORMAT;
    annotation->runs = calloc(json_array_size(counts), sizeof *annotation->runs);
    if (!annotation->runs)
        return no_memory(r);
    annotation->n_runs = json_array_size(counts);
    json_array_foreach (counts, i, item) {
        json_int_t run = json_is_integer(item) ? json_integer_value(item) : -1;
        if (run < 0 || run > UINT32_MAX)
            return -SEEP_EFORMAT;
        annotation->runs[i] = (uint32_t)run;
    }
    return 0;
}

/* {"size": [height, width], "counts": …}; the runs must cover the size, and it must be the
 * image's. */
static int parse_runs(const struct reader *r, const json_t *item,
                      struct seep_coco_annotation *annotation)
{
    const json_t *size = json_object_get(item, "size"), *counts = json_object_get(item, "counts");
    const struct seep_coco_image *image = seep_coco_index_find(&r->index, annotation->image_id);
    json_int_t height = json_integer_value(json_array_get(size, 0));
    json_int_t width = json_integer_value(json_array_get(size, 1));
    uint64_t total = 0;

    if (json_array_size(size) != 2 || width < 1 || height < 1 || width > MAX_SIDE ||
        height > MAX_SIDE || (image && (image->width != width || image->height != height)))
        return -SEEP_EFORMAT;
    int rc = json_is_string(counts)
                 ? seep_coco_runs_from_text(json_string_value(counts), json_string_length(counts),
                                            &annotation->runs, &annotation->n_runs)
                 : parse_run_list(r, counts, annotation);
    for (size_t i = 0; !rc && i < annotation->n_runs; i++)
        total += annotation->runs[i];
    return rc ? rc : total == (uint64_t)width * (uint64_t)height ? 0 : -SEEP_EFORMAT;
}

static int parse_box(const json_t *box, double bbox[4])
{
    if (!box)
        return 0;
    if (json_array_size(box) != 4)
        return -SEEP_EFORMAT;
    for (size_t i = 0; i < 4; i++) {
        if (!json_is_number(json_array_get(box, i)))
            return -SEEP_EFORMAT;
        bbox[i] = json_number_value(json_array_get(box, i));
    }
    return 0;
}

static int parse_annotation(const struct reader *r, const json_t *item, size_t index,
                            struct seep_coco_annotation *annotation)
{
    const json_t *crowd = json_object_get(item, "iscrowd"), *area = json_object_get(item, "area");
    const json_t *shape = json_object_get(item, "segmentation");
    int rc = 0;

    if (get_whole(item, "id", INT64_MAX, &annotation->id) ||
        get_whole(item, "image_id", INT64_MAX, &annotation->image_id) ||
        get_whole(item, "category_id", INT64_MAX, &annotation->category_id))
        return seep_error_set(r->err, SEEP_EFORMAT, r->file, 0,
                              "annotation %zu: no id, image_id or category_id", index);
    annotation->is_crowd = json_is_true(crowd) || json_integer_value(crowd);
    annotation->area = json_number_value(area);
    if ((area && !json_is_number(area)) ||
        parse_box(json_object_get(item, "bbox"), annotation->bbox))
        return seep_error_set(r->err, SEEP_EFORMAT, r->file, 0,
                              "annotation %zu: no area or bbox of numbers", index);
    if (json_is_array(shape))
        rc = parse_rings(r, shape, annotation);
    else if (json_is_object(shape))
        rc = parse_runs(r, shape, annotation);
    else if (shape && !json_is_null(shape))
        rc = -SEEP_EFORMAT;
    if (rc == -SEEP_ENOMEM)
        return no_memory(r);
    if (rc)
        return seep_error_set(r->err, SEEP_EFORMAT, r->file, 0,
                              "annotation %zu: neither polygons nor run lengths of its image",
                              index);
    return 0;
}

static int parse(struct reader *r, const json_t *root, struct seep_coco *coco)
{
    const json_t *list = json_object_get(root, "annotations");
    size_t i;
    json_t *item;
    int rc = parse_images(r, json_object_get(root, "images"), coco);

    if (rc)
        return rc;
    if (!json_is_array(list))
        return seep_error_set(r->err, SEEP_EFORMAT, r->file, 0, "no list of annotations");
    if (!json_array_size(list))
        return 0;
    coco->annotations = calloc(json_array_size(list), sizeof *coco->annotations);
    if (!coco->annotations)
        return no_memory(r);
    coco->n_annotations = json_array_size(list);
    json_array_foreach (list, i, item) {
        rc = parse_annotation(r, item, i, &coco->annotations[i]);
        if (rc)
            return rc;
    }
    return 0;
}

static int from_bytes(const char *file, const void *bytes, size_t n, struct seep_coco **out,
                      struct seep_error *err)
{
    struct reader r = {.file = file, .err = err};
    struct seep_coco *coco = NULL;
    struct seep_json json = {NULL, NULL};
    int rc = seep_json_load(file, bytes, n, MAX_VALUE_BYTES, &json, err);

    if (rc)
        goto fail;
    coco = calloc(1, sizeof *coco);
    rc = coco ? parse(&r, json.root, coco) : no_memory(&r);
    if (rc)
        goto fail;
    *out = coco;
    coco = NULL;
fail:
    seep_json_free(&json);
    seep_coco_index_fini(&r.index);
    seep_coco_free(coco);
    return rc;
}

int seep_coco_from_bytes(const void *bytes, size_t n, struct seep_coco **out,
                         struct seep_error *err)
{
    return from_bytes("", bytes, n, out, err);
}

int seep_coco_read(const char *path, struct seep_coco **out, struct seep_error *err)
{
    uint8_t *bytes;
    size_t n;
    int rc = seep_file_read(path, MAX_FILE_BYTES, &bytes, &n, err);

    if (rc)
        return rc;
    rc = from_bytes(path, bytes, n, out, err);
    free(bytes);
    return rc;
}

void seep_coco_free(struct seep_coco *coco)
{
    if (!coco)
        return;
    for (size_t i = 0; i < coco->n_images; i++)
        free(coco->images[i].file);
    for (size_t i = 0; i < coco->n_annotations; i++) {
        free(coco->annotations[i].ring_starts);
        free(coco->annotations[i].xy);
        free(coco->annotations[i].runs);
    }
    free(coco->images);
    free(coco->annotations);
    free(coco);
}
