#include "libprof/base/text.h"
#include "viewer/viewer.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

void seep_complain(const char *format, ...)
{
    char line[2048];
    va_list args;

    va_start(args, format);
    size_t n = seep_text_complaint(line, sizeof line, "seep", format, args);
    va_end(args);
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
