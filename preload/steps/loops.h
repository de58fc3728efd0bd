/* The main loop of a job, found by the Python stacks of its first thread.
 *
 * Where the outermost frame that differs from the event before runs the same code at an earlier
 * place, a loop in it has begun an iteration. Loops are told apart by their code and by that place.
 * Where none shows so, a for loop's iterator that has come further does.
 * The main loop is the one in whose iterations most of the time passes: of nested ones the
 * innermost that is slow enough to be steps, or does nearly all the work of such a one. The user's
 * goes before any library's, also where it shows later. Iterations that passed before a loop was
 * chosen are known, and are counted back. Pure: it sees what it is shown, and keeps no lock. */
#ifndef SEEP_PRELOAD_STEPS_LOOPS_H
#define SEEP_PRELOAD_STEPS_LOOPS_H

#include "preload/python/pyframe_loops.h"

enum { SEEP_LOOP_FRAMES = 16, SEEP_LOOPS = 64 };

/* Whose code a loop lies in. */
enum seep_loop_kind {
    SEEP_LOOP_USER = 0,
    SEEP_LOOP_LIBRARY = 1, /* counts where the user's code has none */
    SEEP_LOOP_CALLED = 2,  /* in what is called back for each item or batch: never */
};

/* Tells it of the loop in the frame at `depth` of a stack whose frames lie below `outermost`,
 * which has depth 0. */
typedef enum seep_loop_kind seep_loop_kind_fn(const struct seep_pyframe *outermost, unsigned depth);

struct seep_loop {
    uintptr_t code;  /* 0: none */
    intptr_t begin;  /* the first place in it at which something happens; by items: its path */
    bool items;      /* seen by its iterator: its places do not show it */
    intptr_t unit;   /* by items: the least by which that came further, … */
    intptr_t way;    /* … and all of it, … */
    uint32_t n_anew; /* … and how often it began anew */
    uint32_t depth;
    enum seep_loop_kind kind;
    bool left;      /* since its last iteration, for another round of a loop around it */
    uint32_t n;     /* iterations, */
    uint32_t n_on;  /* of these, such that followed one another, … */
    uint64_t on_ns; /* … and how long they took */
    uint64_t first_ns, last_ns;
    uint32_t first_period; /* in which its first iteration ended */
};

/* All zero at first. */
struct seep_loops {
    unsigned n_last;
    struct seep_pyframe last[SEEP_LOOP_FRAMES]; /* of the event before, outermost first */
    struct seep_loop loops[SEEP_LOOPS];
    uint64_t since_ns, user_since_ns; /* the first iteration of all, of the user's; 0: none yet */
    uint32_t period;                  /* the caller says which it is */
    uint64_t choose_ns;               /* when it is to be asked again which is the main loop */
    struct seep_loop main;            /* code 0: not known */
    intptr_t main_last;               /* where its frame was last */
    unsigned n_items;
    struct seep_pyloop items[SEEP_PYLOOPS]; /* as they were read last */
};

/* What may be the main loop. */
struct seep_loop_rule {
    uint64_t watch_ns; /* so long it has to be watched */
    double share;      /* of the time since then passes in its iterations */
    uint32_t least;    /* so many iterations at least */
    bool busy;         /* the process computes: it does not only wait for others */
};

/* An event with that stack; `now_ns` is asked for the time where that is needed. Where a loop has
 * begun an iteration, which may be what makes it the main loop, the time is returned, else 0. */
uint64_t seep_loops_event(struct seep_loops *loops, const struct seep_pyframe *outermost,
                          unsigned n, seep_loop_kind_fn *kind, uint64_t (*now_ns)(void));

/* Once the main loop is known: an event with that stack. True: the main loop has begun an
 * iteration. */
static inline bool seep_loops_main_event(struct seep_loops *loops,
                                         const struct seep_pyframe *outermost, unsigned n)
{
    const struct seep_pyframe *frame = outermost - loops->main.depth;
    if (loops->main.items || n <= loops->main.depth || frame->code != loops->main.code)
        return false;
    intptr_t before = loops->main_last, now = (intptr_t)frame->position;
    loops->main_last = now;
    return now < before && now <= loops->main.begin;
}

/* The main loop's iterations that have begun by then are noted. */
void seep_loops_main_iterated(struct seep_loops *loops, uint32_t rounds, uint64_t now_ns);

/* A loop whose body is one call stands at the same place in each event, but a for loop's iterator
 * tells how far it has come. These are shown now and then, those of frames below `outermost`.
 * How many iterations the main loop, if it is one of them, has begun since they were last; and,
 * where one is looked for, whether any has begun one. Both compare with what was kept last. */
uint32_t seep_loops_main_items(struct seep_loops *loops, const struct seep_pyloop *items,
                               unsigned n);
bool seep_loops_items(struct seep_loops *loops, const struct seep_pyframe *outermost,
                      const struct seep_pyloop *items, unsigned n, seep_loop_kind_fn *kind,
                      uint64_t now_ns);
void seep_loops_keep_items(struct seep_loops *loops, const struct seep_pyloop *items, unsigned n);

/* True: the loop that has begun an iteration at `now_ns` is the main loop from now on, which it was
 * not before. */
bool seep_loops_choose(struct seep_loops *loops, const struct seep_loop_rule *rule,
                       uint64_t now_ns);

/* Looks for a main loop again, with nothing known of what was; the one that is known stays until
 * another is found. */
void seep_loops_restart(struct seep_loops *loops);

/* The main loop is a library's, or faster than most steps and not known for long: one of the
 * user's, or around it, may show yet, which is looked for meanwhile. */
bool seep_loops_unsettled(const struct seep_loops *loops, uint64_t now_ns);

/* The main loop has begun no iteration for so long that it may be over. */
bool seep_loops_silent(const struct seep_loops *loops, uint64_t now_ns);

#endif
