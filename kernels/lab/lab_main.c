#include "kernels/lab/lab.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*main)(int argc, char **argv);
} commands[] = {
    {"list", seep_lab_list_main},     {"run", seep_lab_run_main},
    {"verify", seep_lab_verify_main}, {"make-data", seep_lab_data_main},
    {"bench", seep_lab_bench_main},   {"job", seep_lab_job_main},
};

int main(int argc, char **argv)
{
    if (argc < 2) {
        seep_lab_complain("no command given: try `seep-lab list`, or `seep-lab --help`");
        return SEEP_LAB_UNUSABLE;
    }
    signal(SIGCHLD, SIG_DFL); /* if it were ignored, no child would leave a status */
    const char *name = argv[1];
    if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "help") == 0)
        return seep_lab_help();
    if (strcmp(name, "-V") == 0 || strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        printf("seep-lab %s\n", SEEP_VERSION);
        return fflush(stdout) ? SEEP_LAB_UNUSABLE : 0;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(name, commands[i].name) != 0)
            continue;
        int status = commands[i].main(argc - 1, argv + 1);
        seep_lab_release_signals(); /* a signal that came while files had to be removed ends the
                                     * process now */
        return status;
    }
    seep_lab_complain("unknown command %s: `seep-lab --help` lists them all", name);
    return SEEP_LAB_UNUSABLE;
}
