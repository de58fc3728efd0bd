#include "viewer/program.h"
#include "viewer/viewer.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* NULL in `seep`: the libraries of these for terminals, HTTP and protocol buffers bring a dozen
 * others, and to load them all would be a third of what `seep run` costs. seep-show is the same
 * program with them. */
#pragma weak seep_view_main
#pragma weak seep_top_main
#pragma weak seep_export_main

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

/* Ends this process, or returns the exit status after a complaint. */
static int become_show(char **argv)
{
    char path[PATH_MAX];
    struct seep_error err = {0};

    if (seep_program_part(SEEP_PART_SHOW, path, sizeof path, &err) < 0) {
        seep_complain("%s: %s: install seep again, or run it from its build folder", err.file,
                      err.text);
        return SEEP_EXIT_UNUSABLE;
    }
    execv(path, argv);
    seep_complain("%s cannot be run (%s): install seep again", path, strerror(errno));
    return SEEP_EXIT_UNUSABLE;
}

int main(int argc, char **argv)
{
    /* Memory of large tables grows without a copy of it, and goes back as soon as it is freed: left
     * alone, malloc keeps up to 64 MiB of such blocks in its heap once it has seen some freed. */
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
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
            return commands[i].main ? commands[i].main(argc - 1, argv + 1) : become_show(argv);
    }
    seep_complain("%s is not a command: `seep help` lists them", name);
    return SEEP_EXIT_UNUSABLE;
}
