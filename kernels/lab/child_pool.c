#include "kernels/lab/child_pool.h"

#include "kernels/compute/stopwatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINE_BYTES = 256 };

struct running {
    struct seep_lab_child *child;
    size_t task;
};

struct pool {
    const char *what;
    struct seep_lab_task *tasks;
    size_t n, next, n_done;
    struct running *running;
    size_t n_running;
    double begin_s;
};

/* "3 of 24 variants, 1:05: splat lazy-cached, featdepth right" */
static void show(const struct pool *p)
{
    const unsigned s = (unsigned)(seep_clock_s(CLOCK_MONOTONIC) - p->begin_s);
    char names[LINE_BYTES] = "";
    size_t n = 0;

    for (size_t i = 0; i < p->n_running && n < sizeof names; i++) {
        const int more = snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "",
                                  p->tasks[p->running[i].task].name);
        n += more > 0 ? (size_t)more : 0;
    }
    seep_lab_progress("%zu of %zu %s, %u:%02u: %s", p->n_done, p->n, p->what, s / 60, s % 60,
                      names);
}

static void begin(struct pool *p)
{
    struct seep_lab_task *task = &p->tasks[p->next];
    struct seep_lab_child *child =
        seep_lab_child_begin(task->work, task->arg, task->spawns, &task->err);

    if (child)
        p->running[p->n_running++] = (struct running){child, p->next};
    else
        p->n_done++;
    p->next++;
}

/* Takes those that have ended. */
static void reap(struct pool *p)
{
    for (size_t i = 0; i < p->n_running;) {
        struct seep_lab_task *task = &p->tasks[p->running[i].task];
        if (seep_lab_child_ended(p->running[i].child, &task->rc, &task->err)) {
            p->running[i] = p->running[--p->n_running];
            p->n_done++;
        } else {
            i++;
        }
    }
}

static void pass_on(const struct pool *p, int number)
{
    for (size_t i = 0; i < p->n_running; i++)
        seep_lab_child_signal(p->running[i].child, number);
}

void seep_lab_do_tasks(const char *what, struct seep_lab_task *tasks, size_t n, size_t at_once)
{
    struct pool p = {.what = what,
                     .tasks = tasks,
                     .n = n,
                     .running = calloc(at_once + 1, sizeof *p.running),
                     .begin_s = seep_clock_s(CLOCK_MONOTONIC)};

    for (size_t i = 0; i < n; i++) {
        tasks[i].rc = -SEEP_EIO;
        snprintf(tasks[i].err.text, sizeof tasks[i].err.text, "was not begun");
    }
    while (p.running && (p.n_running || (p.next < n && !seep_lab_interrupted()))) {
        while (p.next < n && p.n_running < at_once && !seep_lab_interrupted())
            begin(&p);
        show(&p);
        const int number = seep_lab_wait_signal(1.0);
        if (number > 0)
            pass_on(&p, number);
        reap(&p);
    }
    seep_lab_progress(NULL);
    free(p.running);
}
