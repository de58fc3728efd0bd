/* The job as one: what the merge makes of all profiles, and what every analysis reads.
 *
 * Step axis: step k ≥ 1 is the k-th training step of the job's main run (or the job's time slice
 * when nothing counts steps); steps ≤ 0 lie before it. A *run* is a training process with its
 * workers and the ranks beside it. Where several came one after the other (a sweep), each has a
 * stretch of the axis to itself: earlier ones below 1, later ones above n_steps. "At step k" means
 * at its end. All steps are int32_t. Bytes and blocks are what programs asked for. Levels are per
 * site and step. Threads: a finished model is read-only but for the scratch that functions name. */
#ifndef SEEP_LIBPROF_MODEL_MODEL_H
#define SEEP_LIBPROF_MODEL_MODEL_H

#include "libprof/model/dictionary.h"
#include "libprof/read/job_read.h"
#include "libprof/read/profile_read.h"
#include "libprof/words/space.h"

enum { SEEP_MODEL_MAX_SPACES = 255, SEEP_STEP_BEFORE = INT32_MIN };

struct seep_totals {
    uint64_t allocations;
    uint64_t frees;
    uint64_t allocated_bytes;
    uint64_t freed_bytes;
    uint64_t peak_bytes;
    int32_t peak_step;
};

static inline uint64_t seep_totals_live(const struct seep_totals *t)
{
    return t->allocated_bytes > t->freed_bytes ? t->allocated_bytes - t->freed_bytes : 0;
}

static inline uint64_t seep_totals_live_blocks(const struct seep_totals *t)
{
    return t->allocations > t->frees ? t->allocations - t->frees : 0;
}

static inline uint64_t seep_sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

struct seep_model_point {
    int32_t step;
    uint32_t blocks;
    uint64_t bytes;
};

/* A site in one thread slot of one process. */
struct seep_model_slot {
    uint32_t next; /* index + 1 */
    uint32_t process;
    uint32_t n_points; /* live bytes over steps, rising; the last is the final state */
    bool first_thread; /* of its process */
    size_t points_at;
};

/* What only sites with a detail record have. */
struct seep_model_extra {
    uint64_t min_bytes, max_bytes; /* 0: not known */
    uint64_t size_marks;
    uint64_t inherited_frees, inherited_freed_bytes;
    uint32_t max_lifetime;
    uint64_t lifetimes[SEEP_LIFETIME_BUCKETS]; /* frees by age in steps */
    uint64_t sizes[SEEP_SIZE_BUCKETS];
};

struct seep_model_site { /* one (stack, space) of the job */
    uint32_t stack;
    uint16_t space;
    uint16_t n_slots; /* saturating */
    uint32_t slots;   /* index + 1 of the first */
    uint32_t extra;   /* index + 1, 0 none */
    int32_t first_step, last_step;
    struct seep_totals totals;
};

struct seep_model_space {
    struct seep_space_name name;
    bool recorded; /* something of it was; else it is there as the model's host */
    struct seep_totals totals;
};

enum seep_process_role { SEEP_ROLE_HELPER, SEEP_ROLE_TRAINER, SEEP_ROLE_WORKER, SEEP_ROLE_RANK };
enum seep_process_exit {
    SEEP_ENDED_EXIT,
    SEEP_ENDED_SIGNAL,
    SEEP_ENDED_RUNNING,
    SEEP_ENDED_UNKNOWN
};

struct seep_model_process {
    struct seep_profile *profile;
    const struct seep_process *entry; /* in its folder's job table, or NULL */
    const struct seep_job *job;       /* that table, or NULL */
    uint32_t folder;
    uint32_t parent;  /* index + 1 of the process that it was forked from, where that is here */
    int64_t clock_ns; /* added to its file's times: see seep_model_ns() */
    uint32_t steps;   /* finished by itself */
    uint32_t period;  /* current, on the axis */
    /* Of the process whose periods this one uses: its own, or whom it follows. */
    uint32_t axis_steps;
    uint32_t axis_first; /* period in which its step 1 ended */
    uint64_t axis_start_ns;
    uint32_t run; /* index in runs[]; of those with axis_steps, where there are runs */
    enum seep_process_role role;
    enum seep_process_exit exit_kind;
    int exit_value;
    bool execed;               /* its program was replaced: the next profile of this pid goes on */
    bool in_worker_loop;       /* a stack of its first thread lies inside a loader worker's loop */
    bool truncated, orphaned;  /* cut file; a parent's file is missing */
    uint64_t start_ns, end_ns; /* on the job's clock; end: last seen alive */
    bool end_known;            /* … is when it said goodbye */
    bool gone;                 /* ended before the job did: see ends.h */
    int32_t end_step;          /* step during which it ended if it was gone, else INT32_MAX */
    uint64_t rss_peak_bytes, pss_peak_bytes; /* pss 0: not known */
    uint16_t space_of[SEEP_MAX_SPACES];      /* header index → job index + 1, 0 unused */
    struct seep_totals spaces[SEEP_MAX_SPACES];

    /* Copy of its timeline, times rising: row i of space s is live[s × n_rows + i]. */
    uint32_t n_rows;
    uint64_t *row_t_ns, *row_rss, *row_anonymous;
    uint32_t *row_period;
    uint64_t *live; /* [SEEP_MAX_SPACES][n_rows] by header index; zero where it has none */
};

/* A process of a job's table that no profile belongs to: it was only counted, or could not record.
 */
struct seep_bare {
    const struct seep_process *entry;
    const struct seep_job *job;
};

static inline bool seep_bare_is_counted(const struct seep_process *entry)
{
    return (entry->flags & SEEP_PROCESS_COUNTED) && !(entry->flags & SEEP_PROCESS_PROFILE);
}

/* One of several trainings that came one after the other. Step k of its own is base + k. */
struct seep_model_run {
    uint32_t leader;   /* the process with the most steps */
    uint64_t start_ns; /* of the first process with steps */
    int32_t base;
    int32_t low,
        high; /* its stretch of the axis: from what came before step 1 to what came after */
};

struct seep_not_read {
    char *name; /* file or folder */
    char *reason;
};

struct seep_model {
    struct seep_dictionary dict;
    struct seep_job **jobs; /* one a folder that holds profiles, NULL where it has none */
    size_t n_jobs;
    struct seep_model_process *processes; /* by start */
    size_t n_processes;
    struct seep_bare *bares; /* by table and place in it; see bare.h */
    size_t n_bares;
    struct seep_model_space spaces[SEEP_MODEL_MAX_SPACES + 1]; /* + 1: the host's */
    size_t n_spaces;
    uint16_t host; /* the space of that class, which every finished model has */
    struct seep_model_site *sites;
    size_t n_sites, sites_capacity;
    struct seep_model_slot *slots;
    size_t n_slots, slots_capacity;
    struct seep_model_extra *extras;
    size_t n_extras, extras_capacity;
    struct seep_model_point *points;
    size_t n_points, points_capacity;
    struct seep_hash_index site_index;
    struct seep_not_read *not_read;
    size_t n_not_read;
    size_t n_folders_not_read; /* of those */

    uint32_t main;               /* the process with the most steps */
    uint32_t root;               /* the first one */
    uint32_t n_steps;            /* finished by main; time slices when step_source is time */
    struct seep_model_run *runs; /* by start; none where step_source is time */
    size_t n_runs;
    enum seep_step_source step_source;
    int32_t *epoch_starts; /* steps during which an epoch began, rising, each once */
    size_t n_epoch_starts;
    uint32_t epochs;           /* 0: not known */
    uint64_t start_ns, end_ns; /* of the whole job, on its clock */
};

/* Times of an untrusted file stay where sums and floating point cannot go wrong: 73 years. */
#define SEEP_MAX_NS (UINT64_C(1) << 61)

/* A time of a process's file on the job's clock: CLOCK_MONOTONIC where all processes share that,
 * else Unix time, which one host's folder never takes but once, so that a step of its clock shows
 * nowhere. 0 … SEEP_MAX_NS. */
static inline uint64_t seep_model_ns(const struct seep_model_process *p, uint64_t t_ns)
{
    int64_t t = (int64_t)(t_ns < SEEP_MAX_NS ? t_ns : SEEP_MAX_NS) + p->clock_ns;

    return t < 0 ? 0 : (uint64_t)t < SEEP_MAX_NS ? (uint64_t)t : SEEP_MAX_NS;
}

void seep_model_fini(struct seep_model *m);

/* The space of that name, which something was recorded of, to *space; false where the model has no
 * room for it. */
bool seep_model_add_space(struct seep_model *m, const char *name, uint16_t *space);

/* The space of the tensors that lie in `device`, to *tensors; false where there is none. */
bool seep_model_tensor_space(const struct seep_model *m, uint16_t device, uint16_t *tensors);

/* Notes a file that could not be read. */
void seep_model_not_read(struct seep_model *m, const char *name, const char *reason);

/* The step of a period of `p`, and the step that the job was in at a time. */
int32_t seep_model_step(const struct seep_model *m, const struct seep_model_process *p,
                        uint32_t period);
int32_t seep_model_step_at(const struct seep_model *m, uint64_t t_ns);

#endif
