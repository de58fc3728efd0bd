/* The job's file, DIR/job.seepjob: what the processes of a job on one machine share, mapped by all
 * of them. Version, byte order, times and distrust are those of profile_format.h. */
#ifndef SEEP_LIBPROF_FORMAT_JOB_FORMAT_H
#define SEEP_LIBPROF_FORMAT_JOB_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "libprof/format/snapshot_format.h"

#define SEEP_JOB_MAGIC UINT64_C(0x424f4a5045455300) /* "\0SEEPJOB" */
#define SEEP_JOB_FILE  "job.seepjob"

/* Made by `seep run` beside it. The library in the job's first program renames it to
 * "starting-PID" as its start begins, and removes it as that ends. */
#define SEEP_STARTING_FILE "starting"

enum {
    SEEP_TEXT_BYTES = 4096,
    SEEP_PATH_BYTES = 1024,
    SEEP_NAME_BYTES = 64,
    SEEP_MAX_PROCESSES = 4096,
    SEEP_STATUS_UNSEEN = -1, /* seep_process.wait_status */
};

/* What is known of one space of a process that records no stacks. */
struct seep_count {
    uint64_t allocations;
    uint64_t frees;
    uint64_t allocated_bytes;
    uint64_t live_bytes;
    uint64_t peak_bytes;
};

enum { SEEP_COUNTED_SPACES = 3 }; /* host, mmap, shm */

enum {                              /* flags of a process */
       SEEP_PROCESS_COUNTED = 1,    /* it is only counted: no profile, so far */
       SEEP_PROCESS_PROFILE = 2,    /* it has a profile */
       SEEP_PROCESS_OWN_MALLOC = 4, /* its program brings its own malloc */
       SEEP_PROCESS_DEVICE = 8,     /* it has used a GPU */
};

/* Why a process records nothing, or nothing more: seep_process.trouble. */
enum seep_trouble {
    SEEP_TROUBLE_NONE = 0,
    SEEP_TROUBLE_PROFILE, /* its profile could not be made: trouble_errno */
    SEEP_TROUBLE_GROW,    /* its profile could not be grown: trouble_errno */
    SEEP_TROUBLE_SANDBOX, /* a seccomp filter of its own forbids what seep needs */
    SEEP_TROUBLE_FOLDER,  /* there was no room for its profile below --max-folder */
};

/* How a program can be preloaded (runtime/program/program_entry.h): seep_process.exec_entry. */
enum seep_entry {
    SEEP_ENTRY_OK = 0,
    SEEP_ENTRY_STATIC,    /* no loader: LD_PRELOAD has no effect */
    SEEP_ENTRY_RIGHTS,    /* setuid, setgid or file capabilities: LD_PRELOAD is dropped */
    SEEP_ENTRY_MACHINE,   /* another machine's, or 32 bits */
    SEEP_ENTRY_LIBC,      /* musl, or another loader than glibc's */
    SEEP_ENTRY_SANITIZER, /* a sanitizer's runtime wants to be first, and its malloc */
    SEEP_ENTRY_DAMAGED,
    SEEP_ENTRY_UNREACHABLE, /* in its root (chroot, container) the library is not to be found */
};

/* One line of DIR/job.seepjob, written by the process except where noted. */
struct seep_process { /* published by pid. 384 bytes */
    uint32_t pid;
    uint32_t ppid;
    uint64_t start_ns;
    uint32_t period;            /* current */
    uint32_t steps;             /* finished */
    uint32_t first_step_period; /* period in which the first step ended; 0 while steps == 0 */
    uint32_t step_source;
    uint32_t epochs;
    uint32_t follows;       /* index + 1 of the process whose periods this one uses; 0: its own */
    uint32_t parent_plus_1; /* index + 1 of the parent in this table, 0: none */
    uint32_t has_status;    /* by whoever reaped it (`seep run` or parent): 1 */
    int32_t wait_status;    /* as wait(2) gives it; -1, SEEP_STATUS_UNSEEN: a stranger reaped it */
    uint32_t step_frame;    /* frame, in its own profile: of the loop whose iterations are steps */
    uint64_t rss_peak_bytes;
    uint64_t pss_peak_bytes; /* by `seep run`; 0: not known */
    /* Pages that are the process's alone, written to, as `seep run` first and last saw them, with
     * the job's periods then; 0: not known. */
    uint64_t private_first_bytes;
    uint64_t private_last_bytes;
    uint32_t private_first_period;
    uint32_t private_last_period;
    uint32_t flags; /* SEEP_PROCESS_… */
    uint32_t uid;
    uint16_t trouble;    /* enum seep_trouble */
    uint16_t exec_entry; /* enum seep_entry of exec_path */
    int32_t trouble_errno;
    uint32_t optimizer_calls; /* ends of an optimizer's step() seen, whether they counted or not */
    uint32_t step_why;        /* enum seep_step_why */
    uint32_t tasks;           /* that pools of this process have handled; by their workers */
    uint32_t epoch_source;    /* enum seep_epoch_source */
    uint32_t epoch_frame;   /* frame, in its own profile: of the loop whose iterations are epochs */
    uint32_t trained_steps; /* of `steps`, before what goes on after a training; 0: it goes on */
    uint32_t back_steps, back_period; /* see "counted back" in step_format.h */
    uint32_t n_looks_short; /* given up, for memory was short; by `seep run`. Of the one that
                             * needed the most: */
    uint32_t look_need_mib, look_left_mib;
    uint32_t n_looks_over, over_need_mib, over_left_mib; /* the same, by the bound on seep's own */
    char name[32];                                       /* base name of its program, cut */
    char exec_path[64]; /* what it became by an exec that cannot be entered: the path's end; "" */
    struct seep_count counts[SEEP_COUNTED_SPACES]; /* while, and so far as, it is only counted */
};

/* Processes that were only counted and have ended, folded into one line for each name when the
 * table of processes is full. A line that is being named has no processes for a reader yet. */
#define SEEP_FOLDED_NAMING (UINT64_C(1) << 63)
struct seep_folded { /* published by n, below SEEP_FOLDED_NAMING */
    char name[32];   /* "": all that found no line of their own */
    uint64_t n;
    uint64_t rss_peak_bytes;                       /* the largest */
    struct seep_count counts[SEEP_COUNTED_SPACES]; /* sums; peaks are the largest */
};

/* A process as `seep run` saw it: it may make hardly a call that a hook sees, and grow. 32 bytes.
 */
struct seep_seen_row {
    uint64_t t_ns; /* CLOCK_MONOTONIC; the same for all that were seen in one pass */
    uint64_t rss_bytes, anonymous_bytes;
    uint32_t process_plus_1;
    uint32_t files_kib; /* what tmpfs mounts held in this pass; 0: nothing, or not known */
};

enum { SEEP_SEEN_ROWS = 1024 };

struct seep_seen {   /* by `seep run` */
    uint32_t n;      /* published by n; once all are taken every second pass is dropped */
    uint32_t gap_ms; /* between passes that are kept */
    struct seep_seen_row rows[SEEP_SEEN_ROWS];
};

enum {
    SEEP_MEMORY_FOLDERS = 4,
    SEEP_MEMORY_PATH_BYTES = 256,
    SEEP_MEMORY_NAME_BYTES = 128,
    SEEP_MEMORY_SLICES = 32,
};

/* A directory of a tmpfs with what lies in it; subdirectories of few files count with it. */
struct seep_memory_folder {
    uint64_t bytes;
    uint32_t n_files;
    uint32_t reserved;
    char path[SEEP_MEMORY_PATH_BYTES];
    char largest[SEEP_MEMORY_NAME_BYTES]; /* its largest file, from there */
};

/* Files in memory, on a tmpfs, that the job's user has made or changed since the job began and that
 * it left. */
struct seep_memory_files { /* by `seep run` as the job ends; published by n */
    uint32_t n;            /* folders: those with most bytes, in no order */
    uint32_t is_cut;       /* 1: not all entries were looked at */
    uint64_t listed_ns;
    uint64_t bytes, looked_bytes; /* of all of them; of all files that were looked at */
    uint32_t n_files;
    uint32_t knows_written;
    uint64_t written_bytes; /* by the job's processes, to whatever files, from the first row of
                             * `seen` to the last; if knows_written */
    /* `bytes` by when files changed last, in equal slices from the job's start to listed_ns. */
    uint64_t slice_bytes[SEEP_MEMORY_SLICES];
    struct seep_memory_folder folders[SEEP_MEMORY_FOLDERS];
};

enum {
    SEEP_MAX_FOLDED = 64, /* the last is for the rest */
    SEEP_PID_HINTS = 8192,
    SEEP_PROCESS_PIECE = 256, /* entries for which disk is got at once */
};

struct seep_job {
    uint64_t magic;
    uint32_t version;
    uint32_t n_processes; /* taken entries; above SEEP_MAX_PROCESSES: the rest had none */
    uint64_t started_unix_ns;
    uint64_t started_ns;
    uint64_t ended_ns; /* by `seep run`; 0: not ended, or there was none */
    uint32_t launcher_pid;
    int32_t wait_status;     /* of the command; valid once ended_ns != 0 */
    uint64_t pss_peak_bytes; /* by `seep run`: the peak of the sum over processes; 0: not known,
                              * as where some are in another pid namespace */
    uint64_t limit_bytes;    /* the tightest that `seep run` or first process found; 0: none */
    char limit_kind[16];     /* "cgroup-v2", "cgroup-v1", "ram" */
    char host[SEEP_NAME_BYTES];
    char cwd[SEEP_PATH_BYTES];
    char argv[SEEP_TEXT_BYTES]; /* NUL-separated, empty where `seep run` did not start it */
    uint32_t argv_bytes;
    uint32_t oom_kills;    /* processes of `seep run`'s cgroup that the kernel killed meanwhile */
    uint64_t folder_bytes; /* on disk, of all profiles together */
    uint64_t max_folder_bytes; /* their bound; 0: none */
    uint64_t n_folded;         /* processes in folded[] */
    uint32_t n_reserved; /* entries of processes[] that have disk behind them; the rest is a hole */
    uint32_t is_part;    /* 1: of the job in the folder above, whose table is another machine's */
    struct seep_snapshot_slot snapshot;
    struct seep_snapshot_reads snapshots;
    uint64_t boot; /* of the machine: seep_boot_number(), 0: not known */
    struct seep_folded folded[SEEP_MAX_FOLDED];
    uint16_t by_pid[SEEP_PID_HINTS]; /* pid % SEEP_PID_HINTS: index + 1 of the last that had one
                                        like it */
    struct seep_process processes[SEEP_MAX_PROCESSES];
    struct seep_seen seen;          /* older files end before it */
    struct seep_memory_files files; /* the same */
};

/* The part of the job's file that has disk behind it from the start. */
enum {
    SEEP_JOB_FIRST_BYTES =
        offsetof(struct seep_job, processes) + SEEP_PROCESS_PIECE * sizeof(struct seep_process)
};

_Static_assert(sizeof(struct seep_process) == 384, "cache lines");

/* Where a machine's number is found, and how long the text is that matters: "d7c6b409-b231-…". It
 * is the same in all containers of a machine, and another after each boot. */
#define SEEP_BOOT_FILE "/proc/sys/kernel/random/boot_id"

enum { SEEP_BOOT_TEXT = 40 };

/* The number in such a text, NUL-terminated; 0: none. */
static inline uint64_t seep_boot_number(const char *text)
{
    uint64_t number = 0;
    for (int n = 0; *text && n < 16; text++) {
        const char c = *text;
        if (c == '-')
            continue;
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return 0;
        number = number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
        n++;
    }
    return number;
}

/* Whether a table is that of the machine that has this number and name. Names decide only where a
 * number is missing: a container may have any. Tables that say neither are believed. */
static inline bool seep_job_is_of(const struct seep_job *job, uint64_t boot, const char *host)
{
    if (job->boot && boot)
        return job->boot == boot;
    return !job->host[0] || !*host || strncmp(job->host, host, sizeof job->host - 1) == 0;
}

#endif
