/* `seep-lab bench`: the kernels, and a copy in memory for comparison. */
#include "kernels/lab/copy_bench.h"
#include "kernels/lab/lab.h"
#include "kernels/lab/scenarios/sparse_survey.h"
#include "kernels/lab/table.h"
#include "kernels/splat/splat_bench.h"
#include "kernels/voxels/voxel_bench.h"
#include "kernels/voxels/voxel_inputs.h"
#include "kernels/voxels/voxel_race.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef int bench_fn(json_t *results, const char *data, struct seep_stream *stream,
                     struct seep_error *err);
typedef int survey_fn(json_t *results, uint64_t capacity_bytes, struct seep_error *err);

static const struct bench {
    const char *name;
    const char *table; /* what its results are called: a bench may have several */
    bench_fn *run;     /* what is timed … */
    survey_fn *survey; /* … or counted, on a GPU of that size */
    const char *file;  /* that it looks for in the data folder, or NULL */
} benches[] = {
    {"copy", "copy", seep_copy_bench, NULL, NULL},
    {"voxels", "voxels", seep_voxel_bench, NULL, SEEP_VOXEL_SWEEP_FILE},
    {"voxels", "voxels, one thread", seep_voxel_race_one, NULL, SEEP_VOXEL_SWEEP_FILE},
    {"voxels", "voxels, all threads", seep_voxel_race_all, NULL, SEEP_VOXEL_SWEEP_FILE},
    {"splat", "splat", seep_splat_bench, NULL, SEEP_SPLAT_BENCH_FILE},
    {"minkowski", "minkowski", NULL, seep_sparse_survey_bench, NULL},
};

/* --capacity is for what is counted: it must be all that is named. */
static bool takes_capacity(const struct seep_lab_arguments *a)
{
    for (size_t i = 0; a->capacity && i < sizeof benches / sizeof *benches; i++) {
        if (seep_lab_is_chosen(a, benches[i].name) && !benches[i].survey) {
            seep_lab_complain("bench %s has no GPU that can be full: omit --capacity",
                              benches[i].name);
            return false;
        }
    }
    return true;
}

static bool are_benches(const struct seep_lab_arguments *a)
{
    for (int i = 0; i < a->n_words; i++) {
        bool known = false;
        for (size_t b = 0; b < sizeof benches / sizeof *benches; b++)
            known |= strcmp(a->words[i], benches[b].name) == 0;
        if (!known) {
            seep_lab_complain("unknown benchmark %s: see `seep-lab --help`", a->words[i]);
            return false;
        }
    }
    return true;
}

/* The folder, or NULL where it has nothing for this bench, which then uses made-up input. */
static const char *data_for(const struct bench *b, const char *folder)
{
    char path[PATH_MAX];

    if (!folder || !b->file)
        return NULL;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, b->file) >= sizeof path ||
        access(path, F_OK) == 0)
        return folder;
    if (strcmp(b->name, b->table) == 0)
        seep_lab_complain("%s does not exist: %s is timed on generated inputs only", path, b->name);
    return NULL;
}

static int run_benches(const struct seep_lab_arguments *a, struct seep_stream *stream, json_t *all)
{
    for (size_t i = 0; i < sizeof benches / sizeof *benches; i++) {
        const struct bench *b = &benches[i];
        struct seep_error err = {0};
        if (!seep_lab_is_chosen(a, b->name))
            continue;
        const char *data = data_for(b, a->data);
        json_t *results = json_array();
        seep_lab_progress("%s …", b->table);
        int rc =
            b->survey ? b->survey(results, a->capacity, &err) : b->run(results, data, stream, &err);
        seep_lab_progress(NULL);
        json_object_set_new(all, b->table, results);
        if (rc) {
            (void)seep_error_set(&err, -rc, "", 0, "bench %s: %s", b->name, seep_error_name(rc));
            seep_lab_complain_error(rc, &err, "check --data and free memory");
            return rc;
        }
    }
    return 0;
}

static void print(const struct seep_lab_arguments *a, const json_t *all)
{
    const char *name;
    json_t *results;

    if (a->json) {
        json_dumpf(all, stdout, JSON_INDENT(1));
        putchar('\n');
        return;
    }
    json_object_foreach ((json_t *)all, name, results) {
        printf("== %s\n", name);
        seep_table_print(results, stdout);
    }
}

int seep_lab_bench_main(int argc, char **argv)
{
    struct seep_lab_arguments a;
    struct seep_error err = {0};
    struct seep_stream *stream = NULL;
    int status = seep_lab_read_arguments(argc, argv, "dDcfj", &a);

    if (status >= 0)
        return status;
    if (!are_benches(&a) || !takes_capacity(&a))
        return SEEP_LAB_UNUSABLE;
    if (a.data && access(a.data, R_OK | X_OK)) {
        seep_lab_complain("%s is not a readable folder: check --data", a.data);
        return SEEP_LAB_UNUSABLE;
    }
    int rc = a.device == SEEP_DEVICE_CUDA ? seep_stream_create_cuda(0, &stream, &err)
                                          : seep_stream_create_cpu(0, &stream);
    if (rc) {
        seep_lab_complain_error(rc, &err, "omit --device to run on the CPU");
        return SEEP_LAB_UNUSABLE;
    }
    json_t *all = json_object();
    rc = run_benches(&a, stream, all);
    if (json_object_size(all))
        print(&a, all); /* includes the partial results of a bench that failed */
    json_decref(all);
    seep_stream_destroy(stream);
    return rc || fflush(stdout) || ferror(stdout) ? SEEP_LAB_UNUSABLE : 0;
}
