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
    SEEP_SNAPSHOT_UNREAD, /* nobody has read the setting yet */
    SEEP_SNAPSHOT_OFF,
    SEEP_SNAPSHOT_AUTO,
    SEEP_SNAPSHOT_LIST, /* after the listed steps, and when the job asks */
};

/* What the user told it. */
struct seep_snapshot_settings {
    enum seep_snapshot_mode mode;
    /* Of the list, ascending. */
    uint32_t steps[SEEP_SNAPSHOT_LISTED];
    uint32_t n_steps;
};

/* What it is told of the process when the question is asked. */
struct seep_snapshot_moment {
    /* Training steps that have ended, or slices of time if there are none. */
    uint32_t step;
    /* `step` counts training steps. */
    bool by_step;
    /* These steps are iterations of a loop that was found. */
    bool by_loop;
    /* The job asks for a copy. */
    bool asked;
    /* The last stack seen was loading modules. */
    bool importing;
    /* Of the process. */
    uint64_t age_ns;
    uint64_t job_age_ns;
    uint64_t live_bytes;
    /* Resident: a first estimate of what a copy costs. */
    uint64_t anonymous_bytes;
    /* CPU time that the job's readers have cost so far. */
    uint64_t read_ns;
    /* The part of `read_ns` that was taken from the job: no CPU was free. */
    uint64_t taken_ns;
    /* Copies that were read so far. */
    uint32_t n_read;
    /* A copy is being read or evaluated: what that costs is not known yet. */
    bool reading;
    /* Its reader has waited long for a CPU. */
    bool reader_waits;
    /* What the budget leaves for a copy and its reading. */
    uint64_t room_ns;
};

enum seep_snapshot_unit {
    SEEP_SNAPSHOT_UNCOUNTED, /* nobody has asked yet */
    SEEP_SNAPSHOT_SLICES,
    SEEP_SNAPSHOT_STEPS,
};

/* What it remembers of the steps, or slices. Begins anew with another unit, or another loop. */
struct seep_snapshot_course {
    enum seep_snapshot_unit unit;
    /* The step before the first that was seen, or the slice in which imports ended. */
    uint32_t origin;
    /* The age of the process at the first step. */
    uint64_t origin_ns;
    /* The last step that was seen. */
    uint32_t seen;
    /* From `origin` to the next copy that is evaluated. */
    uint32_t gap;
    /* From `origin` to the next copy in reserve. 0: none follows, for one was asked for at
     * `origin`. */
    uint32_t reserve_gap;
    /* The step of the last copy that is evaluated. 0: there was none. */
    uint32_t last;
    /* The step of the one before. 0: there was none. */
    uint32_t before_last;
    /* The age of the process at the last copy of either kind. 0: there was none. */
    uint64_t copied_ns;
    /* It was reported that the next copy costs too much. */
    bool cost_reported;
};

/* What it remembers of the process's memory. */
struct seep_snapshot_levels {
    /* The least that was live since the last copy that is evaluated. */
    uint64_t least_bytes;
    /* The least that was live in each of the last steps, the newest first. 0: in none. */
    uint64_t lows[SEEP_SNAPSHOT_LOWS];
    /* What was live when last asked. */
    uint64_t asked_bytes;
    /* The process was forked, and not copied since: all its live blocks were made since the fork.
     */
    bool forked;
};

/* What it remembers of its own cost. */
struct seep_snapshot_stops {
    /* For how long all copies have stopped the process. */
    uint64_t all_ns;
    /* For how long the last one did. */
    uint64_t last_ns;
};

struct seep_snapshot_policy {
    struct seep_snapshot_settings told;
    struct seep_snapshot_course course;
    struct seep_snapshot_levels levels;
    struct seep_snapshot_stops stops;
    /* Listed steps that have passed. */
    uint32_t n_passed;
    /* A device was out of memory, and that was looked at. */
    bool oom_seen;
};

/* What it decides. */
enum seep_snapshot_answer {
    SEEP_SNAPSHOT_NOT_DUE,
    SEEP_SNAPSHOT_DUE,
    SEEP_SNAPSHOT_RESERVE,       /* a copy that is evaluated only if the job ends before the next */
    SEEP_SNAPSHOT_TOO_EXPENSIVE, /* due otherwise; answered once until a copy is made */
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

/* The same as a device has no memory left: once, since a job may try again and again. DUE or
 * NOT_DUE.
 */
enum seep_snapshot_answer seep_snapshot_policy_ask_at_oom(struct seep_snapshot_policy *policy);

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
