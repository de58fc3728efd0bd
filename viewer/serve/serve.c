#include "viewer/serve/serve.h"

#include "viewer/follow/follow.h"
#include "viewer/follow/wait.h"
#include "viewer/output.h"
#include "viewer/serve/serve_http.h"
#include "viewer/serve/serve_reading.h"
#include "viewer/viewer.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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
    struct seep_serve_reading reading = {.of = *of};

    if (!of->look && !of->digest && !is_folder(of->dir))
        return SEEP_EXIT_UNUSABLE;
    signal(SIGPIPE, SIG_IGN); /* clients that disconnect in the middle do no harm */
    seep_wait_begin();
    const struct seep_follow_how how = seep_serve_reading_how(&reading);
    return serve_job(&serve, &how, address);
}
