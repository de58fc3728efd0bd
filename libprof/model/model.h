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
#include "libprof/read/site_counts.h"
#include "libprof/words/space.h"

/* A process of the job, and what is known of it. Each field says in brackets which stage of the
 * model sets it (enum seep_model_stage); none reads the profile's header once that is closed. */

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
    bool untold;        /* what it is known by does not say: a torch snapshot */
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
    uint32_t page_bytes;     /* of its machine */
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
    uint32_t ooms_left_out;                        /* failed requests of which no more is known */
    uint32_t host_ooms_left_out;                   /* the same for host memory */
    uint16_t cupti, cupti_error;                   /* as in the profile, unchecked */
    uint32_t snapshots_refused[SEEP_N_SNAPSHOT_REFUSALS]; /* by enum seep_snapshot_refusal */
    bool inherits;         /* it was forked from a process that recorded */
    uint32_t steps_before; /* as in the profile */
    bool of_pprof;         /* it is a heap profile in pprof's format */
    bool of_torch;         /* it is what PyTorch's memory snapshot says of it */
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

enum { SEEP_MODEL_MAX_SPACES = 255, SEEP_STEP_BEFORE = INT32_MIN };

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

/* Events that count in its totals and timeline but in no site: the profile had no room. */
static inline uint64_t seep_process_events_without_stacks(const struct seep_model_process *p)
{
    return seep_sum(p->recording.dropped[SEEP_DROP_BOUND], p->recording.dropped[SEEP_DROP_FOLDER]);
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
    uint16_t thread;   /* of its process: index + 1; 0: of all threads together */
    uint8_t
        untouched;  /* of the bytes of large blocks, in 256ths: in pages that were never touched */
    bool of_malloc; /* of glibc's, whose chunks are known (libprof/model/live_level.h) */
    size_t points_at;
    uint64_t peak_bytes; /* its own */
};

/* What only sites with a detail record have. */
struct seep_model_extra {
    uint64_t min_bytes, max_bytes; /* 0: not known */
    uint64_t size_marks;
    uint64_t inherited_frees, inherited_freed_bytes;
    uint32_t max_lifetime;
    struct seep_site_counts counts;
};

struct seep_model_site { /* one (stack, space) of the job */
    uint32_t stack;
    uint16_t space;
    uint16_t n_slots; /* saturating */
    uint32_t slots;   /* index + 1 of the first */
    uint32_t extra;   /* index + 1, 0 none */
    int32_t first_step, last_step;
    struct seep_totals totals;
    double sampling_variance; /* of the bytes allocated; 0: every block was recorded */
};

struct seep_model_space {
    struct seep_space_name name;
    bool recorded; /* something of it was recorded; otherwise it exists only as the model's host */
    uint64_t capacity_bytes; /* as announced: of pools of the program's own the sum over processes,
                              * else the largest; 0: unknown */
    struct seep_totals totals;
};

/* A process in a job's table without a profile: it was only counted, or could not record. */
struct seep_unprofiled_process {
    const struct seep_process *entry;
    const struct seep_job *job;
};

static inline bool seep_unprofiled_is_counted(const struct seep_process *entry)
{
    return (entry->flags & SEEP_PROCESS_COUNTED) && !(entry->flags & SEEP_PROCESS_PROFILE);
}

/* One of several trainings that ran one after the other. Its own step k is base + k. */
struct seep_model_run {
    uint32_t leader;   /* the process with the most steps */
    uint64_t start_ns; /* of the first process with steps */
    int32_t base;
    int32_t low,
        high; /* its stretch of the axis: from what came before step 1 to what came after */
};

/* What else is known of a refused request for host memory. Bytes are as of the first refusal. */
struct seep_model_refusal {
    uint32_t requests; /* in a row, at one place */
    uint64_t address_bytes, data_bytes;
    uint64_t limit_address_bytes, limit_data_bytes; /* RLIMIT_AS, RLIMIT_DATA; 0: none */
    uint64_t met_bytes; /* what the thread was then given at once; 0: nothing */
    int32_t met_step;
    bool met_by_same; /* from the same call */
};

/* A request that a device or the host had no room for. If PyTorch's allocator had no room in the
 * end, the runtime's refusals to it are not listed: only the allocator's own refusal is, once. */
struct seep_model_oom {
    uint32_t process, stack;
    uint32_t device; /* below SEEP_MAX_DEVICES, or SEEP_DEVICE_PINNED, _HOST or _OWN */
    uint16_t space;  /* tensor:N if an allocator reported it, device:N or pinned if the runtime did,
                      * host, or as the program named it */
    enum seep_oom_source source; /* the caller may have tried again, unless BY_ALLOCATOR or
                                  * BY_PROGRAM */
    int32_t step;
    uint64_t asked_bytes;
    uint64_t allocated_bytes, reserved_bytes; /* by the allocator's totals; for the host and
                                               * BY_PROGRAM what was recorded as live; for the
                                               * runtime 0 */
    uint64_t registered_bytes;                /* of pinned memory, in addition to what is in its
                                               * space */
    struct seep_model_refusal refusal;        /* BY_HOST; else 0 */
};

/* What the allocator of a device would have reserved, had something been different. */
struct seep_model_what_if {
    uint32_t process;
    uint32_t frame; /* of SEEP_WHAT_IF_KEPT: the line; else 0 */
    struct seep_what_if its;
};

struct seep_model_layout_block {
    uint64_t address, bytes;
    uint32_t site; /* index + 1; 0: not known */
    enum seep_layout_kind kind;
};

/* Where blocks lay on a device at an instant, by a process's profile: unordered, and possibly
 * overlapping. */
struct seep_model_layout {
    uint32_t process;
    uint32_t device; /* below SEEP_MAX_DEVICES */
    enum seep_layout_reason reason;
    int32_t step;
    uint64_t t_ns;           /* on the job's clock */
    uint64_t asked_bytes;    /* request that there was no room for; 0: at the peak */
    uint32_t left_out;       /* blocks missing from these */
    uint64_t left_out_bytes; /* of the missing blocks, as far as known */
    struct seep_model_layout_block *blocks;
    size_t n_blocks;
};

struct seep_not_read {
    char *name; /* file or folder */
    char *reason;
    int code; /* SEEP_E… */
};

/* The stages that fill a model, in order; model_build.h calls them. A synthetic model needs
 * none. */
enum seep_model_stage {
    SEEP_MODEL_EMPTY,
    SEEP_MODEL_OPENED,   /* which processes there are, by their headers: open_folders.c */
    SEEP_MODEL_SORTED,   /* the clocks brought together: step_axis.h */
    SEEP_MODEL_LINKED,   /* who forked whom: process_tree.c */
    SEEP_MODEL_PLACED,   /* whose steps count for whom, and where on the axis: step_axis.h */
    SEEP_MODEL_MERGED,   /* what they allocated, by stack; profiles are closed: merge.c */
    SEEP_MODEL_MARKED,   /* what ran in the loop of a loader's worker: model_build.c */
    SEEP_MODEL_ENDED,    /* each process's role, and how it ended: model_build.c, process_ends.h */
    SEEP_MODEL_SUMMED,   /* what the spaces add up to: job_spaces.c */
    SEEP_MODEL_COMPLETE, /* peaks of sites that several threads or processes share: live_level.h */
};

/* Each field says in brackets which stage sets it. */
struct seep_model {
    enum seep_model_stage stage; /* the last one begun */
    uint32_t only_pid;           /* given: the model is of this process and those that it started;
                                  * 0: of all */
    uint64_t most_bytes; /* given: what its parts may take (stages/merge.c); 0: the default */
    struct seep_dictionary dict; /* [merged]; its stacks' marks: [marked] */
    struct seep_job **jobs;      /* [opened] one per folder with profiles, NULL without a table */
    size_t n_jobs;
    struct seep_model_process *processes; /* [opened]; [sorted] by start */
    size_t n_processes, processes_capacity;
    struct seep_unprofiled_process
        *unprofiled; /* [summed] by table and place in it; see unprofiled_processes.h */
    size_t n_unprofiled;
    struct seep_model_space spaces[SEEP_MODEL_MAX_SPACES + 1]; /* [merged], totals [summed]; + 1:
                                                                  the host's */
    size_t n_spaces;
    uint16_t host; /* [summed] the space of that class, which every complete model has */
    struct seep_model_site *sites; /* [merged]; peaks: [complete] */
    size_t n_sites, sites_capacity;
    struct seep_model_slot *slots; /* [merged] */
    size_t n_slots, slots_capacity;
    struct seep_model_extra *extras; /* [merged] */
    size_t n_extras, extras_capacity;
    struct seep_model_point *points; /* [merged] */
    size_t n_points, points_capacity;
    struct seep_model_oom *ooms; /* [merged] by process, as they came */
    size_t n_ooms, ooms_capacity;
    struct seep_model_what_if *what_ifs; /* [merged] by process and device, as it was first */
    size_t n_what_ifs, what_ifs_capacity;
    struct seep_model_layout *layouts; /* [merged] at most one per process, device and reason */
    size_t n_layouts, layouts_capacity;
    uint64_t n_small_sites, small_sites_below; /* [merged] counted together: stages/merge.c; the
                                                * bytes that none of them ever held */
    struct seep_hash_index site_index;         /* only while it is [merged] */
    struct seep_not_read *not_read;            /* [opened], [merged] */
    size_t n_not_read;
    size_t n_folders_not_read; /* [opened] of those */

    uint32_t main;               /* [placed] the process with the most steps */
    uint32_t root;               /* [placed] the first one */
    uint32_t n_steps;            /* [placed] finished by main; else time slices */
    struct seep_model_run *runs; /* [placed] by start; none where step_source is time */
    size_t n_runs;
    enum seep_step_source step_source; /* [placed] */
    enum seep_step_why step_why;       /* [placed] */
    int32_t trained; /* [placed] step at which a training ended that something follows; 0: none */
    uint32_t step_frame;   /* [merged] of the loop whose iterations are steps; 0: not known */
    int32_t *epoch_starts; /* [placed] steps during which an epoch began, rising, each once */
    size_t n_epoch_starts;
    uint32_t epochs;                     /* [placed] 0: not known */
    enum seep_epoch_source epoch_source; /* [placed] */
    uint32_t epoch_frame;      /* [merged] of the loop whose iterations are epochs; 0: not known */
    uint64_t start_ns, end_ns; /* [placed] of the whole job, on its clock */
};

void seep_model_fini(struct seep_model *m);

/* Begins a stage: the one before has to be the last one begun. */
void seep_model_begin(struct seep_model *m, enum seep_model_stage stage);

/* Sets *space to the space of that name, in which something was recorded; false if the model has no
 * room for it. */
bool seep_model_add_space(struct seep_model *m, const char *name, uint16_t *space);

/* Sets *tensors to the space of the tensors in `device`; false if there is none. */
bool seep_model_tensor_space(const struct seep_model *m, uint16_t device, uint16_t *tensors);

/* The site of a stack in a space; SEEP_HASH_NONE if there is none. */
uint32_t seep_model_find_site(const struct seep_model *m, uint32_t stack, uint16_t space);

/* Notes a file that could not be read; `code`: SEEP_E…, with or without its sign. */
void seep_model_not_read(struct seep_model *m, const char *name, int code, const char *reason);

/* The step of a period of `p`, and the step that the job was in at a time. */
int32_t seep_model_step(const struct seep_model *m, const struct seep_model_process *p,
                        uint32_t period);
int32_t seep_model_step_at(const struct seep_model *m, uint64_t t_ns);

/* The earliest of those in which a period passed: one may hold several that were counted in
 * hindsight. */
int32_t seep_model_first_step(const struct seep_model *m, const struct seep_model_process *p,
                              uint32_t period);

/* Live bytes of a job space in one process at a time: by its latest row, or its final state once it
 * ended; 0 before its start and after it was gone. */
uint64_t seep_process_live_at(const struct seep_model_process *p, uint16_t space, uint64_t t_ns);
uint64_t seep_process_rss_at(const struct seep_model_process *p, uint64_t t_ns);

/* What a process used of a device at a time, by the last look before; 0 after it was gone. False:
 * there was no look yet. */
bool seep_process_used_at(const struct seep_model_process *p, unsigned device, uint64_t t_ns,
                          uint64_t *bytes);

#endif
