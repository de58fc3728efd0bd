#include "viewer/report.h"

#include "libprof/analysis.h"
#include "libprof/report_text.h"
#include "viewer/viewer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum format { FORMAT_TEXT, FORMAT_JSON };

struct report_options {
    enum format format;
    const char *out; /* NULL: standard output */
    bool all;
};

static const struct option long_options[] = {
    {"format", required_argument, NULL, 'f'},
    {"output", required_argument, NULL, 'o'},
    {"all", no_argument, NULL, 'a'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

bool seep_report_colour(FILE *out)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(fileno(out)) && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
}

static int print(const json_t *report, enum format format, FILE *out)
{
    if (format == FORMAT_JSON)
        return json_dumpf(report, out, JSON_INDENT(1)) == 0 && fputc('\n', out) != EOF ? 0
                                                                                       : -SEEP_EIO;
    return seep_report_text(report, out, out == stdout && seep_report_colour(out));
}

/* Prints to a stream and closes it; 0 only when every byte got out. */
static int print_and_close(const json_t *report, enum format format, FILE *out)
{
    int r = print(report, format, out);

    if (fflush(out) != 0 || ferror(out))
        r = -SEEP_EIO;
    int error = errno;
    if (fclose(out) != 0 && r == 0)
        return -SEEP_EIO;
    errno = error;
    return r;
}

static int write_file(const json_t *report, enum format format, const char *path, mode_t mode,
                      struct seep_error *err)
{
    char temporary[4096];
    struct stat st;

    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        /* /dev/stdout, a pipe: nothing to replace */
        FILE *out = fopen(path, "we");
        if (!out || print_and_close(report, format, out) < 0)
            return seep_error_set(err, SEEP_EIO, path, 0, "cannot be written (%s)",
                                  strerror(errno));
        return 0;
    }
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.%d.tmp", path, (int)getpid()) >=
        sizeof temporary)
        return seep_error_set(err, SEEP_EIO, path, 0, "has too long a name");
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!out) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return seep_error_set(err, SEEP_EIO, path, 0, "cannot be written (%s)", strerror(error));
    }
    if (print_and_close(report, format, out) < 0 || rename(temporary, path) < 0) {
        int error = errno;
        unlink(temporary);
        return seep_error_set(err, SEEP_EIO, path, 0, "cannot be written (%s)", strerror(error));
    }
    return 0;
}

int seep_report_write(const json_t *report, const char *path, struct seep_error *err)
{
    return write_file(report, FORMAT_JSON, path, 0600, err);
}

static bool take_format(const char *text, struct report_options *o)
{
    if (strcmp(text, "text") == 0)
        o->format = FORMAT_TEXT;
    else if (strcmp(text, "json") == 0)
        o->format = FORMAT_JSON;
    else {
        seep_complain("%s is not a format: choose text or json", text);
        return false;
    }
    return true;
}

/* Returns −1 to go on, or the exit status. */
static int read_options(int argc, char **argv, struct report_options *o)
{
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":o:h", long_options, NULL)) != -1;) {
        switch (c) {
        case 'f':
            if (!take_format(optarg, o))
                return SEEP_EXIT_UNUSABLE;
            break;
        case 'o':
            o->out = optarg;
            break;
        case 'a':
            o->all = true;
            break;
        case 'h':
            return seep_help_print("report");
        default:
            seep_complain_option("report", c, argv);
            return SEEP_EXIT_UNUSABLE;
        }
    }
    if (optind >= argc) {
        seep_complain("no profile is given: try `seep report DIR`");
        return SEEP_EXIT_UNUSABLE;
    }
    return -1;
}

/* A report of the other folders is a report; which one is missing is said beside it. */
static void complain_unreadable(const char *const *dirs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        DIR *stream = opendir(dirs[i]);
        if (stream)
            closedir(stream);
        else
            seep_complain("%s cannot be read (%s): the report is of the other folders", dirs[i],
                          strerror(errno));
    }
}

int seep_report_main(int argc, char **argv)
{
    struct report_options options = {0};
    struct seep_error err = {0};
    json_t *report = NULL;
    int status = read_options(argc, argv, &options);

    if (status >= 0)
        return status;
    struct seep_analysis_options analysis = {.all_sites = options.all};
    const char *const *dirs = (const char *const *)(argv + optind);
    if (seep_analyse(dirs, (size_t)(argc - optind), &analysis, &report, &err) < 0) {
        seep_complain("%s: %s: name a folder that `seep run` has written",
                      err.file[0] ? err.file : dirs[0], err.text);
        return SEEP_EXIT_UNUSABLE;
    }
    complain_unreadable(dirs, (size_t)(argc - optind));
    int r = options.out ? write_file(report, options.format, options.out, 0666, &err)
                        : print_and_close(report, options.format, stdout);
    if (r < 0)
        seep_complain("%s %s: make room or choose another place",
                      options.out ? err.file : "standard output",
                      options.out ? err.text : "cannot be written");
    json_decref(report);
    return r < 0 ? SEEP_EXIT_UNUSABLE : 0;
}
