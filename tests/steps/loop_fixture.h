/* Made-up stacks for the search of a main loop. */
#ifndef SEEP_TESTS_STEPS_LOOP_FIXTURE_H
#define SEEP_TESTS_STEPS_LOOP_FIXTURE_H

#include <check.h>
#include <string.h>

#include "preload/steps/loops.h"
#include "tests/suite.h"

#define SECOND UINT64_C(1000000000)
#define MS     UINT64_C(1000000)

enum { MODULE = 0x1000, MAIN = 0x2000, HELPER = 0x3000, LIBRARY = 0x8000, FORWARD = 0x9000 };

static struct seep_loops loops;
static struct seep_loop_rule rule;
static uint64_t clock_ns;
static unsigned n_iterations, n_found;
static uint64_t main_locals; /* of MAIN's frame; others' do not change */

static void begin(void)
{
    memset(&loops, 0, sizeof(loops));
    rule = (struct seep_loop_rule){.watch_ns = 250 * MS, .share = 0.5, .busy = true};
    clock_ns = SECOND;
    n_iterations = n_found = 0;
    main_locals = 1;
}

static enum seep_loop_kind kind_of(const struct seep_pyframe *outermost, unsigned depth)
{
    enum seep_loop_kind kind = SEEP_LOOP_USER;
    for (unsigned i = 0; i <= depth && kind != SEEP_LOOP_CALLED; i++) {
        uintptr_t code = (outermost - i)->code;
        kind = code == LIBRARY   ? SEEP_LOOP_LIBRARY
               : code == FORWARD ? SEEP_LOOP_CALLED
                                 : SEEP_LOOP_USER;
    }
    return kind;
}

static uint64_t locals_of(const struct seep_pyframe *outermost, unsigned depth)
{
    return (outermost - depth)->code == MAIN ? main_locals : 0;
}

static const struct seep_loop_look frames_look = {kind_of, locals_of};

/* An event, so long after the one before, in the module's frame at place 5, and in those that
 * are given from the outermost to the innermost: code, place, …, 0. */
static void event_us(uint64_t after_us, const intptr_t *frames)
{
    struct seep_pyframe stack[20];
    unsigned n = 0, top = N(stack) - 1;
    stack[top - n++] = (struct seep_pyframe){MODULE, 5};
    for (; *frames; frames += 2)
        stack[top - n++] = (struct seep_pyframe){(uintptr_t)frames[0], (uintptr_t)frames[1]};
    clock_ns += after_us * 1000;
    unsigned depth;
    bool iterated = loops.main.code && seep_loops_main_event(&loops, &stack[top], n, &frames_look);
    if (!loops.main.code || seep_loops_silent(&loops, clock_ns) ||
        seep_loops_unsettled(&loops, clock_ns)) {
        if (seep_loops_event(&loops, &stack[top], n, &frames_look, &depth)) {
            seep_loops_iterated(&loops, &stack[top], depth, kind_of, clock_ns);
            if (seep_loops_choose(&loops, &rule, clock_ns)) {
                n_found++;
                return;
            }
        }
    }
    if (iterated)
        seep_loops_main_iterated(&loops, 1, clock_ns);
    n_iterations += iterated;
}

#define EVENT(after_ms, ...)    event_us(1000 * (after_ms), (const intptr_t[]){__VA_ARGS__, 0})
#define EVENT_US(after_us, ...) event_us(after_us, (const intptr_t[]){__VA_ARGS__, 0})

#endif
