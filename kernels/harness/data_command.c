/* `seep-lab make-data KIND DIR`: a scenario's input, to keep. */
#include "kernels/harness/lab.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static bool is_empty(const char *folder)
{
    DIR *dir = opendir(folder);
    bool empty = dir != NULL;

    for (struct dirent *e; dir && (e = readdir(dir));)
        empty &= strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    if (dir)
        closedir(dir);
    return empty;
}

int seep_lab_data_main(int argc, char **argv)
{
    struct seep_lab_arguments a;
    struct seep_error err = {0};
    int status = seep_lab_read_arguments(argc, argv, "sS", &a);

    if (status >= 0)
        return status;
    if (a.n_words != 2) {
        seep_lab_complain("make-data takes a scenario and a folder: `seep-lab make-data "
                          "pointgroup DIR`");
        return SEEP_LAB_UNUSABLE;
    }
    const struct seep_scenario *scenario = seep_lab_find_scenario(a.words[0]);
    if (!scenario || !scenario->make_data) {
        seep_lab_complain("%s is %s: `seep-lab list` names the scenarios", a.words[0],
                          scenario ? "a scenario without input" : "no scenario");
        return SEEP_LAB_UNUSABLE;
    }
    int rc = seep_lab_make_folder(a.words[1], &err);
    if (!rc && !is_empty(a.words[1]))
        rc = seep_error_set(&err, SEEP_EIO, a.words[1], 0, "not an empty folder");
    if (!rc)
        rc = scenario->make_data(a.words[1], a.scale, a.seed, &err);
    if (!rc)
        return 0;
    seep_lab_complain_error(rc, &err, "name an empty or new folder with room");
    return SEEP_LAB_UNUSABLE;
}
