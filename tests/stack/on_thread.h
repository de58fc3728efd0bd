/* A walk on a thread's own stack. */
#ifndef SEEP_TESTS_STACK_ON_THREAD_H
#define SEEP_TESTS_STACK_ON_THREAD_H

#include <check.h>
#include <pthread.h>
#include <string.h>

#include "preload/stack/walk.h"

struct on_thread {
    struct seep_walk *walk;
    void (*body)(void);
};

/* A walk remembers the stack that it was made on. */
static void *on_thread_run(void *of)
{
    const struct on_thread *it = of;

    memset(&it->walk->stacks, 0, sizeof(it->walk->stacks));
    it->body();
    return NULL;
}

static inline void on_thread(struct seep_walk *walk, void (*body)(void))
{
    struct on_thread it = {walk, body};
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, on_thread_run, &it), 0);
    pthread_join(thread, NULL);
    memset(&walk->stacks, 0, sizeof(walk->stacks));
}

#endif
