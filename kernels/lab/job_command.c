/* `seep-lab job`: one variant in this process; `run` and `verify` start it under seep. */
#include "kernels/lab/lab.h"

#include <unistd.h>

static int write_measured(const json_t *measured, const char *file)
{
    if (!file || json_dump_file(measured, file, JSON_INDENT(1) | JSON_SORT_KEYS) == 0)
        return 0;
    seep_lab_complain("cannot write %s: check the folder and its free space", file);
    return SEEP_LAB_UNUSABLE;
}

int seep_lab_job_main(int argc, char **argv)
{
    struct seep_lab_arguments a;
    struct seep_error err = {0};
    const struct seep_scenario *scenario;
    const struct seep_variant *variant;
    int status = seep_lab_read_arguments(argc, argv, "vdsDSecpiam", &a);

    if (status >= 0)
        return status;
    if (!seep_lab_take_variant(argv[0], &a, &scenario, &variant))
        return SEEP_LAB_UNUSABLE;
    if (!a.data && scenario->make_data) {
        seep_lab_complain(
            "%s needs its input: make it with `seep-lab make-data` and add --data DIR",
            scenario->name);
        return SEEP_LAB_UNUSABLE;
    }
    struct seep_scenario_options options = {.variant = variant->name,
                                            .device = a.device,
                                            .scale = a.scale,
                                            .data = a.data ? a.data : ".",
                                            .images = a.images,
                                            .out = a.pictures,
                                            .save = a.save,
                                            .seed = a.seed,
                                            .epochs = a.epochs,
                                            .capacity_bytes = a.capacity,
                                            .progress = isatty(STDERR_FILENO)};
    json_t *measured = json_object();
    int rc = measured ? scenario->run(&options, measured, &err) : -SEEP_ENOMEM;
    if (rc) {
        seep_lab_complain_error(rc, &err, seep_lab_advice(rc));
        /* Any other failure (damaged input, no memory, no device) says nothing about the
         * variant. */
        status = rc == -SEEP_EVARIANT ? SEEP_LAB_UNEXPECTED : SEEP_LAB_UNUSABLE;
    } else {
        status = 0;
    }
    if (status != SEEP_LAB_UNUSABLE && write_measured(measured, a.measured))
        status = SEEP_LAB_UNUSABLE;
    json_decref(measured);
    return status;
}
