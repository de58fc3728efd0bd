/* minkowski's training: which scenes come when, what is read of them, when the GPU is full, and
 * what that comes to over many seeds. */
#include "kernels/compute/chance.h"
#include "kernels/lab/scenarios/sparse_least_gpu.h"
#include "kernels/lab/scenarios/sparse_loader.h"
#include "kernels/lab/scenarios/sparse_survey.h"
#include "kernels/lab/scenarios/sparse_training.h"
#include "tests/suite.h"

#include <check.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- who sees what --------------------------------------------------------------------------- */

enum { N = 13 };

static void count(const struct seep_sparse_sampler *sampler, uint64_t epoch, unsigned times[N])
{
    uint32_t ids[N];
    size_t share = seep_sparse_sampler_share(sampler);

    ck_assert_uint_le(share, N);
    ck_assert_int_eq(seep_sparse_sampler_fill(sampler, epoch, ids), 0);
    for (size_t i = 0; i < share; i++) {
        ck_assert_uint_ge(ids[i], sampler->first);
        ck_assert_uint_lt(ids[i], sampler->first + N);
        times[ids[i] - sampler->first]++;
    }
}

TEST(the_ranks_see_all_scenes_between_them_and_as_many_each, .from = 1, .to = 5)
{
    unsigned times[N] = {0}, more = 0;

    for (unsigned rank = 0; rank < (unsigned)_i; rank++) {
        const struct seep_sparse_sampler sampler = {5, N, true, 3, rank, (unsigned)_i};
        ck_assert_uint_eq(seep_sparse_sampler_share(&sampler), (size_t)(N + _i - 1) / (size_t)_i);
        count(&sampler, 0, times);
    }
    for (int i = 0; i < N; i++) {
        ck_assert_uint_ge(times[i], 1);
        more += times[i] - 1;
    }
    ck_assert_uint_lt(more, (unsigned)_i); /* what makes the last round even */
}

TEST(each_epoch_has_an_order_of_its_own_and_a_validation_none)
{
    struct seep_sparse_sampler sampler = {0, N, true, 3, 0, 1};
    uint32_t first[N], again[N], second[N], plain[N];

    ck_assert_int_eq(seep_sparse_sampler_fill(&sampler, 0, first), 0);
    ck_assert_int_eq(seep_sparse_sampler_fill(&sampler, 0, again), 0);
    ck_assert_int_eq(seep_sparse_sampler_fill(&sampler, 1, second), 0);
    sampler.shuffles = false;
    ck_assert_int_eq(seep_sparse_sampler_fill(&sampler, 1, plain), 0);
    ck_assert_mem_eq(first, again, sizeof first);
    ck_assert_mem_ne(first, second, sizeof first);
    ck_assert_mem_ne(first, plain, sizeof first);
    for (uint32_t i = 0; i < N; i++)
        ck_assert_uint_eq(plain[i], i);
}

/* ---- what is read ---------------------------------------------------------------------------- */

static char folder[] = "/tmp/seep-test-sparse-XXXXXX";

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void make_folder(void)
{
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_room(unsigned i, size_t n_points)
{
    char name[32];

    snprintf(name, sizeof name, "scene%04u_00", i);
    ck_assert_int_eq(seep_scannet_write_room_of(folder, name, n_points, 0.3, i, NULL), 0);
}

static bool lies_before(const float a[4], const float b[4])
{
    for (int k = 0; k < 4; k++) {
        if (a[k] < b[k] || a[k] > b[k])
            return a[k] < b[k];
    }
    return false;
}

static int by_place(const void *a, const void *b)
{
    return lies_before(b, a) - lies_before(a, b);
}

TEST(a_batch_has_each_voxel_of_each_scene_once, .setup = make_folder, .teardown = remove_folder)
{
    enum { SCENES = 6 };
    const uint32_t ids[] = {4, 1, 4};
    struct seep_sparse_loader loader;
    struct seep_sparse_batch batch, alone;
    size_t sum = 0;

    for (unsigned i = 0; i < SCENES; i++)
        make_room(i, 3000 + 500 * i);
    ck_assert_int_eq(seep_sparse_loader_init(&loader, folder, 1, NULL), 0);
    ck_assert_int_eq(seep_sparse_loader_batch(&loader, ids, 3, &batch, NULL), 0);
    for (size_t s = 0; s < 3; s++) {
        ck_assert_int_eq(seep_sparse_loader_batch(&loader, &ids[s], 1, &alone, NULL), 0);
        ck_assert_mem_eq(batch.features + sum, alone.features, alone.n * sizeof *alone.features);
        for (size_t i = 0; i < alone.n; i++) {
            ck_assert_float_eq(batch.coordinates[sum + i][0], (float)s);
            ck_assert_mem_eq(batch.coordinates[sum + i] + 1, alone.coordinates[i] + 1,
                             3 * sizeof(float));
        }
        sum += alone.n;
        seep_sparse_batch_fini(&alone);
    }
    ck_assert_uint_eq(sum, batch.n);
    ck_assert_double_eq(batch.size.voxels, (double)batch.n); /* of full size */
    /* Surfaces quarter with the edge doubled, and no voxel is more than eight. */
    ck_assert_double_gt(batch.size.coarse, batch.size.voxels / 8);
    ck_assert_double_lt(batch.size.coarse, batch.size.voxels / 2);
    qsort(batch.coordinates, batch.n, sizeof *batch.coordinates, by_place);
    for (size_t i = 1; i < batch.n; i++)
        ck_assert(lies_before(batch.coordinates[i - 1], batch.coordinates[i]));
    seep_sparse_batch_fini(&batch);
    seep_sparse_loader_fini(&loader);
}

TEST(what_a_batch_comes_to_is_known_without_making_it, .setup = make_folder,
     .teardown = remove_folder)
{
    enum { SCENES = 6 };
    const uint32_t ids[] = {4, 1, 4};
    struct seep_sparse_size sizes[SCENES];
    struct seep_sparse_loader loader;
    struct seep_sparse_batch batch;

    for (unsigned i = 0; i < SCENES; i++)
        make_room(i, 3000 + 500 * i);
    ck_assert_int_eq(seep_sparse_loader_init(&loader, folder, 0.003, NULL), 0);
    ck_assert_int_eq(seep_sparse_loader_sizes(&loader, sizes, NULL), 0);
    ck_assert_int_eq(seep_sparse_loader_batch(&loader, ids, 3, &batch, NULL), 0);
    struct seep_sparse_size sum = seep_sparse_loader_sum(&loader, sizes, ids, 3);
    ck_assert_mem_eq(&sum, &batch.size, sizeof sum);
    seep_sparse_batch_fini(&batch);
    seep_sparse_loader_fini(&loader);
}

TEST(a_scene_that_cannot_be_read_is_named, .setup = make_folder, .teardown = remove_folder)
{
    struct seep_error err = {.text = ""};
    struct seep_sparse_loader loader;
    struct seep_sparse_batch batch;
    const uint32_t ids[] = {0, 5};
    char path[128];

    for (unsigned i = 0; i < 6; i++)
        make_room(i, 100);
    snprintf(path, sizeof path, "%s/scene0005_00_vh_clean_2.ply", folder);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs("ply\n", f);
    fclose(f);
    ck_assert_int_eq(seep_sparse_loader_init(&loader, folder, 1, NULL), 0);
    ck_assert_int_eq(seep_sparse_loader_batch(&loader, ids, 2, &batch, &err), -SEEP_EFORMAT);
    ck_assert_ptr_nonnull(strstr(err.file, "scene0005_00_vh_clean_2.ply"));
    seep_sparse_loader_fini(&loader);
}

/* The survey draws scenes instead of reading them: as they would be. */
TEST(drawn_scenes_are_as_made_up_ones, .setup = make_folder, .teardown = remove_folder)
{
    const struct seep_sparse_scenes *made = &seep_sparse_made_up;
    double sum = 0, coarse = 0, logs[2] = {0}, squares[2] = {0};
    struct seep_sparse_loader loader;

    ck_assert_int_eq(seep_pointgroup_make_rooms(folder, 0.002, 1, NULL), 0);
    ck_assert_int_eq(seep_sparse_loader_init(&loader, folder, 0.002, NULL), 0);
    double n = (double)loader.scenes.n;
    for (uint32_t i = 0; i < loader.scenes.n; i++) {
        struct seep_sparse_batch scene;
        ck_assert_int_eq(seep_sparse_loader_batch(&loader, &i, 1, &scene, NULL), 0);
        double l[2] = {log(scene.size.voxels), log(scene.size.coarse / scene.size.voxels)};
        for (int k = 0; k < 2; k++) {
            logs[k] += l[k];
            squares[k] += l[k] * l[k];
        }
        sum += scene.size.voxels;
        coarse += scene.size.coarse;
        seep_sparse_batch_fini(&scene);
    }
    seep_sparse_loader_fini(&loader);
    ck_assert_double_eq_tol(sum / n / made->voxels, 1, 0.03);
    ck_assert_double_eq_tol(coarse / sum / made->coarse, 1, 0.03);
    ck_assert_double_eq_tol(sqrt(squares[0] / n - logs[0] * logs[0] / n / n) / made->spread, 1,
                            0.1);
    ck_assert_double_eq_tol(sqrt(squares[1] / n - logs[1] * logs[1] / n / n) / made->coarse_scatter,
                            1, 0.1);
}

/* ---- training -------------------------------------------------------------------------------- */

struct log { /* what was asked for */
    size_t loads, scenes, steps, passes, largest;
    double voxels; /* of a scene */
};

static int load(void *context, const uint32_t *ids, size_t n, struct seep_sparse_size *size,
                struct seep_error *err)
{
    struct log *log = context;

    (void)ids, (void)err;
    log->loads++;
    log->scenes += n;
    log->largest = n > log->largest ? n : log->largest;
    *size = (struct seep_sparse_size){log->voxels * (double)n, log->voxels * (double)n / 4};
    return 0;
}

static void stepped(void *context)
{
    ((struct log *)context)->steps++;
}

static void passed(void *context)
{
    ((struct log *)context)->passes++;
}

static struct seep_sparse_plan plan_for(struct log *log, size_t capacity)
{
    return (struct seep_sparse_plan){.gpu = {.capacity_bytes = capacity, .is_silent = true},
                                     .train = {.n = 25, .shuffles = true, .ranks = 1},
                                     .validation = {.first = 25, .n = 13, .ranks = 1},
                                     .n_steps = 7,
                                     .load = load,
                                     .stepped = stepped,
                                     .passed = passed,
                                     .context = log};
}

TEST(an_epoch_is_batches_of_12_and_a_validation_of_6s)
{
    struct log log = {.voxels = 1000};
    struct seep_sparse_plan plan = plan_for(&log, (size_t)1 << 30);
    struct seep_sparse_outcome o;

    ck_assert_uint_eq(seep_sparse_steps_per_epoch(&plan), 3); /* 12, 12, 1 */
    ck_assert_int_eq(seep_sparse_training_run(&plan, &o, NULL), 0);
    ck_assert(!o.is_full);
    ck_assert_uint_eq(o.steps, 7);
    ck_assert_uint_eq(log.steps, 7);
    ck_assert_uint_eq(o.scenes, 25 + 25 + 12);
    ck_assert_uint_eq(o.validation_steps, 6); /* of 6, 6, 1 scenes, twice */
    ck_assert_uint_eq(log.scenes, 25 + 13 + 25 + 13 + 12);
    ck_assert_uint_eq(log.passes, 2); /* the third epoch is cut off */
    ck_assert_uint_eq(log.largest, SEEP_SPARSE_BATCH);
}

TEST(a_step_that_is_too_large_by_itself_is_told_from_one_that_is_not)
{
    struct log log = {.voxels = 1e5};
    struct seep_sparse_plan plan = plan_for(&log, (size_t)500 << 20);
    struct seep_error err = {.text = ""};
    struct seep_sparse_outcome o;

    ck_assert_int_eq(seep_sparse_training_run(&plan, &o, &err), 0);
    ck_assert(o.is_full && !o.fits_alone);
    ck_assert_uint_eq(o.steps, 0);
    ck_assert_ptr_nonnull(strstr(err.text, "CUDA out of memory. Tried to allocate "));
    ck_assert_ptr_nonnull(strstr(err.text, "total capacity of 500 MiB"));
    ck_assert_ptr_nonnull(strstr(err.text, "reserved by PyTorch but unallocated"));
}

/* ---- the smallest GPU ------------------------------------------------------------------------ */

/* Scenes of ever other sizes. */
static int load_drawn(void *context, const uint32_t *ids, size_t n, struct seep_sparse_size *size,
                      struct seep_error *err)
{
    const struct seep_sparse_scenes *made = &seep_sparse_made_up;
    const uint64_t *seed = context;

    (void)err;
    *size = (struct seep_sparse_size){0};
    for (size_t i = 0; i < n; i++) {
        struct seep_chance chance = seep_chance_of(*seed, ids[i]);
        double voxels = made->voxels * exp(made->spread * seep_chance_normal(&chance));
        size->voxels += voxels;
        size->coarse += made->coarse * voxels;
    }
    return 0;
}

/* The rows of single runs hold with every seed because of this. */
TEST(on_the_smallest_gpu_growing_segments_last_and_others_do_not, .from = 1, .to = 13)
{
    uint64_t seed = (uint64_t)_i;
    struct seep_sparse_plan plan = {.train = {.n = 241, .shuffles = true, .seed = seed, .ranks = 1},
                                    .validation = {.first = 241, .n = 62, .ranks = 1},
                                    .n_steps = SEEP_SPARSE_STEPS,
                                    .load = load_drawn,
                                    .context = &seed};
    struct seep_sparse_outcome o;
    struct seep_error err = {.text = ""};
    struct seep_sparse_size largest;
    size_t bytes;

    ck_assert_int_eq(seep_sparse_least_gpu(&plan, 1, &bytes, &largest, &err), 0);
    plan.gpu.capacity_bytes = bytes;
    plan.gpu.is_silent = true;
    plan.cure.expandable = true;
    ck_assert_int_eq(seep_sparse_training_run(&plan, &o, &err), 0);
    ck_assert(!o.is_full);
    ck_assert_double_gt((double)bytes, o.largest_bytes);
    ck_assert_double_lt((double)bytes, 1.25 * o.largest_bytes);
    plan.cure.expandable = false;
    ck_assert_int_eq(seep_sparse_training_run(&plan, &o, &err), 0);
    ck_assert(o.is_full && o.fits_alone);
}

/* PyTorch's advice for inputs of ever other lengths. */
TEST(after_the_largest_batch_the_cache_grows_no_more, .from = 1, .to = 13)
{
    uint64_t seed = (uint64_t)_i;
    struct seep_sparse_plan plan = {.gpu = {.is_silent = true},
                                    .train = {.n = 241, .shuffles = true, .seed = seed, .ranks = 1},
                                    .validation = {.first = 241, .n = 62, .ranks = 1},
                                    .n_steps = SEEP_SPARSE_STEPS,
                                    .load = load_drawn,
                                    .context = &seed};
    struct seep_sparse_outcome any, largest_first, at_once;
    struct seep_error err = {.text = ""};
    size_t bytes;

    ck_assert_int_eq(seep_sparse_least_gpu(&plan, 1, &bytes, &plan.first, &err), 0);
    ck_assert_int_eq(seep_sparse_training_run(&plan, &largest_first, &err), 0);
    plan.n_steps = 1;
    ck_assert_int_eq(seep_sparse_training_run(&plan, &at_once, &err), 0);
    plan.n_steps = SEEP_SPARSE_STEPS;
    plan.first = (struct seep_sparse_size){0};
    ck_assert_int_eq(seep_sparse_training_run(&plan, &any, &err), 0);
    ck_assert_uint_eq(largest_first.steps, SEEP_SPARSE_STEPS);
    ck_assert_double_lt((double)largest_first.counts.reserved_bytes,
                        1.03 * (double)at_once.counts.reserved_bytes);
    ck_assert_double_gt((double)any.counts.reserved_bytes,
                        1.5 * (double)largest_first.counts.reserved_bytes);
}

TEST(the_smallest_gpu_is_enough_for_each_rank)
{
    uint64_t seed = 3;
    struct seep_sparse_plan plans[2];
    struct seep_sparse_size largest;
    size_t alone[2], both;

    for (unsigned r = 0; r < 2; r++) {
        plans[r] = (struct seep_sparse_plan){
            .train = {.n = 241, .shuffles = true, .seed = seed, .rank = r, .ranks = 2},
            .validation = {.first = 241, .n = 62, .rank = r, .ranks = 2},
            .n_steps = 300,
            .load = load_drawn,
            .context = &seed};
        ck_assert_int_eq(seep_sparse_least_gpu(&plans[r], 1, &alone[r], &largest, NULL), 0);
    }
    ck_assert_int_eq(seep_sparse_least_gpu(plans, 2, &both, &largest, NULL), 0);
    for (unsigned r = 0; r < 2; r++) {
        struct seep_sparse_outcome o;
        ck_assert_double_gt((double)both, 0.97 * (double)alone[r]);
        plans[r].gpu.capacity_bytes = both;
        plans[r].gpu.is_silent = true;
        plans[r].cure.expandable = true;
        ck_assert_int_eq(seep_sparse_training_run(&plans[r], &o, NULL), 0);
        ck_assert(!o.is_full);
    }
}

/* ---- many seeds ------------------------------------------------------------------------------ */

static void survey(struct seep_sparse_cure cure, double share, struct seep_sparse_survey *out)
{
    struct seep_error err = {.text = ""};
    size_t bytes = (size_t)(share * (double)seep_sparse_capacity_bytes);

    ck_assert_int_eq(seep_sparse_survey_run(&cure, bytes, out, &err), 0);
}

/* The claim of the document, of its fix, and what that is worth where the GPU is a little smaller.
 */
TEST(steps_that_fit_run_out_of_memory_unless_the_cache_is_cured)
{
    struct seep_sparse_survey none, expandable, every_step;

    survey((struct seep_sparse_cure){0}, 1, &none);
    survey((struct seep_sparse_cure){.expandable = true}, 1, &expandable);
    survey((struct seep_sparse_cure){.empty_every = 1}, 0.9, &every_step);
    ck_assert_uint_ge(none.full, 18);
    ck_assert_uint_eq(none.fit_alone, none.full);
    ck_assert_uint_le(none.median, 1000);
    ck_assert_uint_le(none.fewest, none.median);
    ck_assert_uint_ge(none.most, none.median);
    ck_assert_uint_le(expandable.full, 2);
    ck_assert_uint_ge(every_step.full, 15);
}

TEST(the_rows_of_the_survey_hold)
{
    struct seep_rows rows = {.scenario = "minkowski", .rows = json_array()};

    seep_sparse_survey_judge(&rows);
    char *text = json_dumps(rows.rows, JSON_INDENT(1));
    ck_assert_msg(rows.n_failed == 0, "%s", text);
    ck_assert_uint_eq(json_array_size(rows.rows), 6);
    free(text);
    json_decref(rows.rows);
}

SUITE("sparse_training")
