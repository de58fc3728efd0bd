/* A vertex belongs to a segment (segs.json), a segment to an object (aggregation.json). */
#include "kernels/formats/json_file.h"
#include "kernels/formats/scannet_parts.h"

#include <stdlib.h>

/* Of the segments of SEEP_SCANNET_MAX_POINTS vertices: twice. */
enum { MAX_VALUE_BYTES = 512 << 20 };

struct member {
    json_int_t segment;
    int32_t object;
};

struct members {
    struct member *items; /* by segment, then by object */
    size_t n;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *left = a, *right = b;

    if (left->segment != right->segment)
        return left->segment < right->segment ? -1 : 1;
    return (left->object > right->object) - (left->object < right->object);
}

/* Where several objects claim a segment the last one gets it, as in PointGroup's preparation. */
static int32_t object_of(const struct members *members, json_int_t segment)
{
    size_t low = 0, high = members->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (members->items[middle].segment <= segment)
            low = middle + 1;
        else
            high = middle;
    }
    return low && members->items[low - 1].segment == segment ? members->items[low - 1].object : -1;
}

/* scene0217_00 of ScanNet lists its objects twice. */
static size_t count_objects(const json_t *groups)
{
    size_t n = json_array_size(groups);
    const json_t *first = json_object_get(json_array_get(groups, 0), "segments");
    const json_t *middle = json_object_get(json_array_get(groups, n / 2), "segments");

    return n >= 2 && json_array_size(first) && json_equal(first, middle) ? n / 2 : n;
}

static int collect(const json_t *groups, size_t n_groups, struct members *members)
{
    size_t total = 0;

    for (size_t i = 0; i < n_groups; i++) {
        const json_t *segments = json_object_get(json_array_get(groups, i), "segments");
        if (!json_is_array(segments))
            return -SEEP_EFORMAT;
        total += json_array_size(segments);
    }
    members->items = calloc(total ? total : 1, sizeof *members->items);
    if (!members->items)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < n_groups; i++) {
        const json_t *segments = json_object_get(json_array_get(groups, i), "segments");
        for (size_t j = 0; j < json_array_size(segments); j++) {
            const json_t *segment = json_array_get(segments, j);
            if (!json_is_integer(segment))
                return -SEEP_EFORMAT;
            members->items[members->n++] = (struct member){json_integer_value(segment), (int32_t)i};
        }
    }
    qsort(members->items, members->n, sizeof *members->items, compare_members);
    return 0;
}

static int load(const char *what, const struct seep_scannet_bytes *file, struct seep_json *json,
                struct seep_error *err)
{
    struct seep_error first = {.text = ""};
    int rc = seep_json_load("", file->bytes, file->n, MAX_VALUE_BYTES, json, &first);

    return rc ? seep_error_set(err, -rc, "", first.offset, "%s: %s", what, first.text) : 0;
}

static int read_objects(const struct seep_scannet_bytes *file, struct members *members,
                        size_t *n_instances, struct seep_error *err)
{
    struct seep_json json;
    int rc = load("aggregation", file, &json, err);

    if (rc)
        return rc;
    const json_t *groups = json_object_get(json.root, "segGroups");
    size_t n_groups = count_objects(groups);
    rc = json_is_array(groups) && n_groups <= INT32_MAX ? collect(groups, n_groups, members)
                                                        : -SEEP_EFORMAT;
    seep_json_free(&json);
    *n_instances = n_groups;
    if (rc == -SEEP_ENOMEM)
        return seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory");
    if (rc)
        return seep_error_set(err, SEEP_EFORMAT, "", 0, "aggregation: no segments of objects");
    return 0;
}

static int read_segments(const struct seep_scannet_bytes *file, const struct members *members,
                         size_t n, int32_t *instances, struct seep_error *err)
{
    struct seep_json json;
    int rc = load("segs", file, &json, err);

    if (rc)
        return rc;
    const json_t *list = json_object_get(json.root, "segIndices");
    if (!json_is_array(list) || json_array_size(list) != n)
        rc = seep_error_set(err, SEEP_EFORMAT, "", 0, "segs: not the segments of %zu vertices", n);
    for (size_t i = 0; i < n && !rc; i++) {
        const json_t *segment = json_array_get(list, i);
        if (json_is_integer(segment))
            instances[i] = object_of(members, json_integer_value(segment));
        else
            rc = seep_error_set(err, SEEP_EFORMAT, "", 0,
                                "segs: the segment of vertex %zu is not a number", i);
    }
    seep_json_free(&json);
    return rc;
}

int seep_scannet_objects(const struct seep_scannet_bytes *segments,
                         const struct seep_scannet_bytes *objects, size_t n, int32_t *instances,
                         size_t *n_instances, struct seep_error *err)
{
    struct members members = {.n = 0};
    int rc = read_objects(objects, &members, n_instances, err);

    if (!rc)
        rc = read_segments(segments, &members, n, instances, err);
    free(members.items);
    return rc;
}
