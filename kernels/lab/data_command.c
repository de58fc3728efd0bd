/* `seep-lab make-data KIND DIR`: a scenario's input, or a scene in a format, to keep. */
#include "kernels/lab/data_kinds.h"
#include "kernels/lab/lab.h"

#include <stdio.h>
#include <string.h>

typedef int maker(const char *folder, double scale, uint64_t seed, struct seep_error *err);

static maker *find_maker(const char *kind)
{
    const struct seep_scenario *scenario = seep_lab_find_scenario(kind);

    for (const struct seep_data_kind *k = seep_data_kinds; k->name && !scenario; k++) {
        if (strcmp(k->name, kind) == 0)
            return k->make;
    }
    return scenario ? scenario->make_data : NULL;
}

int seep_lab_data_main(int argc, char **argv)
{
    struct seep_lab_arguments a;
    struct seep_error err = {0};
    int status = seep_lab_read_arguments(argc, argv, "sS", &a);

    if (status >= 0)
        return status;
    if (a.n_words != 2) {
        seep_lab_complain("make-data takes a kind and a folder: `seep-lab make-data "
                          "pointgroup DIR`");
        return SEEP_LAB_UNUSABLE;
    }
    maker *make = find_maker(a.words[0]);
    if (!make) {
        seep_lab_complain("unknown kind %s: `seep-lab --help` lists the kinds", a.words[0]);
        return SEEP_LAB_UNUSABLE;
    }
    int rc = seep_lab_make_folder(a.words[1], &err);
    if (!rc && !seep_lab_is_empty(a.words[1]))
        rc = seep_error_set(&err, SEEP_EIO, a.words[1], 0, "not an empty folder");
    if (!rc) {
        seep_lab_progress("making %s …", a.words[0]);
        rc = make(a.words[1], a.scale, a.seed, &err);
        seep_lab_progress(NULL);
    }
    if (!rc)
        return 0;
    seep_lab_complain_error(rc, &err, "give an empty or new folder on a disk with free space");
    return SEEP_LAB_UNUSABLE;
}
