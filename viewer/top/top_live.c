#include "viewer/top/top_live.h"

#include "viewer/looks/looks.h"
#include "viewer/looks/wait.h"
#include "viewer/top/top_picture.h"
#include "viewer/top/top_screen.h"
#include "viewer/viewer.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

struct live {
    struct seep_top_view *view;
    struct seep_top_choice choice;
    struct seep_looks *looks;
    bool utf8, no_memory, hung_up;
    char message[SEEP_ERROR_TEXT_BYTES + 64]; /* about the last look; "" */
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

/* A job that has ended is looked at no more: nothing changes. */
static void pause_looks(struct live *live)
{
    seep_looks_pause(live->looks, live->choice.paused || live->view->ended);
}

static void take(struct live *live)
{
    struct seep_error err;
    json_t *report = seep_looks_take(live->looks, &err);

    live->message[0] = '\0';
    if (!report) {
        if (err.text[0])
            snprintf(live->message, sizeof live->message, "the last look failed: %s: q quits",
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
    pause_looks(live);
}

static void press(struct live *live)
{
    for (long key; (key = seep_top_screen_key()) != SEEP_TOP_NO_KEY;) {
        if (key > 0)
            seep_top_press(&live->choice, live->view, key);
    }
    pause_looks(live);
}

static void follow(struct live *live)
{
    enum { KEYS, LOOKS };
    struct pollfd files[] = {
        [KEYS] = {.fd = STDIN_FILENO, .events = POLLIN}, [LOOKS] = {.events = POLLIN}};

    while (!live->choice.quit && !live->no_memory && !live->hung_up) {
        draw(live);
        /* What a look brings that was under way waits until it goes on. */
        files[LOOKS].fd = live->choice.paused ? -1 : seep_looks_fd(live->looks);
        files[LOOKS].revents = 0;
        seep_wait(files, 2, -1);
        if (seep_wait_ended())
            break;
        live->hung_up = files[KEYS].revents & (POLLHUP | POLLERR | POLLNVAL);
        if (files[LOOKS].revents)
            take(live);
        press(live); /* also after a signal: the window may have another size */
    }
}

int seep_top_live(const struct seep_top_job *job, struct seep_top_view *view)
{
    struct live live = {.view = view, .utf8 = job->utf8};

    live.looks = seep_looks_start(&job->how, job->interval_s, job->next_s);
    live.no_memory = !live.looks;
    if (live.looks) {
        pause_looks(&live);
        follow(&live);
    }
    seep_top_screen_close();
    if (live.no_memory)
        seep_complain("there is no memory or no thread left: end other programs");
    int status = live.no_memory ? SEEP_EXIT_UNUSABLE : 0;
    if (live.looks && !seep_looks_stop(live.looks))
        _exit(status); /* a look of minutes would have to be waited for */
    seep_top_view_destroy(live.view);
    return status;
}
