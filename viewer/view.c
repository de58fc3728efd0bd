/* `seep view`: a report as one page for a browser, alone or beside an older one. */
#include "libprof/base/text.h"
#include "libprof/gate/fix_verdict.h"
#include "libprof/page/page_document.h"
#include "viewer/output.h"
#include "viewer/page/page_html.h"
#include "viewer/viewer.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

struct view_options {
    const char *out;   /* NULL: beside the profiles */
    const char *roles; /* NULL: the shipped ones */
    bool all;
};

static const struct option view_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"all", no_argument, NULL, 'a'},
    {"roles", required_argument, NULL, 'r'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Returns −1 to go on, or the exit status. */
static int read_options(int argc, char **argv, struct view_options *o)
{
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":o:h", view_options, NULL)) != -1;) {
        switch (c) {
        case 'o':
            o->out = optarg;
            break;
        case 'a':
            o->all = true;
            break;
        case 'r':
            o->roles = optarg;
            break;
        case 'h':
            return seep_help_print("view");
        default:
            seep_complain_option("view", c, argv);
            return SEEP_EXIT_UNUSABLE;
        }
    }
    if (optind + 1 == argc || optind + 2 == argc)
        return -1;
    seep_complain("view takes a folder, or two: try `seep view DIR` or `seep view BASE NEW`");
    return SEEP_EXIT_UNUSABLE;
}

/* "DIR/NAME". NULL without memory. */
static char *file_in(const char *dir, const char *name)
{
    size_t n = strlen(dir);

    while (n > 1 && dir[n - 1] == '/')
        n--;
    return seep_text_format("%.*s/%s", (int)n, dir, name);
}

/* That two runs cannot be judged is said in the page: what differs is to be seen all the same. */
static json_t *page_of_two(const json_t *before, const json_t *after, bool all)
{
    struct seep_error err = {0};
    json_t *verdict = NULL;

    if (seep_verify(before, after, false, &verdict, &err) == -SEEP_ENOMEM)
        return NULL;
    json_t *page = seep_page_document(
        after, &(struct seep_page_base){before, verdict, verdict ? NULL : err.text}, all);
    json_decref(verdict);
    return page;
}

/* `dirs`: one, or the older and the newer. NULL after a complaint. */
static json_t *page_of(char **dirs, int n, const struct view_options *o)
{
    const struct seep_analysis_options options = {
        .all_sites = true, .series = true, .layouts = true, .roles_file = o->roles};
    json_t *before = n == 2 ? seep_output_report_of(dirs[0], &options) : NULL;
    json_t *report = n == 2 && !before ? NULL : seep_output_report_of(dirs[n - 1], &options);
    json_t *page = NULL;

    if (report) {
        page =
            before ? page_of_two(before, report, o->all) : seep_page_document(report, NULL, o->all);
        if (!page)
            seep_complain("no memory for the page of %s: give it more", dirs[n - 1]);
    }
    json_decref(report);
    json_decref(before);
    return page;
}

int seep_view_main(int argc, char **argv)
{
    struct view_options o = {0};
    int status = read_options(argc, argv, &o);

    if (status >= 0)
        return status;
    const int n = argc - optind;
    json_t *page = page_of(argv + optind, n, &o);
    if (!page)
        return SEEP_EXIT_UNUSABLE;
    char *path =
        o.out ? strdup(o.out) : file_in(argv[argc - 1], n == 2 ? "compare.html" : "view.html");
    if (!path)
        seep_complain("no memory for a file's name: give it more");
    status = path ? seep_output(page, seep_page_html, path) : SEEP_EXIT_UNUSABLE;
    if (!status && !o.out)
        printf("%s\n", path);
    free(path);
    json_decref(page);
    return status;
}
