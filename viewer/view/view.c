/* `seep view`: a report as one page for a browser, alone or compared with an older one, or a look;
 * as a file, or served while the job runs. */
#include "libprof/base/text.h"
#include "libprof/digest/digest_read.h"
#include "libprof/foreign/foreign_file.h"
#include "viewer/options/options.h"
#include "viewer/output.h"
#include "viewer/page/page_html.h"
#include "viewer/serve/serve.h"
#include "viewer/top/top_target.h"
#include "viewer/view/view_page.h"
#include "viewer/viewer.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct view_options {
    const char *out;   /* NULL: beside the profiles */
    const char *roles; /* NULL: the shipped ones */
    bool all;
    bool open; /* in a browser */
    bool serve;
    bool open_metrics;
    struct seep_serve_address address; /* where it is served */
    int argc;
    char **argv;
};

/* A word after `--serve` that looks like an address is one, unless a file or folder of that name
 * exists: then it is the folder. */
static const char *next_address(const struct view_options *o)
{
    if (optind < o->argc && seep_serve_is_address(o->argv[optind]) &&
        access(o->argv[optind], F_OK) != 0)
        return o->argv[optind++];
    return NULL;
}

static bool read_address(const char *word, struct view_options *o)
{
    o->serve = true;
    if (seep_serve_address_parse(word, &o->address))
        return true;
    seep_complain("%s is not an address to serve on: give ADDR:PORT, such as 127.0.0.1:8080, "
                  "[::1]:8080, :8080 or 8080; names of machines are not looked up",
                  word);
    return false;
}

/* Returns −1 to go on, or the exit status. */
static int check_arguments(int n, const struct view_options *o)
{
    if (n != 1 && n != 2)
        seep_complain("view takes one folder or digest, or two to compare: try `seep view DIR`, "
                      "`seep view BASE NEW`, or make one digest of many by `seep merge`");
    else if (o->serve && o->open)
        seep_complain("--open is of a page that is written: open the address that --serve prints, "
                      "or leave --serve out");
    else if (o->serve && o->out)
        seep_complain("a served page is not written to a file: give --serve or -o, not both");
    else if (o->open_metrics && !o->serve)
        seep_complain("only a server has --metrics: add --serve, or write them by `seep export "
                      "--format openmetrics`");
    else if (o->open_metrics && seep_view_is_look(o->argv[o->argc - 1]))
        seep_complain("a look has no metrics: leave --metrics out, or name a folder");
    else if (o->open_metrics && seep_digest_is_at(o->argv[o->argc - 1]))
        seep_complain("a digest has no metrics: leave --metrics out, or name a folder");
    else if (n == 2 &&
             (seep_view_is_look(o->argv[optind]) || seep_view_is_look(o->argv[optind + 1])))
        seep_complain("a look is shown alone; it has all its looks: give one file, or two folders");
    else
        return -1;
    return SEEP_EXIT_UNUSABLE;
}

static bool take(void *to, const struct seep_option_given *given)
{
    struct view_options *o = to;

    switch (given->option) {
    case SEEP_OPTION_VIEW_OUTPUT:
        return (o->out = given->value);
    case SEEP_OPTION_VIEW_ALL:
        return o->all = true;
    case SEEP_OPTION_OPEN:
        return o->open = true;
    case SEEP_OPTION_SERVE:
        return read_address(given->value ? given->value : next_address(o), o);
    case SEEP_OPTION_METRICS:
        return o->open_metrics = true;
    case SEEP_OPTION_ROLES:
        return (o->roles = given->value);
    default:
        return false;
    }
}

/* Returns −1 to go on, or the exit status. */
static int read_options(int argc, char **argv, struct view_options *o)
{
    int status = seep_options_read(argc, argv, take, o);

    return status >= 0 ? status : check_arguments(argc - optind, o);
}

/* ---- a page that is written ------------------------------------------------------------------ */

/* In a session of its own, so that a browser outlives this terminal; tells `failed` why it cannot
 * be run. */
static _Noreturn void become_browser(const char *browser, const char *page, int failed)
{
    const int nothing = open("/dev/null", O_RDWR);

    setsid();
    if (fork() > 0)
        _exit(0); /* so nobody has to wait for it */
    for (int fd = 0; fd < 3 && nothing >= 0; fd++)
        dup2(nothing, fd);
    execlp(browser, browser, page, (char *)NULL);
    const int error = errno;
    if (write(failed, &error, sizeof error) < 0)
        _exit(2);
    _exit(1);
}

/* Returns 0, or why not. */
static int start_browser(const char *browser, const char *page)
{
    int ends[2], error = 0;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return errno;
    const pid_t child = fork();
    if (child == 0)
        become_browser(browser, page, ends[1]);
    if (child < 0)
        error = errno;
    close(ends[1]);
    if (child > 0 && read(ends[0], &error, sizeof error) < 0)
        error = errno;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return error;
}

/* Starts what BROWSER names, else xdg-open, with a file or address, and does not wait for it.
 * Returns 0, or SEEP_EXIT_UNUSABLE after a complaint that says what to do instead. */
static int open_page(const char *page)
{
    const char *named = getenv("BROWSER"), *browser = named && *named ? named : "xdg-open";

    if (browser != named && !getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY")) {
        seep_complain("no browser can be opened here, without a display: open %s on your own "
                      "machine, or set BROWSER",
                      page);
        return SEEP_EXIT_UNUSABLE;
    }
    const int error = start_browser(browser, page);
    if (!error)
        return 0;
    seep_complain("%s cannot be run (%s): set BROWSER, or open %s yourself", browser,
                  strerror(error), page);
    return SEEP_EXIT_UNUSABLE;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);

    return n > m && strcmp(text + n - m, end) == 0;
}

/* "look.html" beside "look.json", "job.html" beside "job.digest". NULL without memory. */
static char *page_beside(const char *file, const char *ending)
{
    static const char *const known[] = {".json", ".digest", ".pickle", ".pkl", ".pickle.gz"};
    size_t n = strlen(file);

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (ends_with(file, known[i])) {
            n -= strlen(known[i]);
            break;
        }
    return seep_text_format("%.*s%s", (int)n, file, ending);
}

/* "DIR/NAME". NULL without memory. */
static char *file_in(const char *dir, const char *name)
{
    size_t n = strlen(dir);

    while (n > 1 && dir[n - 1] == '/')
        n--;
    return seep_text_format("%.*s/%s", (int)n, dir, name);
}

static char *default_name(const struct seep_view_of *of)
{
    if (of->look || of->digest || seep_foreign_is_at(of->dir))
        return page_beside(of->dir, of->before ? ".compare.html" : ".html");
    return file_in(of->dir, of->before ? "compare.html" : "view.html");
}

static int write_html(void *page, FILE *out)
{
    return seep_page_html(page, out);
}

static int write_page(const struct seep_view_of *of, const char *out, bool open)
{
    struct seep_error err = {0};
    struct seep_page *page = NULL;

    if (seep_view_page(of, &page, NULL, &err) < 0) {
        seep_output_complain_analysis(&err, of->dir, of->roles);
        return SEEP_EXIT_UNUSABLE;
    }
    char *path = out ? strdup(out) : default_name(of);
    if (!path)
        seep_complain("out of memory: end other programs");
    int status = path ? seep_output_by(write_html, page, path) : SEEP_EXIT_UNUSABLE;
    if (!status && !out)
        printf("%s\n", path);
    if (!status && open && fflush(stdout) == 0)
        status = open_page(path);
    free(path);
    seep_page_free(page);
    return status;
}

static int show_at(struct view_options *o, const char *last, const char *out,
                   const struct seep_compared *before)
{
    const struct seep_view_of of = {
        last, seep_view_is_look(last), seep_digest_is_at(last), before, o->roles, o->all};

    return o->serve ? seep_serve(&of, &o->address, o->open_metrics) : write_page(&of, out, o->open);
}

/* ---- what is shown --------------------------------------------------------------------------- */

enum { MAX_DIGITS = 10 };

/* Whether a word is the number of a process, and no file or folder. */
static bool is_process(const char *word)
{
    const size_t n = strlen(word);

    return n > 0 && n <= MAX_DIGITS && strspn(word, "0123456789") == n && access(word, F_OK) != 0;
}

static int look_at(const char *pid, char path[PATH_MAX])
{
    const char *folder = getenv("TMPDIR");
    char number[MAX_DIGITS + 1], *words[] = {"look", "--format", "json", "-o", path, number, NULL};

    snprintf(number, sizeof number, "%s", pid);
    snprintf(path, PATH_MAX, "%s/seep-look-XXXXXX", folder && *folder ? folder : "/tmp");
    const int file = mkstemp(path);
    if (file < 0) {
        seep_complain("%s cannot be written (%s): set TMPDIR", path, strerror(errno));
        return SEEP_EXIT_UNUSABLE;
    }
    close(file);
    optind = 0; /* the words of another command */
    const int status = seep_look_main(sizeof words / sizeof *words - 1, words);
    if (status == SEEP_EXIT_UNUSABLE)
        unlink(path);
    return status == SEEP_EXIT_UNUSABLE ? status : 0;
}

/* What to show of a process: the folder of its job, or a look, in a file that is to be removed
 * (`is_look`). Returns 0, or SEEP_EXIT_UNUSABLE after a complaint. */
static int find_process(const char *pid, char path[PATH_MAX], bool *is_look)
{
    struct seep_error err = {0};
    const int rc = seep_top_find(pid, path, &err);

    *is_look = rc == -SEEP_ENODATA || rc == -SEEP_EIO; /* a look says better what is wrong */
    return *is_look ? look_at(pid, path) : 0;
}

static int show_process(struct view_options *o, const char *pid)
{
    char path[PATH_MAX], name[64];
    bool is_look;
    int status = find_process(pid, path, &is_look);

    if (status)
        return status;
    if (!is_look)
        return show_at(o, path, o->out, NULL);
    snprintf(name, sizeof name, "look-%.20s.html", pid);
    status = show_at(o, path, o->out ? o->out : name, NULL);
    if (!status && !o->out && !o->serve)
        printf("%s\n", name);
    unlink(path);
    return status;
}

static int show(struct view_options *o, const struct seep_compared *before)
{
    const char *last = o->argv[o->argc - 1];

    return !before && is_process(last) ? show_process(o, last) : show_at(o, last, o->out, before);
}

struct comparing {
    struct view_options *options;
    int status;
};

/* A seep_json_stream_user: the older run is in memory as long as it is compared with. */
static int show_both(void *context, json_t *report, struct seep_json_stream *sites)
{
    struct comparing *comparing = context;

    comparing->status = show(comparing->options, &(struct seep_compared){report, sites});
    return 0;
}

int seep_view_main(int argc, char **argv)
{
    struct view_options o = {.argc = argc, .argv = argv};
    struct comparing comparing = {.options = &o};
    struct seep_error err = {0};
    int status = read_options(argc, argv, &o);

    if (status >= 0)
        return status;
    if (argc - optind == 1)
        return show(&o, NULL);
    if (seep_view_before(argv[optind], o.roles, show_both, &comparing, &err) == 0)
        return comparing.status;
    seep_output_complain_analysis(&err, argv[optind], o.roles);
    return SEEP_EXIT_UNUSABLE;
}
