#include "viewer/viewer.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*main)(int argc, char **argv);
} commands[] = {
#define SEEP_COMMAND(name, ...) {#name, seep_##name##_main},
#include "viewer/options/commands.def"
#undef SEEP_COMMAND
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
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].main(argc - 1, argv + 1);
    }
    seep_complain("%s is not a command: `seep help` lists them", name);
    return SEEP_EXIT_UNUSABLE;
}
