#include "viewer/follow/follow.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAUSE_PER_READING = 10, NICE = 10 };

struct seep_follower {
    struct seep_follow_how how;
    double interval_s, first_s;
    int fd;
    pthread_t thread;
    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t change;
    bool paused, stop, reading;
    void *seen;
    struct seep_error err;
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int seep_follow_once(const struct seep_follow_how *how, double interval_s, double *next_s,
                     void **seen, struct seep_error *err)
{
    double begin = now_s();

    int r = how->read(how->context, seen, err);
    *next_s = fmax(interval_s, PAUSE_PER_READING * (now_s() - begin));
    return r;
}

/* Waits until then, or for ever while paused; the lock is held. */
static void wait_until(struct seep_follower *follower, double then)
{
    struct timespec t = {(time_t)then, (long)((then - floor(then)) * 1e9)};

    while (!follower->stop && (follower->paused || now_s() < then)) {
        if (follower->paused)
            pthread_cond_wait(&follower->change, &follower->lock);
        else if (pthread_cond_timedwait(&follower->change, &follower->lock, &t) == ETIMEDOUT)
            break;
    }
}

static void drop(struct seep_follower *follower)
{
    if (follower->seen)
        follower->how.drop(follower->seen);
    follower->seen = NULL;
}

static void hand_over(struct seep_follower *follower, void *seen, const struct seep_error *err)
{
    uint64_t one = 1;

    drop(follower); /* never taken */
    follower->seen = seen;
    follower->err = *err;
    (void)!write(follower->fd, &one, sizeof one);
}

static void *read_on(void *argument)
{
    struct seep_follower *follower = argument;
    double next_s = follower->first_s;

    /* On Linux this affects only this thread. If it is not permitted, the priority stays as it
     * was. */
    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
    pthread_mutex_lock(&follower->lock);
    for (;;) {
        struct seep_error err = {0};
        void *seen = NULL;
        wait_until(follower, now_s() + next_s);
        if (follower->stop)
            break;
        follower->reading = true;
        pthread_mutex_unlock(&follower->lock);
        if (seep_follow_once(&follower->how, follower->interval_s, &next_s, &seen, &err) < 0)
            seen = NULL;
        pthread_mutex_lock(&follower->lock);
        follower->reading = false;
        hand_over(follower, seen, &err);
    }
    pthread_mutex_unlock(&follower->lock);
    return NULL;
}

/* Signals are left to the other thread. */
static int start_thread(struct seep_follower *follower)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&follower->thread, NULL, read_on, follower);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r;
}

static void destroy(struct seep_follower *follower)
{
    pthread_cond_destroy(&follower->change);
    pthread_mutex_destroy(&follower->lock);
    drop(follower);
    if (follower->fd >= 0)
        close(follower->fd);
    free(follower);
}

struct seep_follower *seep_follow_start(const struct seep_follow_how *how, double interval_s,
                                        double first_s)
{
    struct seep_follower *follower = calloc(1, sizeof *follower);
    pthread_condattr_t clock;

    if (!follower)
        return NULL;
    follower->how = *how;
    follower->interval_s = interval_s;
    follower->first_s = first_s;
    follower->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&follower->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&follower->change, &clock);
    pthread_condattr_destroy(&clock);
    if (follower->fd < 0 || start_thread(follower) != 0) {
        destroy(follower);
        return NULL;
    }
    return follower;
}

int seep_follow_fd(const struct seep_follower *follower)
{
    return follower->fd;
}

void *seep_follow_take(struct seep_follower *follower, struct seep_error *err)
{
    uint64_t n;

    pthread_mutex_lock(&follower->lock);
    (void)!read(follower->fd, &n, sizeof n);
    void *seen = follower->seen;
    follower->seen = NULL;
    *err = follower->err;
    memset(&follower->err, 0, sizeof follower->err);
    pthread_mutex_unlock(&follower->lock);
    return seen;
}

void seep_follow_pause(struct seep_follower *follower, bool paused)
{
    pthread_mutex_lock(&follower->lock);
    follower->paused = paused;
    pthread_cond_signal(&follower->change);
    pthread_mutex_unlock(&follower->lock);
}

bool seep_follow_stop(struct seep_follower *follower)
{
    pthread_mutex_lock(&follower->lock);
    bool reading = follower->reading;
    follower->stop = true;
    pthread_cond_signal(&follower->change);
    pthread_mutex_unlock(&follower->lock);
    if (reading)
        return false;
    pthread_join(follower->thread, NULL);
    destroy(follower);
    return true;
}
