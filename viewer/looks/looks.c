#include "viewer/looks/looks.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { PAUSE_PER_LOOK = 10, NICE = 10 };

struct seep_looks {
    struct seep_looks_how how;
    double interval_s, first_s;
    int fd;
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t change;
    bool paused, stop, looking;
    void *seen;
    struct seep_error err;
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int seep_look(const struct seep_looks_how *how, double interval_s, double *next_s, void **seen,
              struct seep_error *err)
{
    double begin = now_s();

    int r = how->look(how->context, seen, err);
    *next_s = fmax(interval_s, PAUSE_PER_LOOK * (now_s() - begin));
    return r;
}

/* Waits until then, or for ever while paused; the lock is held. */
static void wait_until(struct seep_looks *looks, double then)
{
    struct timespec t = {(time_t)then, (long)((then - floor(then)) * 1e9)};

    while (!looks->stop && (looks->paused || now_s() < then)) {
        if (looks->paused)
            pthread_cond_wait(&looks->change, &looks->lock);
        else if (pthread_cond_timedwait(&looks->change, &looks->lock, &t) == ETIMEDOUT)
            break;
    }
}

static void drop(struct seep_looks *looks)
{
    if (looks->seen)
        looks->how.drop(looks->seen);
    looks->seen = NULL;
}

static void hand_over(struct seep_looks *looks, void *seen, const struct seep_error *err)
{
    uint64_t one = 1;

    drop(looks); /* nobody took it */
    looks->seen = seen;
    looks->err = *err;
    (void)!write(looks->fd, &one, sizeof one);
}

static void *look_on(void *argument)
{
    struct seep_looks *looks = argument;
    double next_s = looks->first_s;

    /* Of the thread alone, on Linux. Whoever may not be nicer is as nice as before. */
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
    pthread_mutex_lock(&looks->lock);
    for (;;) {
        struct seep_error err = {0};
        void *seen = NULL;
        wait_until(looks, now_s() + next_s);
        if (looks->stop)
            break;
        looks->looking = true;
        pthread_mutex_unlock(&looks->lock);
        if (seep_look(&looks->how, looks->interval_s, &next_s, &seen, &err) < 0)
            seen = NULL;
        pthread_mutex_lock(&looks->lock);
        looks->looking = false;
        hand_over(looks, seen, &err);
    }
    pthread_mutex_unlock(&looks->lock);
    return NULL;
}

/* Signals are the other thread's. */
static int start_thread(struct seep_looks *looks)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&looks->thread, NULL, look_on, looks);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r;
}

static void destroy(struct seep_looks *looks)
{
    pthread_cond_destroy(&looks->change);
    pthread_mutex_destroy(&looks->lock);
    drop(looks);
    if (looks->fd >= 0)
        close(looks->fd);
    free(looks);
}

struct seep_looks *seep_looks_start(const struct seep_looks_how *how, double interval_s,
                                    double first_s)
{
    struct seep_looks *looks = calloc(1, sizeof *looks);
    pthread_condattr_t clock;

    if (!looks)
        return NULL;
    looks->how = *how;
    looks->interval_s = interval_s;
    looks->first_s = first_s;
    looks->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&looks->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&looks->change, &clock);
    pthread_condattr_destroy(&clock);
    if (looks->fd < 0 || start_thread(looks) != 0) {
        destroy(looks);
        return NULL;
    }
    return looks;
}

int seep_looks_fd(const struct seep_looks *looks)
{
    return looks->fd;
}

void *seep_looks_take(struct seep_looks *looks, struct seep_error *err)
{
    uint64_t n;

    pthread_mutex_lock(&looks->lock);
    (void)!read(looks->fd, &n, sizeof n);
    void *seen = looks->seen;
    looks->seen = NULL;
    *err = looks->err;
    memset(&looks->err, 0, sizeof looks->err);
    pthread_mutex_unlock(&looks->lock);
    return seen;
}

void seep_looks_pause(struct seep_looks *looks, bool paused)
{
    pthread_mutex_lock(&looks->lock);
    looks->paused = paused;
    pthread_cond_signal(&looks->change);
    pthread_mutex_unlock(&looks->lock);
}

bool seep_looks_stop(struct seep_looks *looks)
{
    pthread_mutex_lock(&looks->lock);
    bool looking = looks->looking;
    looks->stop = true;
    pthread_cond_signal(&looks->change);
    pthread_mutex_unlock(&looks->lock);
    if (looking)
        return false;
    pthread_join(looks->thread, NULL);
    destroy(looks);
    return true;
}
