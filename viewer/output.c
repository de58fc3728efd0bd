#include "viewer/output.h"

#include "libprof/analysis.h"
#include "libprof/base/text.h"
#include "libprof/print/report_text.h"
#include "viewer/colour.h"
#include "viewer/viewer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FORMATS = 16 };

/* jansson writes a few bytes at a time, 300,000 times in the report of a short job: fwrite() would
 * be a quarter of it. */
struct block {
    FILE *out;
    size_t n;
    char bytes[1 << 16];
};

static int put_block(struct block *b)
{
    const size_t n = b->n;

    b->n = 0;
    return fwrite(b->bytes, 1, n, b->out) == n ? 0 : -1;
}

static int put_in_block(const char *bytes, size_t n, void *to)
{
    struct block *b = to;

    if (n > sizeof b->bytes - b->n && put_block(b))
        return -1;
    if (n > sizeof b->bytes)
        return fwrite(bytes, 1, n, b->out) == n ? 0 : -1;
    memcpy(b->bytes + b->n, bytes, n);
    b->n += n;
    return 0;
}

int seep_output_json(const json_t *document, FILE *out, bool colour)
{
    struct block block;

    (void)colour;
    block.out = out; /* and no initializer, which would clear the bytes */
    block.n = 0;
    return json_dump_callback(document, put_in_block, &block, JSON_INDENT(1)) == 0 &&
                   put_in_block("\n", 1, &block) == 0 && put_block(&block) == 0
               ? 0
               : -SEEP_EIO;
}

int seep_output_json_streamed(const json_t *report, struct seep_json_stream *sites, FILE *out)
{
    struct block block;

    block.out = out;
    block.n = 0;
    int rc = seep_json_stream_dump(report, "sites", sites, put_in_block, &block);
    if (!rc && (put_in_block("\n", 1, &block) || put_block(&block)))
        rc = -SEEP_EIO;
    return rc;
}

const void *seep_output_choose_of(const void *list, size_t each,
                                  const struct seep_option_given *given)
{
    const char *names[MAX_FORMATS], *name;
    int n = 0;

    while (n < MAX_FORMATS &&
           (name = *(const char *const *)((const char *)list + (size_t)n * each)))
        names[n++] = name;
    int place = seep_option_choose(given, names, n);
    return place < 0 ? NULL : (const char *)list + (size_t)place * each;
}

const struct seep_output_format *seep_output_choose(const struct seep_output_format *list,
                                                    const struct seep_option_given *given)
{
    return seep_output_choose_of(list, sizeof *list, given);
}

/* Writes to a stream and closes it; 0 only when every byte was written. */
static int write_and_close(seep_writer *write, void *what, FILE *out)
{
    int r = write(what, out);

    if (fflush(out) != 0 || ferror(out))
        r = -SEEP_EIO;
    int error = errno;
    if (fclose(out) != 0 && r == 0)
        return -SEEP_EIO;
    errno = error;
    return r;
}

static int cannot(const char *path, int rc, int error, struct seep_error *err)
{
    if (rc == -SEEP_ENOMEM)
        return seep_error_set(err, SEEP_ENOMEM, path, 0, "cannot be written (no memory)");
    return seep_error_set(err, SEEP_EIO, path, 0, "cannot be written (%s)", strerror(error));
}

static int replace(seep_writer *write, void *what, const char *path, mode_t mode,
                   struct seep_error *err)
{
    char temporary[4096];

    if ((size_t)snprintf(temporary, sizeof temporary, "%s.%d.tmp", path, (int)getpid()) >=
        sizeof temporary)
        return seep_error_set(err, SEEP_EIO, path, 0, "has a name that is too long");
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!out) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return cannot(path, -SEEP_EIO, error, err);
    }
    int r = write_and_close(write, what, out);
    if (r < 0 || rename(temporary, path) < 0) {
        int error = errno;
        unlink(temporary);
        return cannot(path, r, error, err);
    }
    return 0;
}

int seep_output_write(seep_writer *write, void *what, const char *path, struct seep_error *err)
{
    struct stat st;

    if (path && (stat(path, &st) != 0 || S_ISREG(st.st_mode)))
        return replace(write, what, path, 0666, err);
    /* /dev/stdout, a pipe: nothing to replace */
    FILE *out = path ? fopen(path, "we") : stdout;
    int r = out ? write_and_close(write, what, out) : -SEEP_EIO;
    return r < 0 ? cannot(path ? path : "standard output", r, errno, err) : 0;
}

struct printed {
    const json_t *document;
    seep_printer *print;
};

static int print_document(void *what, FILE *out)
{
    const struct printed *its = what;

    return its->print(its->document, out, seep_colour_of(out));
}

int seep_output_replace(const json_t *document, seep_printer *print, const char *path, mode_t mode,
                        struct seep_error *err)
{
    return replace(print_document, &(struct printed){document, print}, path, mode, err);
}

int seep_output_by(seep_writer *write, void *what, const char *path)
{
    struct seep_error err = {0};
    const int r = seep_output_write(write, what, path, &err);

    if (r == 0)
        return 0;
    seep_complain("%s %s: free some %s, or choose another place", err.file, err.text,
                  r == -SEEP_ENOMEM ? "memory" : "disk space");
    return SEEP_EXIT_UNUSABLE;
}

int seep_output(const json_t *document, seep_printer *print, const char *path)
{
    return seep_output_by(print_document, &(struct printed){document, print}, path);
}

struct printed_sites {
    const json_t *document;
    struct seep_json_stream *sites;
    seep_sites_printer *print;
};

static int print_sites(void *what, FILE *out)
{
    const struct printed_sites *its = what;

    return its->print(its->document, its->sites, out);
}

int seep_output_sites(const json_t *document, struct seep_json_stream *sites,
                      seep_sites_printer *print, const char *path)
{
    return seep_output_by(print_sites, &(struct printed_sites){document, sites, print}, path);
}

void seep_output_complain_analysis(const struct seep_error *err, const char *dir, const char *roles)
{
    if (roles && strcmp(err->file, roles) == 0)
        seep_complain("%s: %s: correct the rules; the built-in roles.toml shows how", roles,
                      err->text);
    else
        seep_complain("%s: %s", err->file[0] ? err->file : dir, err->text);
}

json_t *seep_output_report_of(const char *dir, const struct seep_analysis_options *options)
{
    struct seep_error err = {0};
    json_t *report = NULL;

    if (seep_analyse(&dir, 1, options, &report, &err) == 0)
        return report;
    seep_output_complain_analysis(&err, dir, options->roles_file);
    return NULL;
}

char *seep_output_name_of(const char *dir)
{
    char *path = realpath(dir, NULL);
    const char *slash = strrchr(path ? path : dir, '/');
    const char *last = slash ? slash + 1 : path ? path : dir;
    char *name = seep_text_clean(last, strlen(last));

    free(path);
    return name;
}

void seep_output_summary(const json_t *report, const char *name)
{
    const struct seep_report_look look = {
        .colour = seep_colour_of(stderr), .brief = true, .folder = name};
    /* A stream of its own: stderr is unbuffered, and text written in one piece does not mix. */
    FILE *out = fdopen(dup(STDERR_FILENO), "w");

    if (!out)
        return;
    fputc('\n', out);
    if (seep_report_text(report, NULL, out, &look) < 0)
        seep_complain("the summary is incomplete: try `seep report %s`", name);
    fclose(out);
}
