#include "viewer/viewer.h"

#include <stdio.h>
#include <string.h>

const struct seep_command seep_commands[] = {
    {"run", "run a job and find out what keeps its memory", seep_run_main},
    {"report", "analyse the profile of a job, running, finished or killed", seep_report_main},
    {"view", "make a page of it for a browser", seep_view_main},
    {"top", "watch a running job's memory", seep_top_main},
    {"check", "hold a run against budgets or an older run, for CI", seep_check_main},
    {"verify", "prove a fix by a run before and one after it", seep_verify_main},
    {"diff", "show two runs site by site", seep_diff_main},
    {"export", "write a profile in the formats of other tools", seep_export_main},
    {"doctor", "say what can be captured on this machine", seep_doctor_main},
    {"help", "show the page of a command", seep_help_main},
    {"version", "print the version", seep_version_main},
    {NULL, NULL, NULL},
};

int seep_version_main(int argc, char **argv)
{
    if (argc > 1 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0))
        return seep_help_print("seep");
    printf("seep %s\n", SEEP_VERSION);
    return fflush(stdout) ? SEEP_EXIT_UNUSABLE : 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        seep_complain("no command given: try `seep run -- python train.py`, or `seep help`");
        return SEEP_EXIT_UNUSABLE;
    }
    const char *name = argv[1];
    if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0)
        name = "help";
    else if (strcmp(name, "-V") == 0 || strcmp(name, "--version") == 0)
        name = "version";
    for (const struct seep_command *c = seep_commands; c->name; c++) {
        if (strcmp(name, c->name) == 0)
            return c->main(argc - 1, argv + 1);
    }
    seep_complain("%s is not a command: `seep help` lists them", name);
    return SEEP_EXIT_UNUSABLE;
}
