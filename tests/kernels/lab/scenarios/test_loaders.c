/* The loaders of the lab's scenarios: PointGroup's batches, Mask R-CNN's annotations. */
#include "kernels/lab/scenario.h"
#include "kernels/lab/scenarios/maskrcnn_collate.h"
#include "kernels/lab/scenarios/pointgroup_batch.h"
#include "tests/suite.h"

#include <check.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SCENES = 8, ROOM_POINTS = 700, WIDTH = 24, HEIGHT = 16, PATH_BYTES = 256 };

static char folder[] = "/tmp/seep-test-loaders-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[PATH_BYTES];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void make_folder(void)
{
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void remove_folder(void)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- PointGroup ------------------------------------------------------------------------------ */

static struct seep_pointgroup_scenes scenes;
static struct seep_pointgroup_maker maker;

static void make_scenes(void)
{
    char name[32];

    make_folder();
    for (unsigned i = 0; i < SCENES; i++) {
        snprintf(name, sizeof name, "scene%04u_00", i);
        ck_assert_int_eq(seep_scannet_write_room(folder, name, ROOM_POINTS + i, i, NULL), 0);
    }
    ck_assert_int_eq(seep_pointgroup_scenes_open(folder, &scenes, NULL), 0);
    ck_assert_int_eq(seep_pointgroup_maker_init(&maker, &scenes, 0.01, 1), 0);
}

static void drop_scenes(void)
{
    seep_pointgroup_maker_fini(&maker);
    seep_pointgroup_scenes_close(&scenes);
    remove_folder();
}

static struct seep_pointgroup_batch make_batch(uint64_t task)
{
    struct seep_pointgroup_batch batch;

    ck_assert_int_eq(seep_pointgroup_make_batch(&maker, task, &batch, NULL), 0);
    return batch;
}

static void assert_same(const struct seep_pointgroup_batch *a,
                        const struct seep_pointgroup_batch *b)
{
    ck_assert_uint_eq(a->n_points, b->n_points);
    ck_assert_uint_eq(a->n_voxels, b->n_voxels);
    ck_assert_uint_eq(a->row, b->row);
    ck_assert_mem_eq(a->points.locs, b->points.locs, a->n_points * sizeof *a->points.locs);
    ck_assert_mem_eq(a->points.labels, b->points.labels, a->n_points * sizeof *a->points.labels);
    ck_assert_mem_eq(a->points.instances, b->points.instances,
                     a->n_points * sizeof *a->points.instances);
    ck_assert_mem_eq(a->points.xyz, b->points.xyz, a->n_points * sizeof *a->points.xyz);
    ck_assert_mem_eq(a->points.feats, b->points.feats, a->n_points * sizeof *a->points.feats);
    ck_assert_mem_eq(a->points.info, b->points.info, a->n_points * sizeof *a->points.info);
    ck_assert_mem_eq(a->points.voxel, b->points.voxel, a->n_points * sizeof *a->points.voxel);
    ck_assert_mem_eq(a->voxel_locs, b->voxel_locs, a->n_voxels * sizeof *a->voxel_locs);
    ck_assert_mem_eq(a->voxel_points, b->voxel_points,
                     a->n_voxels * a->row * sizeof *a->voxel_points);
}

TEST(a_batch_point_costs_112_bytes_and_a_voxel_its_padded_row)
{
    struct seep_pointgroup_batch batch = make_batch(0);

    ck_assert_uint_ge(batch.n_points, 4 * ROOM_POINTS);
    ck_assert_uint_eq(seep_pointgroup_batch_bytes(&batch),
                      batch.n_points * 112 + batch.n_voxels * (32 + 4 * batch.row));
    seep_pointgroup_batch_fini(&batch);
}

TEST(every_point_is_in_its_voxels_row_once)
{
    struct seep_pointgroup_batch batch = make_batch(0);
    unsigned char *seen = calloc(batch.n_points, 1);
    size_t widest = 0, n_seen = 0;

    for (size_t v = 0; v < batch.n_voxels; v++) {
        const int32_t *row = batch.voxel_points + v * batch.row;
        ck_assert_int_ge(row[0], 1);
        ck_assert_uint_lt((size_t)row[0], batch.row);
        widest = (size_t)row[0] > widest ? (size_t)row[0] : widest;
        for (int32_t k = 1; k <= row[0]; k++) {
            size_t p = (size_t)row[k];
            ck_assert_msg(p < batch.n_points && !seen[p]++, "point %zu twice", p);
            ck_assert_uint_eq((size_t)batch.points.voxel[p], v);
            ck_assert_mem_eq(batch.points.locs[p], batch.voxel_locs[v], sizeof *batch.voxel_locs);
            n_seen++;
        }
        for (size_t k = (size_t)row[0] + 1; k < batch.row; k++)
            ck_assert_int_eq(row[k], 0);
    }
    ck_assert_uint_eq(n_seen, batch.n_points);
    ck_assert_uint_eq(batch.row, widest + 1);
    free(seen);
    seep_pointgroup_batch_fini(&batch);
}

TEST(instances_of_different_scenes_stay_apart_and_know_their_extent)
{
    struct seep_pointgroup_batch batch = make_batch(0);
    const struct seep_pointgroup_points *p = &batch.points;
    int64_t scene_of[4 * ROOM_POINTS];
    size_t n_instances = 0;

    for (size_t i = 0; i < 4 * ROOM_POINTS; i++)
        scene_of[i] = -1;
    for (size_t i = 0; i < batch.n_points; i++) {
        if (p->instances[i] < 0)
            continue;
        ck_assert_int_lt(p->instances[i], 4 * ROOM_POINTS);
        int64_t *scene = &scene_of[p->instances[i]];
        n_instances += *scene < 0;
        ck_assert(*scene < 0 || *scene == p->locs[i][0]);
        *scene = p->locs[i][0];
        for (int k = 0; k < 3; k++) {
            ck_assert_float_ge(p->xyz[i][k], p->info[i][3 + k]);
            ck_assert_float_le(p->xyz[i][k], p->info[i][6 + k]);
            ck_assert_float_ge(p->info[i][k], p->info[i][3 + k] - 1e-3f);
            ck_assert_float_le(p->info[i][k], p->info[i][6 + k] + 1e-3f);
        }
    }
    ck_assert_uint_ge(n_instances, 8);
    seep_pointgroup_batch_fini(&batch);
}

TEST(a_batch_is_the_same_from_memory_from_disk_and_through_shared_memory)
{
    struct seep_pointgroup_batch read = make_batch(3), loaded, shared;
    struct seep_parcel parcel;

    ck_assert_int_eq(seep_pointgroup_scenes_load(&scenes, NULL), 0);
    loaded = make_batch(3);
    assert_same(&read, &loaded);
    ck_assert_int_eq(seep_pointgroup_batch_pack(&read, &parcel), 0);
    ck_assert_int_eq(seep_pointgroup_batch_unpack(&parcel, &shared), 0);
    assert_same(&read, &shared);
    ck_assert_uint_eq(shared.task, 3);
    parcel.n--;
    ck_assert_int_eq(seep_pointgroup_batch_unpack(&parcel, &shared), -SEEP_EFORMAT);
    parcel.n++;
    seep_parcel_drop(&parcel);
    seep_pointgroup_batch_fini(&read);
    seep_pointgroup_batch_fini(&loaded);
}

TEST(epochs_are_shuffled_anew)
{
    struct seep_pointgroup_batch one = make_batch(0), other = make_batch(maker.steps_per_epoch);

    ck_assert(one.n_points != other.n_points ||
              memcmp(one.points.xyz, other.points.xyz, one.n_points * sizeof *one.points.xyz) != 0);
    seep_pointgroup_batch_fini(&one);
    seep_pointgroup_batch_fini(&other);
}

TEST(large_scenes_are_cropped_in_the_batch)
{
    struct seep_pointgroup_scene scene;
    struct seep_pointgroup_piece piece;
    struct seep_chance chance = {1};

    ck_assert_int_eq(seep_pointgroup_read_scene(&scenes, 0, &scene, NULL), 0);
    for (size_t most = 0; most < ROOM_POINTS; most += 150) {
        ck_assert_int_eq(seep_pointgroup_collate_scene(&scene, 0, most, 0.2, &chance, &piece), 0);
        ck_assert_uint_le(piece.n, most);
        ck_assert_uint_ge(piece.n, most / 2);
        free(piece.block);
    }
    free(scene.points);
}

TEST(a_damaged_scene_is_an_error_that_names_its_file)
{
    struct seep_pointgroup_batch batch;
    struct seep_error err = {0};
    FILE *f;

    for (unsigned i = 0; i < SCENES; i++) {
        char name[64];
        snprintf(name, sizeof name, "scene%04u_00_vh_clean_2.ply", i);
        f = fopen(in_folder(name), "we");
        ck_assert_ptr_nonnull(f);
        fputs("ply\nformat ascii 1.0\nelement vertex 9\nend_header\n", f);
        fclose(f);
    }
    ck_assert_int_lt(seep_pointgroup_make_batch(&maker, 0, &batch, &err), 0);
    ck_assert_ptr_nonnull(strstr(err.file, "_vh_clean_2.ply"));
    ck_assert_str_ne(err.text, "");
}

TEST(a_folder_without_scenes_is_told)
{
    struct seep_pointgroup_scenes none;
    struct seep_error err = {0};

    mkdir(in_folder("empty"), 0777);
    ck_assert_int_lt(seep_pointgroup_scenes_open(in_folder("empty"), &none, &err), 0);
    ck_assert_str_ne(err.text, "");
}

/* ---- Mask R-CNN ------------------------------------------------------------------------------ */

static struct seep_maskrcnn_dataset dataset;
static struct seep_maskrcnn_loader loader;

/* Two pictures: the first with a triangle and a square, which are drawn as there are no PNGs; the
 * second with nothing. */
static void make_annotations(void)
{
    uint8_t pixels[WIDTH * HEIGHT * 3] = {0};
    struct seep_image picture = {WIDTH, HEIGHT, 3, pixels};
    double triangle[][2] = {{0, 0}, {12, 0}, {0, 12}},
           square[][2] = {{4, 4}, {8, 4}, {8, 8}, {4, 8}};
    struct seep_coco_image images[] = {{1, WIDTH, HEIGHT, (char[]){"a.jpg"}},
                                       {2, WIDTH, HEIGHT, (char[]){"b.jpg"}}};
    struct seep_coco_annotation annotations[] = {
        {.id = 5, .image_id = 1, .category_id = 3, .area = 72, .n_rings = 1, .xy = triangle},
        {.id = 4, .image_id = 1, .category_id = 9, .area = 16, .n_rings = 1, .xy = square},
    };
    struct seep_coco coco = {images, annotations, 2, 2};

    annotations[0].ring_starts = (size_t[]){0, 3};
    annotations[1].ring_starts = (size_t[]){0, 4};
    make_folder();
    mkdir(in_folder("images"), 0777);
    ck_assert_int_eq(seep_image_write_jpeg(in_folder("images/a.jpg"), &picture, 90, NULL), 0);
    ck_assert_int_eq(seep_image_write_jpeg(in_folder("images/b.jpg"), &picture, 90, NULL), 0);
    ck_assert_int_eq(seep_coco_write(in_folder("annotations.json"), &coco, false, NULL), 0);
    ck_assert_int_eq(seep_maskrcnn_dataset_open(folder, &dataset, NULL), 0);
    loader = (struct seep_maskrcnn_loader){.dataset = &dataset};
}

static void drop_annotations(void)
{
    seep_maskrcnn_dataset_close(&dataset);
    remove_folder();
}

static struct seep_maskrcnn_sample use(size_t i)
{
    struct seep_maskrcnn_sample sample;

    ck_assert_int_eq(seep_maskrcnn_getitem(&loader, i, &sample, NULL), 0);
    ck_assert_int_eq(seep_maskrcnn_collate(&loader, &sample, 1, NULL), 0);
    return sample;
}

TEST(masks_are_ones_where_the_polygons_are, .setup = make_annotations, .teardown = drop_annotations)
{
    struct seep_maskrcnn_sample sample = use(0);
    const struct seep_target_value *masks = sample.target->of[SEEP_TARGET_MASKS];
    size_t ones[2] = {0};

    ck_assert_uint_eq(masks->n_bytes, 2 * WIDTH * HEIGHT);
    for (size_t i = 0; i < masks->n_bytes; i++) {
        uint8_t at = ((uint8_t *)masks->bytes)[i];
        ck_assert_uint_le(at, 1);
        ones[i / (WIDTH * HEIGHT)] += at;
    }
    /* By their ids: the square (4) comes before the triangle (5). */
    ck_assert_uint_ge(ones[0], 16);
    ck_assert_uint_le(ones[0], 25);
    ck_assert_uint_ge(ones[1], 60);
    ck_assert_uint_le(ones[1], 91);
    seep_maskrcnn_sample_fini(&sample);
}

TEST(without_a_copy_the_data_set_comes_to_own_the_masks, .setup = make_annotations,
     .teardown = drop_annotations)
{
    struct seep_maskrcnn_sample sample = use(0);

    seep_maskrcnn_sample_fini(&sample);
    ck_assert_uint_eq(dataset.cache[0]->of[SEEP_TARGET_MASKS]->n_bytes, 2 * WIDTH * HEIGHT);
    /* A second epoch puts others in their place. */
    const void *before = dataset.cache[0]->of[SEEP_TARGET_MASKS];
    sample = use(0);
    ck_assert_ptr_ne(dataset.cache[0]->of[SEEP_TARGET_MASKS], before);
    ck_assert_uint_eq(dataset.cache[0]->of[SEEP_TARGET_MASKS]->source->n_owners, 1);
    seep_maskrcnn_sample_fini(&sample);
}

TEST(a_copy_of_either_kind_leaves_the_data_set_as_it_was, .to = 2, .setup = make_annotations,
     .teardown = drop_annotations)
{
    const struct seep_target_value *before = dataset.cache[0]->of[SEEP_TARGET_MASKS];

    loader.copies = _i ? seep_target_deepcopy : seep_target_copy;
    for (int epoch = 0; epoch < 3; epoch++) {
        struct seep_maskrcnn_sample sample = use(0);
        ck_assert_ptr_ne(sample.target->of[SEEP_TARGET_MASKS], before);
        ck_assert_ptr_eq(dataset.cache[0]->of[SEEP_TARGET_MASKS], before);
        seep_maskrcnn_sample_fini(&sample);
    }
    ck_assert_uint_eq(before->n_owners, 1);
    ck_assert_uint_eq(before->n_bytes, 2 * sizeof(struct seep_maskrcnn_source));
}

TEST(deleting_the_masks_of_the_cached_annotation_breaks_the_second_epoch, .setup = make_annotations,
     .teardown = drop_annotations)
{
    struct seep_maskrcnn_sample sample = use(0);
    struct seep_error err = {0};

    seep_target_set(sample.target, SEEP_TARGET_MASKS, NULL);
    seep_maskrcnn_sample_fini(&sample);
    ck_assert_int_eq(seep_maskrcnn_getitem(&loader, 0, &sample, NULL), 0);
    ck_assert_int_eq(seep_maskrcnn_collate(&loader, &sample, 1, &err), -SEEP_EVARIANT);
    ck_assert_ptr_nonnull(strstr(err.text, "KeyError"));
    seep_maskrcnn_sample_fini(&sample);
}

/* _to_device() writes into the dictionary that it was given. */
TEST(masks_moved_to_a_gpu_are_the_cached_annotations_unless_it_was_copied, .to = 2,
     .setup = make_annotations, .teardown = drop_annotations)
{
    const struct seep_cached_gpu_kind kind = {.device = SEEP_DEVICE_CPU};
    struct seep_cached_gpu gpu;

    ck_assert_int_eq(seep_cached_gpu_init(&gpu, &kind, NULL), 0);
    loader.copies = _i ? seep_target_deepcopy : NULL;
    for (int epoch = 0; epoch < 3; epoch++) {
        struct seep_maskrcnn_sample sample = use(0);
        struct seep_target_value *on_host = sample.target->of[SEEP_TARGET_MASKS], *moved;
        struct seep_caching_block *block;
        ck_assert_ptr_nonnull(on_host->bytes); /* made anew on the host, whatever was there */
        ck_assert_int_eq(seep_caching_alloc(gpu.allocator, on_host->n_bytes, &block), 0);
        ck_assert_int_eq(seep_target_value_to_gpu(on_host, &gpu, block, &moved), 0);
        ck_assert_ptr_null(moved->bytes);
        seep_target_set(sample.target, SEEP_TARGET_MASKS, moved);
        seep_maskrcnn_sample_fini(&sample);
        ck_assert_uint_eq(seep_caching_counts(gpu.allocator).live_bytes, _i ? 0 : 1024);
    }
    const struct seep_target *cached = dataset.cache[0];
    ck_assert(_i || cached->of[SEEP_TARGET_MASKS]->on_gpu != NULL);
    /* A deep copy of what is on a GPU has it in common. */
    struct seep_target *copy = seep_target_deepcopy(cached);
    ck_assert_ptr_nonnull(copy);
    ck_assert_ptr_eq(copy->of[SEEP_TARGET_MASKS]->on_gpu, cached->of[SEEP_TARGET_MASKS]->on_gpu);
    seep_target_free(copy);
    seep_maskrcnn_dataset_close(&dataset);
    dataset = (struct seep_maskrcnn_dataset){0};
    ck_assert_uint_eq(seep_caching_counts(gpu.allocator).live_bytes, 0);
    seep_cached_gpu_fini(&gpu);
}

TEST(a_picture_without_instances_has_no_masks, .setup = make_annotations,
     .teardown = drop_annotations)
{
    struct seep_maskrcnn_sample sample = use(1);

    ck_assert_uint_eq(sample.target->of[SEEP_TARGET_MASKS]->n_bytes, 0);
    seep_maskrcnn_sample_fini(&sample);
}

TEST(a_picture_of_another_size_than_its_annotations_is_refused, .setup = make_annotations,
     .teardown = drop_annotations)
{
    uint8_t pixels[9] = {0};
    struct seep_image picture = {3, 3, 1, pixels}, *read;
    struct seep_error err = {0};

    ck_assert_int_eq(seep_image_write_jpeg(in_folder("images/a.jpg"), &picture, 90, NULL), 0);
    ck_assert_int_eq(seep_maskrcnn_picture(&dataset, 0, &read, &err), -SEEP_EFORMAT);
    ck_assert_ptr_null(read);
    ck_assert_str_eq(err.text, "it is not 24x16, as its annotations say");
}

SUITE("loaders", .setup = make_scenes, .teardown = drop_scenes)
