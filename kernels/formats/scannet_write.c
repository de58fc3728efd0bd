/* The made-up room in ScanNet's four files. */
#include "kernels/formats/byte_file.h"
#include "kernels/formats/json_file.h"
#include "kernels/formats/ply.h"
#include "kernels/formats/scannet.h"
#include "kernels/formats/scannet_parts.h"
#include "kernels/formats/scannet_room.h"
#include "libprof/base/text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { MAX_PATH = 4096 };

static int write_mesh(const struct seep_room *room, const char *path, bool with_labels,
                      struct seep_error *err)
{
    struct seep_ply_property vertex[] = {
        {.name = "x", .type = SEEP_PLY_F32, .values = room->xyz[0]},
        {.name = "y", .type = SEEP_PLY_F32, .values = room->xyz[1]},
        {.name = "z", .type = SEEP_PLY_F32, .values = room->xyz[2]},
        {.name = "red", .type = SEEP_PLY_U8, .values = room->rgba[0]},
        {.name = "green", .type = SEEP_PLY_U8, .values = room->rgba[1]},
        {.name = "blue", .type = SEEP_PLY_U8, .values = room->rgba[2]},
        {.name = "alpha", .type = SEEP_PLY_U8, .values = room->rgba[3]},
        {.name = "label", .type = SEEP_PLY_U16, .values = room->labels},
    };
    struct seep_ply_property face = {.name = "vertex_indices",
                                     .type = SEEP_PLY_I32,
                                     .is_list = true,
                                     .count_type = SEEP_PLY_U8,
                                     .values = room->triangles,
                                     .starts = room->starts};
    struct seep_ply_element elements[] = {{"vertex", room->n, vertex, with_labels ? 8 : 7},
                                          {"face", room->n_triangles, &face, 1}};
    const struct seep_ply ply = {SEEP_PLY_LITTLE, elements, 2};

    return seep_ply_write(path, &ply, err);
}

static json_t *build_segments(const struct seep_room *room, const char *name)
{
    json_t *list = json_array();

    for (size_t i = 0; i < room->n; i++) {
        if (json_array_append_new(list, json_integer(room->segments[i]))) {
            json_decref(list);
            return NULL;
        }
    }
    return json_pack("{s:s, s:o}", "sceneId", name, "segIndices", list);
}

/* The segments of an object: the vertices that gave them their numbers. NULL: no memory. */
static json_t *segments_of(const struct seep_room *room, int object)
{
    json_t *list = json_array();

    for (int i = 0; i < room->n_surfaces; i++) {
        const struct seep_room_surface *s = &room->surfaces[i];
        for (size_t at = s->begin; s->object == object && at < s->end; at++) {
            if (room->segments[at] == at &&
                json_array_append_new(list, json_integer((json_int_t)at))) {
                json_decref(list);
                return NULL;
            }
        }
    }
    return list;
}

/* Objects that got no vertex are left out. */
static json_t *build_objects(const struct seep_room *room, const char *name)
{
    json_t *groups = json_array();
    json_int_t id = 0;
    bool enough = groups != NULL;

    for (int object = 0; enough && object < room->n_objects; object++) {
        json_t *segments = segments_of(room, object);
        if (json_array_size(segments)) {
            json_t *group =
                json_pack("{s:I, s:I, s:O}", "id", id, "objectId", id, "segments", segments);
            enough = !json_array_append_new(groups, group);
            id++;
        }
        enough = enough && segments;
        json_decref(segments);
    }
    json_t *root = enough ? json_pack("{s:s, s:O}", "sceneId", name, "segGroups", groups) : NULL;
    json_decref(groups);
    return root;
}

static int write_json(const char *path, json_t *root, struct seep_error *err)
{
    struct seep_file_writer w;
    int rc = seep_file_writer_open(&w, path, err);

    if (!rc) {
        rc = seep_json_print(w.stream, root, JSON_COMPACT);
        if (rc) {
            rc = seep_error_set(err, -rc, path, 0, "%s",
                                rc == -SEEP_EIO ? strerror(errno) : seep_error_name(rc));
            seep_file_writer_cancel(&w);
        } else {
            rc = seep_file_writer_commit(&w, err);
        }
    }
    json_decref(root);
    return rc;
}

/* The mesh comes last: a folder that lists a scene has all of it. */
static int write_files(const struct seep_room *room, const char *folder, const char *name,
                       struct seep_error *err)
{
    static const char *const suffixes[] = {SEEP_SCANNET_OBJECTS, SEEP_SCANNET_SEGMENTS,
                                           SEEP_SCANNET_LABELS, SEEP_SCANNET_MESH};
    int rc = 0;

    for (int i = 0; i < 4 && !rc; i++) {
        char path[MAX_PATH];
        if (snprintf(path, sizeof path, "%s/%s%s", folder, name, suffixes[i]) >= MAX_PATH)
            return seep_error_set(err, SEEP_EINVAL, folder, 0, "the path is too long");
        if (i < 2)
            rc = write_json(path, i ? build_segments(room, name) : build_objects(room, name), err);
        else
            rc = write_mesh(room, path, i == 2, err);
    }
    return rc;
}

int seep_scannet_write_room_of(const char *folder, const char *name, size_t n_points, double sides,
                               uint64_t seed, struct seep_error *err)
{
    struct seep_room room;

    if (!seep_text_is_utf8(name))
        return seep_error_set(err, SEEP_EINVAL, folder, 0, "the scene's name is not UTF-8");
    if (!n_points || n_points > SEEP_SCANNET_MAX_POINTS)
        return seep_error_set(err, SEEP_EINVAL, folder, 0, "a room of 1 to %d points",
                              SEEP_SCANNET_MAX_POINTS);
    int rc = seep_room_init(&room, n_points, sides, seed);
    rc = rc ? seep_error_set(err, -rc, folder, 0, "no memory for a room of %zu points", n_points)
            : write_files(&room, folder, name, err);
    seep_room_fini(&room);
    return rc;
}

int seep_scannet_write_room(const char *folder, const char *name, size_t n_points, uint64_t seed,
                            struct seep_error *err)
{
    return seep_scannet_write_room_of(folder, name, n_points, 1, seed, err);
}
