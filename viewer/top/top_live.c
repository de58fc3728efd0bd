#include "viewer/top/top_live.h"

#include "viewer/follow/follow.h"
#include "viewer/follow/wait.h"
#include "viewer/top/top_picture.h"
#include "viewer/top/top_screen.h"
#include "viewer/viewer.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

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

static void take(struct live *live)
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

static void press(struct live *live)
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
            take(live);
        press(live); /* also after a signal: the window may have another size */
    }
}

int seep_top_live(const struct seep_top_job *job, struct seep_top_view *view)
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
