/* ScanNet scenes: what PointGroup's preparation makes of the four files, and rooms made up in them.
 */
#include "kernels/formats/byte_file.h"
#include "kernels/formats/ply.h"
#include "kernels/formats/scannet.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[32];

static void set_up(void)
{
    strcpy(folder, "/tmp/seep-scannet-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void tear_down(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static const char *path_of(const char *file)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, file);
    return path;
}

/* Four vertices with labels of one's own, as text. */
static struct seep_scannet_bytes text_of(char *to, size_t capacity, bool with_labels,
                                         const unsigned labels[4])
{
    int n = snprintf(to, capacity,
                     "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
                     "property float z\nproperty uchar red\nproperty uchar green\n"
                     "property uchar blue\nproperty uchar alpha\n%send_header\n",
                     with_labels ? "property ushort label\n" : "");

    for (int i = 0; i < 4; i++) {
        n += snprintf(to + n, capacity - (size_t)n, "%d 2.5 %d 0 255 %d 255", 4 * i, -i, 51 * i);
        if (with_labels)
            n += snprintf(to + n, capacity - (size_t)n, " %u", labels[i]);
        n += snprintf(to + n, capacity - (size_t)n, "\n");
    }
    return (struct seep_scannet_bytes){to, (size_t)n};
}

static int read_four(const unsigned labels[4], const char *segments, const char *objects,
                     struct seep_scannet_scene **scene, struct seep_error *err)
{
    static char mesh[1024], labelled[1024];
    const struct seep_scannet_bytes files[SEEP_SCANNET_FILES] = {
        text_of(mesh, sizeof mesh, false, NULL),
        labels ? text_of(labelled, sizeof labelled, true, labels)
               : (struct seep_scannet_bytes){NULL, 0},
        {segments, segments ? strlen(segments) : 0},
        {objects, objects ? strlen(objects) : 0},
    };

    return seep_scannet_from_bytes(files, scene, err);
}

static const unsigned some_labels[4] = {1, 2, 39, 40};
static const char some_segments[] = "{\"segIndices\": [7, 7, 123456789012, -3]}";
static const char some_objects[] =
    "{\"segGroups\": [{\"segments\": [123456789012, 5]}, {\"segments\": []}, {\"segments\": [7]}]}";

TEST(a_point_is_what_pointgroup_makes_of_it)
{
    struct seep_error err = {.text = ""};
    struct seep_scannet_scene *scene = NULL;
    int rc = read_four(some_labels, some_segments, some_objects, &scene, &err);
    const double labels[] = {0, 1, 19, -100}, instances[] = {2, 2, 0, -100};

    ck_assert_msg(rc == 0, "%s", err.text);
    ck_assert_uint_eq(sizeof *scene->points, 40);
    ck_assert_uint_eq(scene->n_points, 4);
    ck_assert_uint_eq(scene->n_instances, 3);
    for (int i = 0; i < 4; i++) {
        const struct seep_scannet_point *p = &scene->points[i];
        ck_assert_float_eq(p->xyz[0], (float)(4 * i - 6));
        ck_assert_float_eq(p->xyz[1], 0);
        ck_assert_float_eq(p->xyz[2], (float)(1.5 - i));
        ck_assert_float_eq(p->rgb[0], -1);
        ck_assert_float_eq(p->rgb[1], 1);
        ck_assert_float_eq_tol(p->rgb[2], (float)(0.4 * i - 1), 1e-6f);
        ck_assert_double_eq(p->label, labels[i]);
        ck_assert_double_eq(p->instance, instances[i]);
    }
    seep_scannet_free(scene);
}

TEST(the_twenty_classes_of_the_benchmark_are_told_from_the_other_labels)
{
    static const unsigned benchmark[20] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                           11, 12, 14, 16, 24, 28, 33, 34, 36, 39};
    int classes[44];

    for (unsigned i = 0; i < 44; i++)
        classes[i] = -100;
    for (unsigned i = 0; i < 20; i++)
        classes[benchmark[i]] = (int)i;
    for (unsigned label = 0; label < 44; label += 4) {
        const unsigned labels[4] = {label, label + 1, label + 2, label + 3};
        struct seep_scannet_scene *scene = NULL;
        ck_assert_int_eq(read_four(labels, some_segments, some_objects, &scene, NULL), 0);
        for (unsigned i = 0; i < 4; i++) {
            ck_assert_double_eq(scene->points[i].label, classes[label + i]);
        }
        seep_scannet_free(scene);
    }
}

TEST(a_test_scan_without_labels_is_read)
{
    struct seep_scannet_scene *scene = NULL;

    ck_assert_int_eq(read_four(NULL, NULL, NULL, &scene, NULL), 0);
    ck_assert_uint_eq(scene->n_points, 4);
    ck_assert_uint_eq(scene->n_instances, 0);
    ck_assert_double_eq(scene->points[3].label, -100);
    ck_assert_double_eq(scene->points[3].instance, -100);
    seep_scannet_free(scene);
}

#define OBJECT(segments) "{\"segments\": [" segments "]}"

static const struct {
    const char *objects;
    size_t n_instances;
    double first, last; /* instances of the first point (segment 7) and of the last (segment -3) */
} listed[] = {
    /* Objects that are listed twice count once; those without segments are not taken for such. */
    {OBJECT("7") "," OBJECT("-3") "," OBJECT("7") "," OBJECT("-3"), 2, 0, 1},
    {OBJECT("") "," OBJECT("7") "," OBJECT("") "," OBJECT("-3"), 4, 1, 3},
    /* A segment of two objects goes to the last. */
    {OBJECT("7, -3") "," OBJECT("7") "," OBJECT("8"), 3, 1, 0},
};

TEST(a_point_belongs_to_one_object_however_they_are_listed, .to = N(listed))
{
    struct seep_scannet_scene *scene = NULL;
    char objects[256];

    snprintf(objects, sizeof objects, "{\"segGroups\": [%s]}", listed[_i].objects);
    ck_assert_int_eq(read_four(some_labels, some_segments, objects, &scene, NULL), 0);
    ck_assert_uint_eq(scene->n_instances, listed[_i].n_instances);
    ck_assert_double_eq(scene->points[0].instance, listed[_i].first);
    ck_assert_double_eq(scene->points[3].instance, listed[_i].last);
    seep_scannet_free(scene);
}

static const struct {
    const char *segments, *objects, *named;
} bad[] = {
    {"", some_objects, "segs"},
    {"[]", some_objects, "segs"},
    {"{\"segIndices\": [1, 2, 3]}", some_objects, "segs"},
    {"{\"segIndices\": [1, 2, 3, 4, 5]}", some_objects, "segs"},
    {"{\"segIndices\": [1, 2, 3, \"4\"]}", some_objects, "vertex 3"},
    {some_segments, "", "aggregation"},
    {some_segments, "{}", "aggregation"},
    {some_segments, "{\"segGroups\": {}}", "aggregation"},
    {some_segments, "{\"segGroups\": [1]}", "aggregation"},
    {some_segments, "{\"segGroups\": [{\"segments\": [1.5]}]}", "aggregation"},
};

TEST(annotations_of_another_scan_are_refused, .to = N(bad))
{
    struct seep_scannet_scene *scene = NULL;
    struct seep_error err = {.text = ""};

    ck_assert_int_eq(read_four(some_labels, bad[_i].segments, bad[_i].objects, &scene, &err),
                     -SEEP_EFORMAT);
    ck_assert_msg(strstr(err.text, bad[_i].named) != NULL, "\"%s\"", err.text);
}

static const char *const bad_meshes[] = {
    "",
    "ply\nformat ascii 1.0\nelement face 0\nproperty float x\nend_header\n",
    "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\n"
    "property float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n",
    "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float "
    "z\n"
    "end_header\n1 2 3\n",
    "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
    "property float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n"
    "1 nan 3 0 0 0\n",
    "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
    "property float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n"
    "1 2 3e38 0 0 0\n",
};

TEST(a_mesh_without_places_and_colours_is_refused, .to = N(bad_meshes))
{
    const char *mesh = bad_meshes[_i];
    const struct seep_scannet_bytes files[SEEP_SCANNET_FILES] = {{mesh, strlen(mesh)}};
    struct seep_scannet_scene *scene = NULL;

    ck_assert_int_eq(seep_scannet_from_bytes(files, &scene, NULL), -SEEP_EFORMAT);
}

static const size_t sizes[] = {1, 7, 100, 2000, 20011};

TEST(a_room_has_as_many_points_as_asked_for, .to = N(sizes))
{
    struct seep_scannet_scene *scene = NULL;
    struct seep_error err = {.text = ""};

    ck_assert_int_eq(seep_scannet_write_room(folder, "scene0000_00", sizes[_i], 1, &err), 0);
    int rc = seep_scannet_read(folder, "scene0000_00", &scene, &err);
    ck_assert_msg(rc == 0, "%s: %s", err.file, err.text);
    ck_assert_uint_eq(scene->n_points, sizes[_i]);
    seep_scannet_free(scene);
}

/* What minkowski's network sees of a room is its surface. */
TEST(a_room_of_twice_the_sides_has_four_times_the_surface)
{
    struct seep_scannet_scene *scenes[2];

    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(seep_scannet_write_room_of(folder, "a", 500, 1 + i, 3, NULL), 0);
        ck_assert_int_eq(seep_scannet_read_mesh(folder, "a", &scenes[i], NULL), 0);
        ck_assert_uint_eq(scenes[i]->n_points, 500);
        ck_assert_double_eq(scenes[i]->points[0].label, -100);
    }
    for (size_t at = 0; at < 500; at++) { /* 5 mm is the scanner's noise, in either room */
        for (int k = 0; k < 3; k++)
            ck_assert_double_eq_tol((double)scenes[1]->points[at].xyz[k],
                                    2 * (double)scenes[0]->points[at].xyz[k], 0.02);
    }
    seep_scannet_free(scenes[0]);
    seep_scannet_free(scenes[1]);
}

TEST(a_room_has_walls_a_floor_objects_and_some_of_no_class)
{
    enum { N = 5000 };
    struct seep_scannet_scene *scene = NULL;
    size_t of_class[20] = {0}, unlabelled = 0, of_no_object = 0;
    double label_of[64], sum[3] = {0}, extent = 0;

    ck_assert_int_eq(seep_scannet_write_room(folder, "a", N, 3, NULL), 0);
    ck_assert_int_eq(seep_scannet_read(folder, "a", &scene, NULL), 0);
    ck_assert_uint_eq(scene->n_instances, 10);
    for (int i = 0; i < 64; i++)
        label_of[i] = -1;
    for (size_t i = 0; i < N; i++) {
        const struct seep_scannet_point *p = &scene->points[i];
        if (p->label >= 0)
            of_class[(size_t)p->label]++;
        unlabelled += p->label < 0;
        of_no_object += p->instance < 0;
        for (int k = 0; k < 3; k++) {
            sum[k] += (double)p->xyz[k];
            extent = fmax(extent, fabs((double)p->xyz[k]));
        }
        if (p->instance < 0)
            continue;
        /* PointGroup insists on one label an object. */
        double *label = &label_of[(size_t)p->instance];
        ck_assert(*label == -1 || *label == p->label);
        *label = p->label;
    }
    ck_assert_uint_gt(of_class[0], N / 4);  /* wall */
    ck_assert_uint_gt(of_class[1], N / 10); /* floor */
    ck_assert_uint_gt(N - of_class[0] - of_class[1] - unlabelled, N / 20);
    ck_assert_uint_gt(of_no_object, 0);
    ck_assert_uint_gt(unlabelled, of_no_object);
    for (int k = 0; k < 3; k++)
        ck_assert_double_eq_tol(sum[k] / N, 0, 1e-4);
    ck_assert(extent > 1.5 && extent < 8);
    seep_scannet_free(scene);
}

TEST(a_room_is_a_mesh_whose_triangles_are_its_own, .to = 2)
{
    enum { N = 3000 };
    struct seep_ply *ply = NULL;

    ck_assert_int_eq(seep_scannet_write_room(folder, "a", N, 3, NULL), 0);
    ck_assert_int_eq(
        seep_ply_read(path_of(_i ? "a_vh_clean_2.labels.ply" : "a_vh_clean_2.ply"), &ply, NULL), 0);
    const struct seep_ply_element *vertices = seep_ply_element(ply, "vertex");
    const struct seep_ply_element *faces = seep_ply_element(ply, "face");
    ck_assert_int_eq(ply->encoding, SEEP_PLY_LITTLE);
    ck_assert(vertices && faces);
    ck_assert_uint_eq(vertices->n, N);
    ck_assert_uint_gt(faces->n, N);
    ck_assert_int_eq(!!seep_ply_scalars(vertices, "label", SEEP_PLY_U16), _i);
    ck_assert_ptr_nonnull(seep_ply_scalars(vertices, "alpha", SEEP_PLY_U8));
    const struct seep_ply_property *indices = &faces->properties[0];
    ck_assert_str_eq(indices->name, "vertex_indices");
    ck_assert_uint_eq(indices->starts[faces->n], 3 * faces->n);
    const float *x = seep_ply_scalars(vertices, "x", SEEP_PLY_F32);
    for (size_t i = 0; i < faces->n; i++) {
        const int32_t *corner = (const int32_t *)indices->values + 3 * i;
        for (int k = 0; k < 3; k++) {
            ck_assert(corner[k] >= 0 && corner[k] < N);
            ck_assert_float_le(fabsf(x[corner[k]] - x[corner[0]]), 0.6f);
        }
    }
    seep_ply_free(ply);
}

static void assert_same_file(const char *a, const char *b, bool same)
{
    uint8_t *left, *right;
    size_t n_left, n_right;

    ck_assert_int_eq(seep_file_read(path_of(a), 1 << 24, &left, &n_left, NULL), 0);
    ck_assert_int_eq(seep_file_read(path_of(b), 1 << 24, &right, &n_right, NULL), 0);
    ck_assert_int_eq(n_left == n_right && !memcmp(left, right, n_left), same);
    free(left);
    free(right);
}

TEST(a_room_is_made_again_by_its_seed)
{
    ck_assert_int_eq(seep_scannet_write_room(folder, "a", 500, 3, NULL), 0);
    ck_assert_int_eq(seep_scannet_write_room(folder, "b", 500, 3, NULL), 0);
    ck_assert_int_eq(seep_scannet_write_room(folder, "c", 500, 4, NULL), 0);
    assert_same_file("a_vh_clean_2.labels.ply", "b_vh_clean_2.labels.ply", true);
    assert_same_file("a_vh_clean_2.ply", "b_vh_clean_2.ply", true);
    assert_same_file("a_vh_clean_2.ply", "c_vh_clean_2.ply", false);
}

TEST(a_missing_annotation_file_is_named)
{
    struct seep_scannet_scene *scene = NULL;
    struct seep_error err = {.text = ""};

    ck_assert_int_eq(seep_scannet_write_room(folder, "a", 50, 3, NULL), 0);
    ck_assert_int_eq(unlink(path_of("a_vh_clean_2.0.010000.segs.json")), 0);
    ck_assert_int_eq(seep_scannet_read(folder, "a", &scene, &err), -SEEP_EIO);
    ck_assert_ptr_nonnull(strstr(err.file, "a_vh_clean_2.0.010000.segs.json"));
    err.text[0] = 0;
    ck_assert_int_eq(seep_scannet_read(folder, "b", &scene, &err), -SEEP_EIO);
    ck_assert_ptr_nonnull(strstr(err.file, "b_vh_clean_2.ply"));
}

TEST(a_damaged_file_is_named)
{
    struct seep_scannet_scene *scene = NULL;
    struct seep_error err = {.text = ""};

    ck_assert_int_eq(seep_scannet_write_room(folder, "a", 50, 3, NULL), 0);
    ck_assert_int_eq(truncate(path_of("a_vh_clean_2.labels.ply"), 500), 0);
    ck_assert_int_eq(seep_scannet_read(folder, "a", &scene, &err), -SEEP_EFORMAT);
    ck_assert_str_eq(err.file, path_of("a_vh_clean_2.labels.ply"));
    ck_assert_str_ne(err.text, "");
}

TEST(the_other_name_of_the_aggregation_is_known)
{
    struct seep_scannet_scene *scene = NULL;
    char other[256];

    ck_assert_int_eq(seep_scannet_write_room(folder, "a", 500, 3, NULL), 0);
    strcpy(other, path_of("a_vh_clean.aggregation.json"));
    ck_assert_int_eq(rename(path_of("a.aggregation.json"), other), 0);
    ck_assert_int_eq(seep_scannet_read(folder, "a", &scene, NULL), 0);
    ck_assert_uint_eq(scene->n_instances, 10);
    seep_scannet_free(scene);
}

TEST(the_scenes_of_a_folder_are_listed_in_order)
{
    static const char *const expected[] = {"scene0000_00", "scene0000_01", "scene0001_00"};
    char **names = NULL;
    size_t n = 9;

    ck_assert_int_eq(seep_scannet_list(folder, &names, &n, NULL), 0);
    ck_assert_uint_eq(n, 0);
    free(names);
    for (int i = 2; i >= 0; i--)
        ck_assert_int_eq(seep_scannet_write_room(folder, expected[i], 9, 1, NULL), 0);
    ck_assert_int_eq(seep_scannet_list(folder, &names, &n, NULL), 0);
    ck_assert_uint_eq(n, 3);
    for (size_t i = 0; i < n; i++) {
        ck_assert_str_eq(names[i], expected[i]);
        free(names[i]);
    }
    free(names);
    ck_assert_int_eq(seep_scannet_list("/nonexistent", &names, &n, NULL), -SEEP_EIO);
}

TEST(a_room_that_cannot_be_is_refused)
{
    ck_assert_int_eq(seep_scannet_write_room(folder, "a", 0, 1, NULL), -SEEP_EINVAL);
    ck_assert_int_eq(seep_scannet_write_room(folder, "a", SIZE_MAX, 1, NULL), -SEEP_EINVAL);
    /* More than the reader's bounds leave room for. */
    ck_assert_int_eq(seep_scannet_write_room(folder, "a", (1 << 22) + 1, 1, NULL), -SEEP_EINVAL);
    ck_assert_int_eq(seep_scannet_write_room(folder, "\xff", 9, 1, NULL), -SEEP_EINVAL);
    ck_assert_int_eq(seep_scannet_write_room("/nonexistent", "a", 9, 1, NULL), -SEEP_EIO);
}

SUITE("scannet", .setup = set_up, .teardown = tear_down)
