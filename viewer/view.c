/* `seep view`: the report as one page for a browser. */
#include "libprof/analysis.h"
#include "libprof/base/text.h"
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
    if (optind + 1 == argc)
        return -1;
    seep_complain("view takes one folder: try `seep view DIR`");
    return SEEP_EXIT_UNUSABLE;
}

static json_t *read_report(const char *dir, const struct view_options *o)
{
    struct seep_analysis_options analysis = {
        .all_sites = true, .series = true, .roles_file = o->roles};
    struct seep_error err = {0};
    json_t *report = NULL;

    if (seep_analyse(&dir, 1, &analysis, &report, &err) < 0)
        seep_output_complain_analysis(&err, dir, o->roles);
    return report;
}

/* "DIR/view.html". NULL without memory. */
static char *default_name(const char *dir)
{
    size_t n = strlen(dir);

    while (n > 1 && dir[n - 1] == '/')
        n--;
    return seep_text_format("%.*s/view.html", (int)n, dir);
}

int seep_view_main(int argc, char **argv)
{
    struct view_options o = {0};
    int status = read_options(argc, argv, &o);

    if (status >= 0)
        return status;
    json_t *report = read_report(argv[optind], &o);
    if (!report)
        return SEEP_EXIT_UNUSABLE;
    json_t *page = seep_page_document(report, o.all);
    char *path = o.out ? strdup(o.out) : default_name(argv[optind]);
    json_decref(report);
    if (!page || !path)
        seep_complain("no memory for the page of %s: give it more", argv[optind]);
    status = page && path ? seep_output(page, seep_page_html, path) : SEEP_EXIT_UNUSABLE;
    if (!status && !o.out)
        printf("%s\n", path);
    free(path);
    json_decref(page);
    return status;
}
