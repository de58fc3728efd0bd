/* `seep-lab bench`: the kernels, and a copy in memory beside them. */
#include "kernels/harness/copy_bench.h"
#include "kernels/harness/lab.h"
#include "kernels/harness/table.h"
#include "kernels/splat/splat_bench.h"
#include "kernels/voxels/voxel_bench.h"

#include <stdio.h>
#include <string.h>

typedef int bench_fn(json_t *results, const char *data, struct seep_stream *stream);

static const struct {
    const char *name;
    bench_fn *run;
} benches[] = {
    {"copy", seep_copy_bench},
    {"voxels", seep_voxel_bench},
    {"splat", seep_splat_bench},
};

static bool is_chosen(const struct seep_lab_arguments *a, const char *name)
{
    bool chosen = a->n_words == 0;

    for (int i = 0; i < a->n_words; i++)
        chosen |= strcmp(a->words[i], name) == 0;
    return chosen;
}

static bool are_benches(const struct seep_lab_arguments *a)
{
    for (int i = 0; i < a->n_words; i++) {
        bool known = false;
        for (size_t b = 0; b < sizeof benches / sizeof *benches; b++)
            known |= strcmp(a->words[i], benches[b].name) == 0;
        if (!known) {
            seep_lab_complain("there is no bench %s: see `seep-lab --help`", a->words[i]);
            return false;
        }
    }
    return true;
}

static int run_benches(const struct seep_lab_arguments *a, struct seep_stream *stream, json_t *all)
{
    for (size_t b = 0; b < sizeof benches / sizeof *benches; b++) {
        json_t *results = json_array();
        if (!is_chosen(a, benches[b].name)) {
            json_decref(results);
            continue;
        }
        seep_lab_progress("%s …", benches[b].name);
        int rc = benches[b].run(results, a->data, stream);
        seep_lab_progress(NULL);
        json_object_set_new(all, benches[b].name, results);
        if (rc) {
            seep_lab_complain("bench %s: %s: check --data and free memory", benches[b].name,
                              seep_error_name(rc));
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
    json_object_foreach((json_t *)all, name, results)
    {
        printf("== %s\n", name);
        seep_table_print(results, stdout);
    }
}

int seep_lab_bench_main(int argc, char **argv)
{
    struct seep_lab_arguments a;
    struct seep_error err = {0};
    struct seep_stream *stream = NULL;
    int status = seep_lab_read_arguments(argc, argv, "dDfj", &a);

    if (status >= 0)
        return status;
    if (!are_benches(&a))
        return SEEP_LAB_UNUSABLE;
    int rc = a.device == SEEP_DEVICE_CUDA ? seep_stream_create_cuda(0, &stream, &err)
                                          : seep_stream_create_cpu(0, &stream);
    if (rc) {
        seep_lab_complain_error(rc, &err, "leave --device away to run on the CPU");
        return SEEP_LAB_UNUSABLE;
    }
    json_t *all = json_object();
    rc = run_benches(&a, stream, all);
    if (!rc)
        print(&a, all);
    json_decref(all);
    seep_stream_destroy(stream);
    return rc || fflush(stdout) || ferror(stdout) ? SEEP_LAB_UNUSABLE : 0;
}
