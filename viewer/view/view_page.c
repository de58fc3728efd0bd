#include "viewer/view/view_page.h"

#include "libprof/analysis.h"
#include "libprof/base/error.h"
#include "libprof/digest/digest_read.h"
#include "libprof/foreign/foreign_file.h"
#include "libprof/gate/fix_verdict.h"
#include "libprof/page/page_document.h"
#include "libprof/page/page_look.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int seep_view_before(const char *dir, const char *roles, seep_json_stream_user *use, void *context,
                     struct seep_error *err)
{
    const struct seep_analysis_options options = {
        .all_sites = true, .series = true, .roles_file = roles};

    return seep_analyse_streamed(&dir, 1, &options, use, context, err);
}

/* Where two runs cannot be judged the page says so, and shows the differences all the same. */
static struct seep_page *page_of_two(const struct seep_compared *before, const json_t *after,
                                     struct seep_json_stream *sites, bool all)
{
    struct seep_error err = {0};
    json_t *verdict = NULL;

    if (seep_verify(before->report, after, false, &verdict, &err) == -SEEP_ENOMEM)
        return NULL;
    const struct seep_page_base base = {*before, verdict, verdict ? NULL : err.text};
    struct seep_page *page = seep_page_document(after, sites, &base, all);
    json_decref(verdict);
    return page;
}

struct making {
    const struct seep_view_of *of;
    struct seep_page *page;
    json_t *report;
    struct seep_error *err;
};

/* A seep_json_stream_user. */
static int make_page(void *context, json_t *report, struct seep_json_stream *sites)
{
    struct making *making = context;
    const struct seep_view_of *of = making->of;

    making->page = of->before ? page_of_two(of->before, report, sites, of->all)
                              : seep_page_document(report, sites, NULL, of->all);
    if (!making->page)
        return seep_error_set(making->err, SEEP_ENOMEM, of->dir, 0, "out of memory for its page");
    making->report = json_incref(report);
    return 0;
}

/* Sixty-four processes, each with all that it may tell, are some 30 MB. */
enum { MAX_BYTES = 64 << 20 };

bool seep_view_is_look(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && !seep_digest_is_at(path) &&
           !seep_foreign_is_at(path);
}

static int load_look(const char *file, json_t **document, struct seep_error *err)
{
    json_error_t why;
    struct stat st;
    FILE *in = fopen(file, "re");

    if (!in || fstat(fileno(in), &st) < 0) {
        const int error = errno;
        if (in)
            fclose(in);
        return seep_error_set(err, SEEP_EIO, file, 0, "cannot be read (%s)", strerror(error));
    }
    *document = st.st_size <= MAX_BYTES ? json_loadf(in, JSON_REJECT_DUPLICATES, &why) : NULL;
    fclose(in);
    if (*document)
        return 0;
    if (st.st_size > MAX_BYTES)
        return seep_error_set(err, SEEP_EFORMAT, file, 0, "too large for a look: more than %d MiB",
                              MAX_BYTES >> 20);
    return seep_error_set(
        err, SEEP_EFORMAT, file, 0,
        "neither a digest nor a document of `seep look --format json`: line %d: %s", why.line,
        why.text);
}

/* *page out, a new reference (libprof/page/page_look.h). Returns what seep_page_look() does, or
 * -SEEP_EIO. */
static int read_look(const char *file, json_t **page, struct seep_error *err)
{
    json_t *document = NULL;
    int rc = load_look(file, &document, err);

    if (!rc)
        rc = seep_page_look(document, file, page, err);
    json_decref(document);
    return rc;
}

static int page_of_look(const char *file, struct seep_page **page, struct seep_error *err)
{
    json_t *parts = NULL;
    int rc = read_look(file, &parts, err);

    if (rc)
        return rc;
    *page = seep_page_of_parts(parts);
    return *page ? 0 : seep_error_set(err, SEEP_ENOMEM, file, 0, "out of memory for its page");
}

int seep_view_page(const struct seep_view_of *of, struct seep_page **page, json_t **report,
                   struct seep_error *err)
{
    const struct seep_analysis_options options = {
        .all_sites = true, .series = true, .layouts = true, .roles_file = of->roles};
    struct making making = {.of = of, .err = err};

    if (report)
        *report = NULL;
    if (of->look)
        return page_of_look(of->dir, page, err);
    int rc = seep_analyse_streamed(&of->dir, 1, &options, make_page, &making, err);
    if (!rc)
        *page = making.page;
    if (!rc && report && !of->digest)
        *report = json_incref(making.report);
    json_decref(making.report);
    return rc;
}
