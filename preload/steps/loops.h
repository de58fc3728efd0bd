/* The main loop of a job, found by the Python stacks of its first thread.
 *
 * Compare a stack with the previous event's: if the outermost frame that differs runs the same code
 * at an earlier place, or at the same one with other values in its local variables, a loop in it
 * has begun an iteration. The code and that place identify the loop. If no loop shows this way, a
 * for loop's iterator that has advanced does; that also ends what was repeated within a round.
 * The main loop is the one whose iterations take most of the time: of nested loops the innermost
 * that is slow enough to be steps, or does nearly all the work of one that is. A user's loop takes
 * precedence over any library's, even if it shows up later. Iterations before a loop was chosen are
 * known, and are counted too. Pure: looks only at its arguments; takes no lock. */
#ifndef SEEP_PRELOAD_STEPS_LOOPS_H
#define SEEP_PRELOAD_STEPS_LOOPS_H

#include "preload/python/pyframe_loops.h"

enum { SEEP_LOOP_FRAMES = 16, SEEP_LOOPS = 64, SEEP_LOOP_MARKS = 8 };

/* Whose code contains a loop. */
enum seep_loop_kind {
    SEEP_LOOP_USER = 0,
    SEEP_LOOP_LIBRARY = 1, /* counts if the user's code has no loop */
    SEEP_LOOP_CALLED = 2,  /* in code called back for each item or batch: never counts */
};

/* Returns the kind of the loop in the frame at `depth` of a stack; `outermost` is the frame at
 * depth 0, deeper frames lie below it in memory. */
typedef enum seep_loop_kind seep_loop_kind_fn(const struct seep_pyframe *outermost, unsigned depth);

/* How to look at frames: whose they are, and what changes if their local variables do. */
struct seep_loop_look {
    seep_loop_kind_fn *kind;
    uint64_t (*locals)(const struct seep_pyframe *outermost, unsigned depth);
};

struct seep_loop {
    uintptr_t code;       /* 0: none */
    intptr_t begin;       /* the first place in it where an event occurs; by items: its path */
    bool items;           /* seen by its iterator, not by its places */
    uintptr_t start, end; /* by items: the first and last place in it where the iterator was read */
    uint32_t n_anew;      /* by items: how often it started again */
    uint32_t passed;      /* by places: rounds of its function's outermost for loop since, … */
    uint32_t begun;       /* … and how often that one began anew */
    uint32_t depth;
    enum seep_loop_kind kind;
    bool left;      /* since its last iteration: an outer loop began its next round */
    uint32_t n;     /* iterations */
    uint32_t n_on;  /* of these, consecutive ones … */
    uint64_t on_ns; /* … and the time they took */
    uint64_t first_ns, last_ns;
    uint32_t first_period; /* in which its first iteration ended */
    struct seep_loop_mark {
        uint64_t t_ns;
        uint32_t period;
    } marks[SEEP_LOOP_MARKS]; /* by items: its first iterations' ends */
};

/* All zero at first. */
struct seep_loops {
    unsigned n_last;
    struct seep_loop_frame {
        struct seep_pyframe frame;
        uint64_t locals;
        uint8_t kind_plus_1;  /* 0: unknown */
    } last[SEEP_LOOP_FRAMES]; /* of the previous event, outermost first */
    struct seep_loop loops[SEEP_LOOPS];
    uint64_t since_ns, user_since_ns; /* time of the first iteration of any loop, of a user's; 0:
                                       * none yet */
    uint32_t period;                  /* the current one, set by the caller */
    uint64_t choose_ns;               /* when to choose the main loop again */
    struct seep_loop main;            /* code 0: unknown */
    uint64_t main_path;               /* of the for loop whose rounds are the main loop's; 0: it is
                                       * none, or not known */
    struct seep_loop around;          /* a for loop around it when it was found; code 0: none */
    intptr_t main_last;               /* last position in its frame, … */
    uint64_t main_locals;             /* … and its local variables then */
    unsigned n_items;
    struct seep_pyloop items[SEEP_PYLOOPS]; /* as last read */
};

/* What qualifies as the main loop. */
struct seep_loop_rule {
    uint64_t watch_ns; /* minimum time of watching */
    double share;      /* of that time, spent in its iterations */
    uint32_t least;    /* minimum number of iterations */
    bool busy;         /* the process computes and does not just wait for others */
};

/* Shows an event's stack. True: a loop in the frame at `*depth` has begun an iteration;
 * seep_loops_iterated() counts it, which may make it the main loop. */
bool seep_loops_event(struct seep_loops *loops, const struct seep_pyframe *outermost, unsigned n,
                      const struct seep_loop_look *look, unsigned *depth);
void seep_loops_iterated(struct seep_loops *loops, const struct seep_pyframe *outermost,
                         unsigned depth, seep_loop_kind_fn *kind, uint64_t now_ns);

/* Once the main loop is known: shows an event's stack. True: the main loop has begun an
 * iteration. */
bool seep_loops_main_event(struct seep_loops *loops, const struct seep_pyframe *outermost,
                           unsigned n, const struct seep_loop_look *look);

/* Records that the main loop has begun `rounds` iterations by `now_ns`. */
void seep_loops_main_iterated(struct seep_loops *loops, uint32_t rounds, uint64_t now_ns);

/* A loop whose body is one call is at the same place at each event, but a for loop's iterator shows
 * its progress. The caller shows these now and then, of the frames below `outermost`. Since the
 * items kept last: how many iterations the main loop has begun, if it is among them; and, while one
 * is looked for, whether any loop has begun one. */
uint32_t seep_loops_main_items(struct seep_loops *loops, const struct seep_pyloop *items,
                               unsigned n);
bool seep_loops_items(struct seep_loops *loops, const struct seep_pyframe *outermost,
                      const struct seep_pyloop *items, unsigned n, seep_loop_kind_fn *kind,
                      uint64_t now_ns);
void seep_loops_keep_items(struct seep_loops *loops, const struct seep_pyloop *items, unsigned n);

/* Whether the job is in the main loop, by its iterator: the same as kept last, and as far at least.
 */
bool seep_loops_main_goes_on(struct seep_loops *loops, const struct seep_pyloop *items, unsigned n);

/* The main loop's iterator as kept last, also where its rounds are seen by places, if it was kept
 * where one begins; NULL if it was not among the items. */
struct seep_pyloop *seep_loops_main_item(struct seep_loops *loops);

/* How many rounds of the main loop have passed unseen, if its iterator has come from `before` to
 * `now` since the loop had `n` rounds. By places, the current one may yet show. */
uint32_t seep_loops_unseen(const struct seep_loops *loops, intptr_t before, uint32_t n,
                           intptr_t now);

/* True: the loop that has begun an iteration at `now_ns` becomes the main loop. */
bool seep_loops_choose(struct seep_loops *loops, const struct seep_loop_rule *rule,
                       uint64_t now_ns);

/* Restarts the search for a main loop and forgets all loops; the known main loop stays until
 * another is found. */
void seep_loops_restart(struct seep_loops *loops);

/* The main loop is a library's, or faster than most steps and known only recently: a user's loop,
 * or one around it, may still show up, so the search goes on. */
bool seep_loops_unsettled(const struct seep_loops *loops, uint64_t now_ns);

/* The main loop has not iterated for so long that it may be over. */
bool seep_loops_silent(const struct seep_loops *loops, uint64_t now_ns);

#endif
