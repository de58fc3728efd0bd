/* `seep top`: a running job, as it goes. */
#include "libprof/print/put_text.h"
#include "viewer/colour.h"
#include "viewer/follow/follow.h"
#include "viewer/follow/wait.h"
#include "viewer/options/options.h"
#include "viewer/output.h"
#include "viewer/top/top_picture.h"
#include "viewer/top/top_screen.h"
#include "viewer/top/top_target.h"
#include "viewer/top/top_view.h"
#include "viewer/viewer.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PAPER_COLUMNS = 110 };

struct top_options {
    const char *target;
    double interval_s;
    bool once;
};

static bool take_interval(const char *text, struct top_options *o)
{
    char *end;

    o->interval_s = strtod(text, &end);
    if (*text && !*end && o->interval_s >= 0.1 && o->interval_s <= 86400)
        return true;
    seep_complain("%s is not an interval: give seconds, from 0.1 to 86400", text);
    return false;
}

static bool take(void *to, const struct seep_option_given *given)
{
    struct top_options *o = to;

    switch (given->option) {
    case SEEP_OPTION_ONCE:
        return o->once = true;
    case SEEP_OPTION_INTERVAL:
        return take_interval(given->value, o);
    default:
        return false;
    }
}

/* Returns −1 to go on, or the exit status. */
static int read_options(int argc, char **argv, struct top_options *o)
{
    int status = seep_options_read(argc, argv, take, o);

    if (status >= 0)
        return status;
    if (argc - optind == 1) {
        o->target = argv[optind];
        return -1;
    }
    seep_complain(optind < argc ? "top shows one job: try `seep top DIR`"
                                : "no job is given: try `seep top DIR`, or `seep top PID`");
    return SEEP_EXIT_UNUSABLE;
}

/* ---- on paper -------------------------------------------------------------------------------- */

static void put_rows(const struct seep_top_picture *picture)
{
    for (int i = 0; i < picture->n_rows; i++) {
        const struct seep_top_row *row = &picture->rows[i];
        size_t n = row->bytes;
        while (n > 0 && row->text[n - 1] == ' ')
            n--;
        if (row->bytes > 0)
            printf("%.*s\n", (int)n, row->text);
    }
}

/* Returns whether there was memory for it. */
static bool put_picture(const struct seep_top_view *view, bool utf8)
{
    const size_t rows = view->n_spaces + SEEP_TOP_PAPER_PROCESSES + SEEP_TOP_PAPER_HOLDERS +
                        SEEP_TOP_PAPER_LINES + 5;
    struct seep_top_choice choice = {0};
    struct seep_top_picture picture;

    if (seep_top_picture_init(&picture, (int)rows, seep_put_width(stdout, PAPER_COLUMNS), utf8) < 0)
        return false;
    picture.list_only = true;
    seep_top_draw(&picture, view, &choice, NULL);
    put_rows(&picture);
    seep_top_picture_fini(&picture);
    return true;
}

static int print_once(struct seep_top_view *view, bool utf8)
{
    const bool made = put_picture(view, utf8);

    seep_top_view_destroy(view);
    if (made && fflush(stdout) == 0)
        return 0;
    seep_complain(made ? "standard output is not writable: give it a file or a terminal"
                       : "out of memory: end other programs");
    return SEEP_EXIT_UNUSABLE;
}

/* ---- on a terminal --------------------------------------------------------------------------- */

struct followed {
    const char *folder;
    struct seep_follow_how how; /* its readings are reports (json_t *) with series */
    double interval_s;          /* least time between two readings */
    double next_s;              /* until the next one */
    bool utf8;
};

struct live {
    struct seep_top_view *view;
    struct seep_top_choice choice;
    struct seep_follower *follower;
    bool utf8, no_memory, hung_up;
    char message[SEEP_ERROR_TEXT_BYTES + 64]; /* about the last reading; "" */
};

static void draw(struct live *live)
{
    struct seep_top_picture picture;
    int rows, columns;

    seep_top_screen_size(&rows, &columns);
    if (seep_top_picture_init(&picture, rows, columns, live->utf8) < 0) {
        live->no_memory = true;
        return;
    }
    seep_top_draw(&picture, live->view, &live->choice, live->message[0] ? live->message : NULL);
    seep_top_screen_show(&picture);
    seep_top_picture_fini(&picture);
}

/* Once a job has ended it is not read again: nothing changes. */
static void pause_follower(struct live *live)
{
    seep_follow_pause(live->follower, live->choice.paused || live->view->ended);
}

static void take_reading(struct live *live)
{
    struct seep_error err;
    json_t *report = seep_follow_take(live->follower, &err);

    live->message[0] = '\0';
    if (!report) {
        if (err.text[0])
            snprintf(live->message, sizeof live->message, "the last look failed: %s (q quits)",
                     err.text);
        return;
    }
    struct seep_top_view *view = seep_top_view_create(report, (double)time(NULL));
    if (!view) {
        live->no_memory = true;
        return;
    }
    seep_top_view_destroy(live->view);
    live->view = view;
    seep_top_follow(&live->choice, view);
    pause_follower(live);
}

static void press_keys(struct live *live)
{
    for (long key; (key = seep_top_screen_key()) != SEEP_TOP_NO_KEY;) {
        if (key > 0)
            seep_top_press(&live->choice, live->view, key);
    }
    pause_follower(live);
}

static void follow(struct live *live)
{
    enum { KEYS, FOLLOWER };
    struct pollfd files[] = {
        [KEYS] = {.fd = STDIN_FILENO, .events = POLLIN}, [FOLLOWER] = {.events = POLLIN}};

    while (!live->choice.quit && !live->no_memory && !live->hung_up) {
        draw(live);
        /* A reading that was under way when the user paused is taken after the pause. */
        files[FOLLOWER].fd = live->choice.paused ? -1 : seep_follow_fd(live->follower);
        files[FOLLOWER].revents = 0;
        seep_wait(files, 2, -1);
        if (seep_wait_ended())
            break;
        live->hung_up = files[KEYS].revents & (POLLHUP | POLLERR | POLLNVAL);
        if (files[FOLLOWER].revents)
            take_reading(live);
        press_keys(live); /* also after a signal: the window may have another size */
    }
}

/* On the open screen, which is closed at the end. Takes over the view that is shown first; returns
 * the exit status. */
static int show_live(const struct followed *job, struct seep_top_view *view)
{
    struct live live = {.view = view, .utf8 = job->utf8};

    live.follower = seep_follow_start(&job->how, job->interval_s, job->next_s);
    live.no_memory = !live.follower;
    if (live.follower) {
        pause_follower(&live);
        follow(&live);
    }
    seep_top_screen_close();
    if (live.no_memory)
        seep_complain("out of memory or threads: end other programs");
    int status = live.no_memory ? SEEP_EXIT_UNUSABLE : 0;
    if (live.follower && !seep_follow_stop(live.follower))
        _exit(status); /* else seep would wait for a reading that may take minutes */
    seep_top_view_destroy(live.view);
    return status;
}

static int read_folder(void *context, void **seen, struct seep_error *err)
{
    static const struct seep_analysis_options options = {.series = true};
    const char *folder = context;
    json_t *report = NULL;
    int r = seep_analyse(&folder, 1, &options, &report, err);

    *seen = report;
    return r;
}

static void drop_report(void *seen)
{
    json_decref(seen);
}

/* What the folder says now, or NULL after a complaint. */
static struct seep_top_view *first_view(struct followed *job)
{
    struct seep_error err = {0};
    void *report;

    if (seep_follow_once(&job->how, job->interval_s, &job->next_s, &report, &err) < 0) {
        seep_output_complain_analysis(&err, job->folder, NULL);
        return NULL;
    }
    struct seep_top_view *view = seep_top_view_create(report, (double)time(NULL));
    if (!view)
        seep_complain("out of memory: end other programs");
    return view;
}

int seep_top_main(int argc, char **argv)
{
    struct top_options options = {.interval_s = 2};
    char folder[PATH_MAX];
    struct seep_error err = {0};
    int status = read_options(argc, argv, &options);

    if (status >= 0)
        return status;
    if (seep_top_find(options.target, folder, &err) < 0) {
        seep_complain("%s: %s: name a process of a job that `seep run` started, or its folder",
                      err.file, err.text);
        return SEEP_EXIT_UNUSABLE;
    }
    setlocale(LC_CTYPE, "");
    struct followed job = {.folder = folder,
                           .how = {read_folder, drop_report, folder},
                           .interval_s = options.interval_s,
                           .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
    struct seep_top_view *view = first_view(&job);
    if (!view)
        return SEEP_EXIT_UNUSABLE;
    if (options.once || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return print_once(view, job.utf8);
    seep_wait_begin();
    return seep_top_screen_open(seep_colour_of(stdout)) ? show_live(&job, view)
                                                        : print_once(view, job.utf8);
}
