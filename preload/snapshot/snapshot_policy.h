/* When a frozen copy of the process is due: on request, or by itself after steps at growing
 * intervals, once something has grown, and never at a cost that the job would feel.
 * A job may end, without warning, before the first copy is made or examined. So where there are no
 * steps, and while a reader waits long for a CPU, there are copies in reserve, which are examined
 * only if nothing better follows; and one copy is made as the interpreter ends.
 * Numbers only: nothing here looks at the process or the clock. Threads: one at a time. */
#ifndef SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_POLICY_H
#define SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_POLICY_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SEEP_SNAPSHOT_LISTED = 512,
    SEEP_SNAPSHOT_LOWS = 3, /* a step comes and goes, and what it takes is not what is kept */
};

enum seep_snapshot_mode {
    SEEP_SNAPSHOT_OFF,
    SEEP_SNAPSHOT_AUTO,
    SEEP_SNAPSHOT_LIST, /* after the listed steps, and when the job asks */
};

struct seep_snapshot_policy {
    enum seep_snapshot_mode mode;
    uint32_t steps[SEEP_SNAPSHOT_LISTED]; /* of the list, ascending */
    uint32_t n_steps;
    uint32_t n_passed; /* listed steps that have passed */
    /* All zero at first from here on. */
    bool begun;
    bool forked;          /* and not copied since: all its live blocks were made since the fork */
    bool by_step;         /* what `origin` and `gap` count */
    uint32_t origin;      /* the first step seen, or the slice in which imports ended, … */
    uint64_t origin_ns;   /* … and the age of the process at the first */
    uint32_t seen;        /* the last one */
    uint32_t gap;         /* from `origin` to the next copy, … */
    uint32_t reserve;     /* … and to the next copy in reserve */
    uint64_t copied_ns;   /* age of the process at the last copy of either kind; 0: none */
    uint32_t last;        /* step of the last copy; 0: none */
    bool several;         /* it was not the first */
    uint64_t least_bytes; /* the least live since the last copy */
    uint64_t lows[SEEP_SNAPSHOT_LOWS]; /* and in each of the last steps, the newest first; 0: in
                                        * none */
    uint64_t level_bytes;              /* live when last asked */
    bool falls;       /* less is live than when last asked: something is being torn down */
    uint64_t stop_ns; /* of all copies so far, */
    uint64_t last_stop_ns;
    bool said_dear; /* it was reported that the next one costs too much */
};

/* The state of the process when the question is asked. */
struct seep_snapshot_moment {
    uint32_t step;   /* training steps that have ended, or slices of time if there are none */
    bool by_step;    /* they are steps, … */
    bool by_loop;    /* … iterations of a loop that was found */
    bool asked;      /* the job asks for one */
    bool importing;  /* the last stack seen was loading modules */
    uint64_t age_ns; /* of the process */
    uint64_t live_bytes;
    uint64_t anonymous_bytes; /* resident: a first estimate of what a copy costs */
    uint64_t job_age_ns;
    uint64_t read_ns;  /* CPU time that reading copies has cost the job … */
    uint32_t n_read;   /* … for this many copies */
    bool reading;      /* one is being read, whose cost is not known yet, … */
    bool reader_waits; /* … or has been, and its reader has waited long for a CPU */
    uint64_t taken_ns; /* of read_ns, what was taken from the job: no CPU was free */
    uint64_t room_ns;  /* what the budget leaves for a copy and its reading */
};

enum seep_snapshot_answer {
    SEEP_SNAPSHOT_NOT_DUE,
    SEEP_SNAPSHOT_DUE,
    SEEP_SNAPSHOT_RESERVE, /* a copy that is read only if the job ends before the next */
    SEEP_SNAPSHOT_DEAR,    /* due, but too expensive: reported once */
};

/* Reads SEEP_HOLDERS: "auto", "off", or steps separated by commas. Anything else is ignored; NULL
 * and "" mean auto. */
void seep_snapshot_policy_read(struct seep_snapshot_policy *policy, const char *text);

enum seep_snapshot_answer seep_snapshot_policy_ask(struct seep_snapshot_policy *policy,
                                                   const struct seep_snapshot_moment *now);

/* The same as the interpreter ends, when only variables of modules are left: due if the last copy
 * is old, or there was none, and the job was long enough to judge. Never RESERVE. */
enum seep_snapshot_answer seep_snapshot_policy_ask_last(struct seep_snapshot_policy *policy,
                                                        const struct seep_snapshot_moment *now);

/* A copy that was due was made and took `stop_ns`; 0: it could not be made. */
void seep_snapshot_policy_done(struct seep_snapshot_policy *policy,
                               const struct seep_snapshot_moment *now, uint64_t stop_ns);

/* The same for a copy in reserve. */
void seep_snapshot_policy_reserved(struct seep_snapshot_policy *policy,
                                   const struct seep_snapshot_moment *now, uint64_t stop_ns);

/* The last copy slowed the job by this much after the stop. */
void seep_snapshot_policy_felt(struct seep_snapshot_policy *policy, uint64_t felt_ns);

/* Whether the job can afford a stop of that length now: stops longer than a copy's are for a
 * process that cannot be copied. */
bool seep_snapshot_policy_affords(const struct seep_snapshot_policy *policy,
                                  const struct seep_snapshot_moment *now, uint64_t stop_ns);

/* In a forked child, which has its own steps and costs. */
void seep_snapshot_policy_after_fork(struct seep_snapshot_policy *policy);

#endif
