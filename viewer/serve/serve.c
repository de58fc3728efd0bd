#include "viewer/serve/serve.h"

#include "libprof/export/export_formats.h"
#include "libprof/report_read/report_view.h"
#include "viewer/follow/follow.h"
#include "viewer/follow/wait.h"
#include "viewer/output.h"
#include "viewer/page/page_html.h"
#include "viewer/serve/serve_http.h"
#include "viewer/serve/served.h"
#include "viewer/view/view_page.h"
#include "viewer/viewer.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- a reading of the job -------------------------------------------------------------------- */

/* For one thread. */
struct reading {
    struct seep_view_of of; /* set by its user; the rest begins as zero */
    unsigned long version;  /* of the last reading; 0: none yet */
    bool seen;              /* a reading has succeeded */
    bool ended;             /* and showed that the job had ended */
};

/* After the job's end `seep run` still writes what it knows of it. So where a job was seen running,
 * its end counts only when the reading before showed it too. */
static enum seep_served_state state_of(struct reading *reading, const json_t *page)
{
    const bool before = reading->ended || !reading->seen;

    if (reading->of.look || reading->of.digest)
        return SEEP_SERVED_ENDED;
    reading->ended = seep_get_ended(page);
    if (reading->ended && before)
        return SEEP_SERVED_ENDED;
    return reading->ended || seep_get_runs(page) ? SEEP_SERVED_LIVE : SEEP_SERVED_UNKNOWN;
}

/* The figures of the reading, for monitoring; NULL without memory. */
static char *metrics_of(const struct reading *reading, const json_t *report)
{
    char *name = seep_output_name_of(reading->of.dir), *text = NULL;
    const struct seep_export_options options = {.profile = name, .read_unix_s = (double)time(NULL)};
    size_t n = 0;
    FILE *out = name ? open_memstream(&text, &n) : NULL;
    struct seep_json_stream_of_list none; /* its figures are the job's */
    seep_json_stream_of_list(&none, NULL);
    int r = out ? seep_export_openmetrics(report, &none.stream, &options, out) : -SEEP_ENOMEM;

    if (out && fclose(out) != 0)
        r = -SEEP_ENOMEM;
    free(name);
    if (!r)
        return text;
    free(text);
    return NULL;
}

static struct seep_served *served_of(struct reading *reading, struct seep_page *page,
                                     const json_t *report, enum seep_served_state state,
                                     const char *why)
{
    struct seep_served *served = seep_served_create(page, state, ++reading->version, why);

    if (served && report)
        served->metrics = metrics_of(reading, report);
    if (!report || (served && served->metrics))
        return served;
    seep_served_release(served);
    return NULL;
}

/* The folder of a job that has just begun is empty. */
static int read_job(void *context, void **seen, struct seep_error *err)
{
    struct reading *reading = context;
    struct seep_page *page = NULL;
    json_t *report = NULL;
    int r = seep_view_page(&reading->of, &page, &report, err);

    if (r == -SEEP_ENOMEM || (r < 0 && !reading->seen && r != -SEEP_ENODATA))
        return r;
    const enum seep_served_state state = page            ? state_of(reading, page->parts)
                                         : reading->seen ? SEEP_SERVED_FAILED
                                                         : SEEP_SERVED_WAITING;
    reading->seen = reading->seen || page;
    *seen = served_of(reading, page, report, state, page ? "" : err->text);
    seep_page_free(page);
    json_decref(report);
    if (*seen) {
        *err = (struct seep_error){0};
        return 0;
    }
    return seep_error_set(err, SEEP_ENOMEM, reading->of.dir, 0, "out of memory for its page");
}

static void drop_served(void *seen)
{
    seep_served_release(seen);
}

/* How to read: a reading is a struct seep_served. It fails where no page is possible at all:
 * without memory, or where the folder holds no profiles and never will. */
static struct seep_follow_how reading_how(struct reading *reading)
{
    return (struct seep_follow_how){read_job, drop_served, reading};
}

/* ---- serving --------------------------------------------------------------------------------- */

static const double interval_s = 2; /* least time between two readings */

struct serve {
    const struct seep_view_of *of;
    struct seep_http *http;
    struct seep_follower *follower;
    bool open_metrics;    /* at /metrics, without the secret */
    bool tells;           /* prints a status line, on a terminal */
    bool unusable;        /* set by a reading */
    bool was_read, ended; /* the first reading is done; the job has ended */
    char state[640];      /* of the last reading, for the status line */
    double state_unix_s;  /* and when */
};

static void note_state(struct serve *serve, const struct seep_served *served)
{
    char *text = serve->state;
    const size_t room = sizeof serve->state;

    serve->state_unix_s = (double)time(NULL);
    switch (served->state) {
    case SEEP_SERVED_WAITING:
        snprintf(text, room, "waiting for the job (%s)", served->why);
        break;
    case SEEP_SERVED_FAILED:
        snprintf(text, room, "the last look failed (%s)", served->why);
        break;
    case SEEP_SERVED_ENDED:
        if (serve->of->look || serve->of->digest)
            snprintf(text, room, "a %s, which does not change",
                     serve->of->look ? "look" : "digest");
        else
            snprintf(text, room, "the job has ended, after step %.0f", served->steps);
        break;
    default:
        snprintf(text, room, "step %.0f", served->steps);
    }
}

/* Prints the status over the previous one, on one line, so that it never wraps. */
static void tell(const struct serve *serve)
{
    if (!serve->tells)
        return;
    printf("\r\033[K%.90s", serve->was_read ? serve->state : "reading the profile");
    if (serve->was_read && !serve->ended)
        printf(", %.0f s ago", fmax(0, (double)time(NULL) - serve->state_unix_s));
    if (serve->was_read && !serve->ended && !seep_http_is_followed(serve->http))
        fputs("; nobody has the page open: paused until somebody does", stdout);
    fflush(stdout);
}

static void take(struct serve *serve)
{
    struct seep_error err;
    struct seep_served *served = seep_follow_take(serve->follower, &err);

    if (served) {
        serve->was_read = true;
        serve->ended = served->state == SEEP_SERVED_ENDED;
        note_state(serve, served);
        seep_http_show(serve->http, served);
    } else if (err.text[0]) {
        if (serve->tells)
            putchar('\n');
        fflush(stdout);
        seep_output_complain_analysis(&err, serve->of->dir, serve->of->roles);
        serve->unusable = true;
    }
}

/* The shorter of two waits; below 0 means none. */
static double sooner(double a, double b)
{
    return a < 0 ? b : b < 0 ? a : fmin(a, b);
}

/* Readings pause while nobody has the page open. The next reader sees the old data with its age
 * until the reading that then begins is done. */
static void follow(struct serve *serve)
{
    enum { FOLLOWER, HTTP };
    struct pollfd files[] = {[FOLLOWER] = {.fd = seep_follow_fd(serve->follower), .events = POLLIN},
                             [HTTP] = {.fd = seep_http_fd(serve->http), .events = POLLIN}};

    while (!serve->unusable && !seep_wait_ended()) {
        seep_http_run(serve->http);
        seep_follow_pause(serve->follower,
                          serve->ended || (serve->was_read && !seep_http_is_followed(serve->http)));
        tell(serve);
        seep_wait(files, 2, sooner(seep_http_wait_s(serve->http), 1));
        if (files[FOLLOWER].revents)
            take(serve);
    }
}

/* An address beyond loopback brings a warning that it is open to other machines. */
static int print_where(const struct serve *serve, const struct seep_serve_address *address)
{
    if (!address->loopback)
        seep_complain("%s is open to other machines: anybody with the URL can read the profile, "
                      "unencrypted: use `ssh -L` to a loopback address instead",
                      address->host);
    const char *url = seep_http_url(serve->http);
    printf("%s\n", url);
    if (serve->open_metrics) /* http://HOST:PORT/SECRET/ */
        printf("%.*s/metrics\n",
               (int)strcspn(url + strlen("http://"), "/") + (int)strlen("http://"), url);
    if (serve->tells)
        puts("Ctrl-C ends it.");
    if (fflush(stdout) == 0)
        return 0;
    seep_complain(
        "standard output is not writable, so nobody can see the URL: give it a file or a terminal");
    return SEEP_EXIT_UNUSABLE;
}

static int serve_job(struct serve *serve, const struct seep_follow_how *how,
                     struct seep_serve_address *address)
{
    struct seep_error err = {0};
    int status;

    serve->http = seep_http_start(address, serve->open_metrics, &err);
    if (!serve->http) {
        seep_complain("%s %s: choose another address or port, or none", err.file, err.text);
        return SEEP_EXIT_UNUSABLE;
    }
    status = print_where(serve, address);
    serve->follower = status ? NULL : seep_follow_start(how, interval_s, 0);
    if (serve->follower) {
        follow(serve);
        status = serve->unusable ? SEEP_EXIT_UNUSABLE : 0;
    } else if (!status) {
        seep_complain("out of memory or threads: end other programs");
        status = SEEP_EXIT_UNUSABLE;
    }
    if (serve->tells)
        putchar('\n');
    fflush(stdout);
    if (serve->follower && !seep_follow_stop(serve->follower))
        _exit(status); /* else seep would wait for a reading that may take minutes */
    seep_http_stop(serve->http);
    return status;
}

/* A folder that does not exist may be a typing error: seep does not wait for it. */
static bool is_folder(const char *dir)
{
    struct stat st;

    if (stat(dir, &st) == 0 && S_ISDIR(st.st_mode))
        return true;
    seep_complain("%s is not a folder: name one that `seep run` has written or writes to", dir);
    return false;
}

int seep_serve(const struct seep_view_of *of, struct seep_serve_address *address, bool open_metrics)
{
    struct serve serve = {.of = of, .open_metrics = open_metrics, .tells = isatty(STDOUT_FILENO)};
    struct reading reading = {.of = *of};

    if (!of->look && !of->digest && !is_folder(of->dir))
        return SEEP_EXIT_UNUSABLE;
    signal(SIGPIPE, SIG_IGN); /* clients that disconnect in the middle do no harm */
    seep_wait_begin();
    const struct seep_follow_how how = reading_how(&reading);
    return serve_job(&serve, &how, address);
}
