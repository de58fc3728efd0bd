#include "viewer/viewer.h"

#include <ctype.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

const struct seep_command seep_commands[] = {
    {"run", "run a job and find out what keeps its memory", seep_run_main},
    {"report", "analyse the profile of a job, running, finished or killed", seep_report_main},
    {"doctor", "say what can be captured on this machine", seep_doctor_main},
    {"help", "show the page of a command", seep_help_main},
    {"version", "print the version", seep_version_main},
    {NULL, NULL, NULL},
};

void seep_complain(const char *format, ...)
{
    char line[2048] = "seep: ";
    size_t start = strlen(line);
    va_list args;

    va_start(args, format);
    vsnprintf(line + start, sizeof line - start - 1, format, args);
    va_end(args);
    size_t n = strlen(line);
    for (size_t i = 0; i < n; i++) {
        if (iscntrl((unsigned char)line[i]))
            line[i] = '?';
    }
    line[n++] = '\n';
    /* One write: lines of several processes do not mix. Nobody is left to tell when it fails. */
    ssize_t written = write(STDERR_FILENO, line, n);
    (void)written;
}

void seep_complain_option(const char *command, int opt, char **argv)
{
    const char *word = optind > 0 && argv[optind - 1] ? argv[optind - 1] : "";

    if (opt == ':')
        seep_complain("option %s needs a value: see `seep help %s`", word, command);
    else if (optopt && strncmp(word, "--", 2) != 0)
        seep_complain("unknown option -%c: see `seep help %s`", optopt, command);
    else
        seep_complain("option %s is not known here: see `seep help %s`", word, command);
}

bool seep_env_flag(const char *name)
{
    static const char *const no[] = {"", "0", "no", "off", "false"};
    const char *value = getenv(name);

    if (!value)
        return false;
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        if (strcasecmp(value, no[i]) == 0)
            return false;
    }
    return true;
}

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
