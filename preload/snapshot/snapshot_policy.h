/* When a frozen copy of the process is due: after steps that lie further and further apart, once
 * something has grown, and never at a cost that the job would feel; or where it was asked for. A
 * job may end before the first of them, or before the first has been read, and nobody knows: so
 * there are copies in reserve until then, which are read only if nothing better follows; and one as
 * the interpreter ends.
 * Numbers only: nothing here looks at the process or the clock. Threads: one at a time. */
#ifndef SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_POLICY_H
#define SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_POLICY_H

#include <stdbool.h>
#include <stdint.h>

enum { SEEP_SNAPSHOT_LISTED = 512 };

enum seep_snapshot_mode {
    SEEP_SNAPSHOT_OFF,
    SEEP_SNAPSHOT_AUTO,
    SEEP_SNAPSHOT_LIST, /* after the steps of the list, and where it is asked for */
};

struct seep_snapshot_policy {
    enum seep_snapshot_mode mode;
    uint32_t steps[SEEP_SNAPSHOT_LISTED]; /* of the list, rising */
    uint32_t n_steps;
    uint32_t n_passed; /* those of the list that have come by */
    /* From here on zero at first. */
    bool begun;
    bool forked;          /* and not copied since: all that it says to be live was made since */
    bool by_step;         /* what `origin` and `gap` count */
    uint32_t origin;      /* the first step that was seen, */
    uint64_t origin_ns;   /* at that age of the process */
    uint32_t seen;        /* the last one */
    uint32_t gap;         /* from there to the next copy, */
    uint32_t reserve;     /* and to the next one in reserve */
    uint32_t last;        /* step of the last copy, 0: there was none */
    uint64_t least_bytes; /* that have been live since the last copy */
    uint64_t level_bytes; /* live when last asked */
    bool falls;           /* less is live than when asked before: something is being taken apart */
    uint64_t stop_ns;     /* of all copies so far, */
    uint64_t last_stop_ns;
    bool said_dear; /* that the next one costs too much has been said */
};

/* How things are as the question is asked. */
struct seep_snapshot_moment {
    uint32_t step;   /* training steps that have ended, or slices of time where there are none */
    bool by_step;    /* it is steps, … */
    bool by_loop;    /* … of a loop that was found */
    bool asked;      /* the job asks for one */
    bool importing;  /* modules are being loaded, by the last stack that was seen */
    uint64_t age_ns; /* of the process */
    uint64_t live_bytes;
    uint64_t anonymous_bytes; /* resident: what a copy costs at first is guessed by it */
    uint64_t job_age_ns;
    uint64_t read_ns; /* CPU that reading copies has cost the job, */
    uint32_t n_read;  /* of so many; */
    bool reading;     /* one is being read, whose cost is not known yet */
};

enum seep_snapshot_answer {
    SEEP_SNAPSHOT_NOT_DUE,
    SEEP_SNAPSHOT_DUE,
    SEEP_SNAPSHOT_RESERVE, /* one that is to be read only if the job ends before the next */
    SEEP_SNAPSHOT_DEAR,    /* it would be, but for its cost: said once */
};

/* Reads SEEP_HOLDERS: "auto", "off", or steps with commas between them. What is none of these is
 * left out; NULL and "" are auto. */
void seep_snapshot_policy_read(struct seep_snapshot_policy *policy, const char *text);

enum seep_snapshot_answer seep_snapshot_policy_ask(struct seep_snapshot_policy *policy,
                                                   const struct seep_snapshot_moment *now);

/* The same as the interpreter ends, when variables of modules are all that is left: due where the
 * last copy is old, or there was none, and the job was long enough to judge. Never RESERVE. */
enum seep_snapshot_answer seep_snapshot_policy_ask_last(struct seep_snapshot_policy *policy,
                                                        const struct seep_snapshot_moment *now);

/* A copy that was due has been made, which took `stop_ns`; or could not be: 0. */
void seep_snapshot_policy_done(struct seep_snapshot_policy *policy,
                               const struct seep_snapshot_moment *now, uint64_t stop_ns);

/* The same of one in reserve. */
void seep_snapshot_policy_reserved(struct seep_snapshot_policy *policy,
                                   const struct seep_snapshot_moment *now, uint64_t stop_ns);

/* The job has felt the last one for so long besides, while it went on. */
void seep_snapshot_policy_felt(struct seep_snapshot_policy *policy, uint64_t felt_ns);

/* Whether a stop of that length may follow now: longer ones than a copy's are for a process that
 * cannot be copied. */
bool seep_snapshot_policy_affords(const struct seep_snapshot_policy *policy,
                                  const struct seep_snapshot_moment *now, uint64_t stop_ns);

/* In a forked child: its steps and costs are its own. */
void seep_snapshot_policy_after_fork(struct seep_snapshot_policy *policy);

#endif
