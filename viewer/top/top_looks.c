#include "viewer/top/top_looks.h"

#include "libprof/analysis.h"

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

struct seep_top_looks {
    const char *folder;
    double interval_s, first_s;
    int fd;
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t change;
    bool paused, stop, looking;
    json_t *report;
    struct seep_error err;
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int seep_top_look(const char *folder, double interval_s, double *next_s, json_t **report,
                  struct seep_error *err)
{
    struct seep_analysis_options options = {.series = true};
    double begin = now_s();

    int r = seep_analyse(&folder, 1, &options, report, err);
    *next_s = fmax(interval_s, PAUSE_PER_LOOK * (now_s() - begin));
    return r;
}

/* Waits until then, or for ever while paused; the lock is held. */
static void wait_until(struct seep_top_looks *looks, double then)
{
    struct timespec t = {(time_t)then, (long)((then - floor(then)) * 1e9)};

    while (!looks->stop && (looks->paused || now_s() < then)) {
        if (looks->paused)
            pthread_cond_wait(&looks->change, &looks->lock);
        else if (pthread_cond_timedwait(&looks->change, &looks->lock, &t) == ETIMEDOUT)
            break;
    }
}

static void hand_over(struct seep_top_looks *looks, json_t *report, const struct seep_error *err)
{
    uint64_t one = 1;

    json_decref(looks->report); /* nobody took it */
    looks->report = report;
    looks->err = *err;
    (void)!write(looks->fd, &one, sizeof one);
}

static void *look_on(void *argument)
{
    struct seep_top_looks *looks = argument;
    double next_s = looks->first_s;

    /* Of the thread alone, on Linux. Whoever may not be nicer is as nice as before. */
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
    pthread_mutex_lock(&looks->lock);
    for (;;) {
        struct seep_error err = {0};
        json_t *report = NULL;
        wait_until(looks, now_s() + next_s);
        if (looks->stop)
            break;
        looks->looking = true;
        pthread_mutex_unlock(&looks->lock);
        if (seep_top_look(looks->folder, looks->interval_s, &next_s, &report, &err) < 0)
            report = NULL;
        pthread_mutex_lock(&looks->lock);
        looks->looking = false;
        hand_over(looks, report, &err);
    }
    pthread_mutex_unlock(&looks->lock);
    return NULL;
}

/* Signals are the other thread's. */
static int start_thread(struct seep_top_looks *looks)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&looks->thread, NULL, look_on, looks);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r;
}

static void destroy(struct seep_top_looks *looks)
{
    pthread_cond_destroy(&looks->change);
    pthread_mutex_destroy(&looks->lock);
    json_decref(looks->report);
    if (looks->fd >= 0)
        close(looks->fd);
    free(looks);
}

struct seep_top_looks *seep_top_looks_start(const char *folder, double interval_s, double first_s)
{
    struct seep_top_looks *looks = calloc(1, sizeof *looks);
    pthread_condattr_t clock;

    if (!looks)
        return NULL;
    looks->folder = folder;
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

int seep_top_looks_fd(const struct seep_top_looks *looks)
{
    return looks->fd;
}

json_t *seep_top_looks_take(struct seep_top_looks *looks, struct seep_error *err)
{
    uint64_t n;

    pthread_mutex_lock(&looks->lock);
    (void)!read(looks->fd, &n, sizeof n);
    json_t *report = looks->report;
    looks->report = NULL;
    *err = looks->err;
    memset(&looks->err, 0, sizeof looks->err);
    pthread_mutex_unlock(&looks->lock);
    return report;
}

void seep_top_looks_pause(struct seep_top_looks *looks, bool paused)
{
    pthread_mutex_lock(&looks->lock);
    looks->paused = paused;
    pthread_cond_signal(&looks->change);
    pthread_mutex_unlock(&looks->lock);
}

bool seep_top_looks_stop(struct seep_top_looks *looks)
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
