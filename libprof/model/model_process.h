/* A process of the job, and what is known of it. Each field says in brackets which stage of the
 * model sets it (enum seep_model_stage); none reads the profile's header once that is closed. */
#ifndef SEEP_LIBPROF_MODEL_MODEL_PROCESS_H
#define SEEP_LIBPROF_MODEL_MODEL_PROCESS_H

#include "libprof/read/profile_read.h"

struct seep_totals {
    uint64_t allocations;
    uint64_t frees;
    uint64_t allocated_bytes;
    uint64_t freed_bytes;
    uint64_t peak_bytes;
    int32_t peak_step;
};

enum seep_process_role {
#define SEEP_PROCESS_ROLE(id, name) SEEP_ROLE_##id,
#include "libprof/words/process_roles.def"
#undef SEEP_PROCESS_ROLE
};
enum seep_process_exit {
    SEEP_ENDED_EXIT,
    SEEP_ENDED_SIGNAL,
    SEEP_ENDED_RUNNING,
    SEEP_ENDED_UNKNOWN
};

struct seep_process_end {
    enum seep_process_exit kind;
    int value;          /* the status or the signal's number */
    bool terminated;    /* by the process of the job that had started it, with terminate(): no
                         * failure */
    bool out_of_memory; /* the kernel killed it for lack of memory */
    bool replaced;      /* by exec: its successor ended like this */
};

/* Identity of a process. Texts of a process that was read are never NULL: "" is unknown. */
struct seep_process_identity {
    uint32_t pid, ppid;
    int32_t rank; /* −1: none; so are all that follow */
    int32_t local_rank, node, world_size, local_size, restart;
    const char *job_id; /* of the launcher; "": not known */
    const char *file;   /* the name of its profile */
    const char *host, *exe, *cwd;
    const char *argv; /* argv_bytes, NUL-separated */
    uint32_t argv_bytes;
    uint32_t python_version; /* hex as PY_VERSION_HEX, 0: no Python seen */
    uint32_t python_support; /* enum seep_python_support */
    uint32_t python_unseen;  /* enum seep_python_unseen */
    uint32_t arena_bytes;    /* size of the arenas mapped for small objects; 0: unknown */
    const char *allocator;   /* the object whose malloc comes before seep's, "": none */
    uint64_t start_unix_ns;
    uint64_t start_own_ns; /* CLOCK_MONOTONIC of its machine and boot */
};

/* What bounded its memory; 0: nothing. */
struct seep_process_limits {
    uint64_t address_bytes; /* RLIMIT_AS */
    uint64_t data_bytes;    /* RLIMIT_DATA */
    uint64_t cgroup_bytes;  /* the tightest along the path */
    uint64_t ram_bytes;
    uint32_t cgroup_version; /* 1 or 2 */
};

/* How it was recorded. */
struct seep_process_recording {
    uint64_t sample_bytes; /* largest mean gap of a sampled site, 0: every block was recorded */
    struct seep_cost cost; /* of seep itself */
    uint64_t uncounted_stacks_bytes;    /* allocated before it had a profile */
    uint64_t waited_ns;                 /* from its start until it was woken to record, or 0 */
    uint64_t dropped[SEEP_N_DROPS];     /* events, by enum seep_drop */
    bool hooks_seen[SEEP_MAX_COVERAGE]; /* in the order of hooks.def */
    struct seep_tensor_books tensors[SEEP_MAX_DEVICES]; /* as the profile says */
    struct seep_device_aliases aliases;                 /* the same */
    uint32_t n_refused; /* calls of the CUDA runtime or driver that had no room */
    struct seep_device_use uses[SEEP_MAX_DEVICES]; /* the same */
    uint32_t allocator_settings;                   /* bits of enum seep_allocator_settings */
    uint32_t shortages_left_out;                   /* failed requests of which no more is known */
    uint32_t host_shortages_left_out;              /* the same for host memory */
    uint16_t cupti, cupti_error;                   /* as in the profile, unchecked */
    uint32_t snapshots_refused[SEEP_N_SNAPSHOT_REFUSALS]; /* by enum seep_snapshot_refusal */
    bool inherits; /* it was forked from a process that recorded */
};

/* Samples of what its RSS consisted of: times may not rise, none is 0. Figures are capped so that
 * sums are exact in floating point. */
struct seep_process_samples {
    uint32_t n;
    struct seep_rss_sample *list;
    struct seep_rss_sample peak; /* the largest of all samples taken; t_ns 0: none was */
};

/* What it used of devices, observed from outside: times rise for each device. */
struct seep_process_looks {
    uint32_t n;
    struct seep_device_look *list;
};

/* Threads by their slots in the profile, up to the last used one; tid 0: unused. A slot that one
 * thread left is reused by a later one: the data are of the last. */
struct seep_process_thread {
    uint32_t tid;
    uint32_t n; /* number of threads that used it, one after the other */
    char name[16];
};

struct seep_process_threads {
    uint32_t n;
    struct seep_process_thread *list;
};

struct seep_model_process {
    struct seep_profile *profile; /* [opened] open until all that need it are merged, then NULL */
    const struct seep_process *entry; /* [opened] in its folder's job table, or NULL */
    const struct seep_job *job;       /* [opened] that table, or NULL */
    uint32_t folder;                  /* [opened] */

    /* [opened] What its header says. */
    char *texts; /* the identity's */
    struct seep_process_identity id;
    struct seep_process_limits limits;
    struct seep_process_recording recording;
    struct seep_process_samples samples;
    uint32_t written_site_plus_1;    /* [merged] of most that it had inherited and wrote to */
    struct seep_process_looks looks; /* times: [sorted] on the job's clock */
    struct seep_process_threads threads;
    uint64_t address_space_bytes; /* when last looked at */
    uint32_t said_kind;           /* enum seep_exit_kind: how it said it would end, … */
    int32_t said_value;           /* … and with what */
    bool execed;    /* its program was replaced: the next profile of this pid continues it */
    bool end_known; /* it reported its end: end_ns is exact */
    uint32_t n_epochs;
    uint32_t *epoch_periods; /* in which they began */

    /* Copy of its timeline, times rising: row i of space s is live[s × n_rows + i]. */
    uint32_t n_rows;                              /* [opened] */
    uint64_t *row_t_ns, *row_rss, *row_anonymous; /* [opened] times: [sorted] on the job's clock */
    uint32_t *row_period;                         /* [opened] */
    uint64_t cpu_ns;                              /* [opened] CPU time of all its threads; 0: not
                                                   * known */
    uint64_t cpu_ns_a_step;                       /* [opened] of it, from its second step on; 0: it
                                                   * made no two */
    uint64_t *live; /* [merged] [SEEP_MAX_SPACES][n_rows] by header index; zero where it has none */

    uint32_t parent;  /* [linked] index + 1 of the process it was forked from, if that is here */
    int64_t clock_ns; /* [sorted] added to its file's times: see seep_model_ns() */
    uint64_t start_ns, end_ns; /* [sorted] on the job's clock; end: last seen alive */
    uint32_t steps;            /* [placed] finished by itself */
    uint32_t period;           /* [placed] current, on the axis */
    /* [placed] Of the process whose periods this one uses: its own, or those of the process it
     * follows. */
    uint32_t axis_steps;
    uint32_t axis_first; /* period in which its step 1 ended … */
    uint32_t axis_last;  /* … and the last one of those counted in hindsight, … */
    uint32_t axis_back;  /* … this many; else axis_first, and 1 */
    uint64_t axis_start_ns;
    uint32_t run; /* index in runs[]; of those with axis_steps, where there are runs */

    bool truncated;                     /* [merged] its file is cut */
    bool orphaned;                      /* [linked] a parent's file is missing */
    uint16_t space_of[SEEP_MAX_SPACES]; /* [merged] header index → job index + 1, 0 unused */
    struct seep_totals spaces[SEEP_MAX_SPACES]; /* [merged] */

    bool in_worker_loop; /* [marked] its first thread was inside the loop of a loader's worker */
    enum seep_process_role role;   /* [ended] */
    struct seep_process_end ended; /* [ended] */
    bool gone;                     /* [ended] ended before the job did: see process_ends.h */
    int32_t end_step;        /* [ended] step during which it ended if it was gone, else INT32_MAX */
    uint64_t rss_peak_bytes; /* [ended] */
    uint64_t pss_peak_bytes; /* [ended] 0: not known */
};

/* Times of an untrusted file are capped where sums and floating point stay safe: 73 years. */
#define SEEP_MAX_NS (UINT64_C(1) << 61)

/* A time of a process's file on the job's clock: CLOCK_MONOTONIC if all processes share that, else
 * Unix time, read only once per host's folder, so that a step of that clock shows nowhere. 0 …
 * SEEP_MAX_NS. */
static inline uint64_t seep_model_ns(const struct seep_model_process *p, uint64_t t_ns)
{
    int64_t t = (int64_t)(t_ns < SEEP_MAX_NS ? t_ns : SEEP_MAX_NS) + p->clock_ns;

    return t < 0 ? 0 : (uint64_t)t < SEEP_MAX_NS ? (uint64_t)t : SEEP_MAX_NS;
}

/* "trainer", "loader-worker", "rank", "helper". */
const char *seep_process_role_name(enum seep_process_role role);

void seep_process_close(struct seep_model_process *p); /* its profile */
void seep_process_fini(struct seep_model_process *p);

#endif
