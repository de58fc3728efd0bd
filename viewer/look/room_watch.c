#include "viewer/look/room_watch.h"

#include "libprof/base/text.h"
#include "viewer/look/look_choice.h"
#include "viewer/viewer.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    POLL_NS = 1000 * 1000,
    OWN_TICKS = 4, /* seep takes memory more slowly than a job may */
    SECOND_NS = 1000 * 1000 * 1000,
};

static void look_at_copy(struct seep_room_watch *w)
{
    struct seep_memory_room room;

    seep_memory_room_read("/proc", (uint32_t)w->pid, &room);
    if (!seep_look_is_short(&room, w->copy_bytes))
        return;
    kill(w->copy, SIGKILL);
    w->ended_copy = true;
    w->copy = 0;
}

/* By its pid: limits of its own (setrlimit) let it fail where it can say so, and harm no job. */
static void look_at_own(struct seep_room_watch *w)
{
    char left[SEEP_SIZE_TEXT];
    struct seep_memory_room room;

    seep_memory_room_read("/proc", (uint32_t)getpid(), &room);
    if (!seep_look_is_short(&room, 0))
        return;
    w->is_short = true;
    if (!w->may_exit)
        return;
    seep_complain(
        "memory was short: %s left only %s, so the look at process %d was stopped: look at "
        "it from outside of its container, or with a larger limit",
        seep_memory_limit_text(room.nearest), seep_text_size((double)room.left_bytes, left),
        (int)w->pid);
    _exit(SEEP_EXIT_UNUSABLE);
}

static void sleep_for(struct seep_room_watch *w, long ns)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ns;
    until.tv_sec += until.tv_nsec / SECOND_NS;
    until.tv_nsec %= SECOND_NS;
    (void)pthread_cond_timedwait(&w->wake, &w->lock, &until);
}

static void *watch_on(void *watch)
{
    struct seep_room_watch *w = watch;

    pthread_mutex_lock(&w->lock);
    for (unsigned tick = 0; !w->ends; tick++) {
        if (w->copy)
            look_at_copy(w);
        if (tick % OWN_TICKS == 0)
            look_at_own(w);
        sleep_for(w, POLL_NS);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* A signal that ends seep must not meet this thread while the other has a process stopped. */
static int start(struct seep_room_watch *w)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&w->thread, NULL, watch_on, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed ? -SEEP_ENOMEM : 0;
}

int seep_room_watch_begin(struct seep_room_watch *w, pid_t pid)
{
    pthread_condattr_t clock;

    *w = (struct seep_room_watch){.pid = pid};
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &clock);
    pthread_condattr_destroy(&clock);
    return start(w);
}

void seep_room_watch_end(struct seep_room_watch *w)
{
    pthread_mutex_lock(&w->lock);
    w->ends = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
}

void seep_room_watch_copy(struct seep_room_watch *w, pid_t copy, uint64_t copy_bytes)
{
    pthread_mutex_lock(&w->lock);
    w->copy = copy;
    w->copy_bytes = copy_bytes;
    pthread_mutex_unlock(&w->lock);
}

void seep_room_watch_may_exit(struct seep_room_watch *w)
{
    pthread_mutex_lock(&w->lock);
    w->may_exit = true;
    pthread_mutex_unlock(&w->lock);
}

void seep_room_watch_read(struct seep_room_watch *w, pid_t pid, struct seep_memory_room *room)
{
    pthread_mutex_lock(&w->lock);
    seep_memory_room_read("/proc", (uint32_t)pid, room);
    pthread_mutex_unlock(&w->lock);
}
