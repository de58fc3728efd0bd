/* The profile's format: what the shim writes and every reader reads.
 *
 * One file per process, DIR/PID-START.seep, mapped MAP_SHARED by the process itself. The page cache
 * outlives the process, so what has been stored is there after SIGKILL; a reader maps the same
 * file, at any time, while the process runs or later. docs/profile-format.md describes it in prose.
 *
 *   [0, SEEP_HEADER_BYTES)   struct seep_header: fixed tables
 *   [SEEP_HEADER_BYTES, …)   chunks of SEEP_CHUNK_BYTES, each holding records of one type
 *
 * Both sizes are the same on every machine, whatever its pages are (header.page_bytes): a file of
 * one is read on another.
 *
 * A *ref* is a file offset divided by 8; 0 means none. Records never move and, but for the counters
 * of sites, never change once published, so a ref stays valid for ever. A record is published by
 * the store of a nonzero field named in its comment; before that, the reader skips it.
 *
 * Fork: the child starts a file of its own but keeps using what the parent had written. Refs whose
 * offset is below header.inherited_end are looked up in the parent's file (header.parent_file),
 * which may itself inherit. The child's own chunks begin at inherited_end; below it its file is a
 * hole.
 *
 * Host byte order, little-endian 64-bit machines only; sizes in bytes, times in nanoseconds of
 * CLOCK_MONOTONIC unless the name says otherwise. Everything in a file is untrusted to a reader. */
#ifndef SEEP_LIBPROF_FORMAT_PROFILE_FORMAT_H
#define SEEP_LIBPROF_FORMAT_PROFILE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "libprof/format/device_format.h"
#include "libprof/format/host_oom_format.h"
#include "libprof/format/job_format.h"
#include "libprof/format/page_format.h"
#include "libprof/format/rank_format.h"
#include "libprof/format/snapshot_format.h"
#include "libprof/format/step_format.h"
#include "libprof/format/what_if_format.h"

#define SEEP_PROFILE_MAGIC  UINT64_C(0x464f525050454553) /* "SEEPPROF" */
#define SEEP_FORMAT_VERSION 4u

#define SEEP_PROFILE_SUFFIX ".seep"

enum {
    SEEP_CHUNK_BYTES = 32 * 1024,
    SEEP_MAX_CHUNKS = 32 * 1024, /* 1 GiB of chunks: the largest --max-profile */
    SEEP_MAX_SPACES = 32,
    SEEP_MAX_SLOTS = 1024, /* threads alive at once that get counters of their own */
    SEEP_TIMELINE_ROWS = 512,
    SEEP_EPOCH_MARKS = 512,
    SEEP_RSS_SAMPLES = 64,
    SEEP_MAX_COVERAGE = 192,
    SEEP_LIFETIME_BUCKETS = 64,
    SEEP_SIZE_BUCKETS = 48,
    SEEP_MAX_STACK_DEPTH = 1024,
};

/* What a chunk holds: header.chunk_types[i]. */
enum seep_chunk_type {
    SEEP_CHUNK_FREE = 0,
    SEEP_CHUNK_STRINGS,   /* struct seep_string, 8-aligned, back to back */
    SEEP_CHUNK_MODULES,   /* struct seep_module */
    SEEP_CHUNK_CODES,     /* struct seep_code_object */
    SEEP_CHUNK_FRAMES,    /* struct seep_frame */
    SEEP_CHUNK_STACKS,    /* struct seep_stack */
    SEEP_CHUNK_SITES,     /* struct seep_site */
    SEEP_CHUNK_DETAILS,   /* struct seep_detail */
    SEEP_CHUNK_SERIES,    /* struct seep_series, of both capacities */
    SEEP_CHUNK_TIMELINES, /* uint64_t live_bytes[SEEP_TIMELINE_ROWS], one array a space */
    SEEP_CHUNK_LAYOUTS,   /* struct seep_layout_piece */
    SEEP_CHUNK_N_TYPES
};

struct seep_string {  /* published by n_bytes */
    uint32_t n_bytes; /* without NUL; the record takes 8 + n_bytes + 1, rounded up to 8 */
    uint32_t hash;
    char text[];
};

struct seep_module {   /* published by path. 48 bytes */
    uint32_t path;     /* string */
    uint32_t build_id; /* string of lower-case hex, or 0 */
    uint64_t bias;     /* run-time address − address in the file */
    uint64_t start;    /* mapped [start, end), run-time addresses */
    uint64_t end;
    uint64_t reserved[2];
};

struct seep_code_object { /* a Python code object; published by file. 24 bytes */
    uint32_t file;        /* string: co_filename */
    uint32_t function;    /* string: co_name */
    uint32_t qualname;    /* string: co_qualname, or 0 before 3.11 */
    uint32_t first_line;
    uint32_t flags; /* SEEP_CODE_… */
    uint32_t reserved;
};

enum seep_frame_kind { SEEP_FRAME_NATIVE = 1, SEEP_FRAME_PYTHON = 2 };

struct seep_frame { /* published by kind. 16 bytes */
    uint32_t kind;
    uint32_t source; /* native: module, or 0 where no module covers it; Python: code */
    uint64_t where; /* native: address of the call in the module's file (return address − 1 − bias;
                     * run-time address where source is 0); Python: line, 0 unknown */
};

struct seep_stack {  /* a node of the stack tree; published by frame. 8 bytes */
    uint32_t parent; /* stack: the caller's side, or 0: this frame is the outermost */
    uint32_t frame;
};

/* Counters of one (stack, space, coarseness, thread slot). Published by slot_plus_1. 64 bytes,
 * 64-aligned. Written by the slot's thread alone, each counter on its own; blocks of it that other
 * threads free are counted in its detail. live = allocated − freed − detail.remote_freed. */
struct seep_site {
    uint32_t stack; /* 0: what has no site of its own, counted together */
    uint8_t space;
    uint8_t coarseness;   /* 0: each of its blocks was recorded; else a part, which counts for all:
                           * seep_sample_gap() */
    uint16_t slot_plus_1; /* SEEP_SLOT_SHARED: all threads' (stack 0) */
    uint64_t allocations;
    uint64_t allocated_bytes;
    uint64_t frees;
    uint64_t freed_bytes;
    uint64_t peak_bytes;
    uint32_t peak_period;
    uint32_t first_period; /* of its first allocation */
    uint32_t last_period;  /* of its last event */
    uint32_t detail; /* detail; up to SEEP_MANY_PERIODS: none, in how many further periods it was
                      * active, the last of these numbers for all above */
};

enum { SEEP_SLOT_SHARED = UINT16_MAX };

/* How coarsely small blocks of the host may be recorded. */
enum { SEEP_MAX_COARSENESS = 8 };

/* What is kept of a site that was active in several periods and held more than a little, or that
 * other threads freed blocks of. */
struct seep_detail { /* published by site. 640 bytes, 64-aligned */
    uint32_t site;
    uint32_t lock;         /* the writers'; a reader ignores it */
    uint32_t series;       /* or 0 */
    uint32_t max_lifetime; /* in periods */
    uint64_t remote_frees; /* blocks of this site freed by other threads */
    uint64_t remote_freed_bytes;
    uint64_t inherited_frees; /* blocks that the parent made before the fork, freed here */
    uint64_t inherited_freed_bytes;
    uint64_t min_bytes; /* smallest and largest request since the detail exists; 0: none */
    uint64_t max_bytes;
    uint64_t size_marks; /* bit hash(size) % 64 set for each size requested: linear counting */
    uint64_t
        noted_bytes; /* live bytes of the newest point of the series: an equal one is left out */
    uint32_t
        lifetimes[SEEP_LIFETIME_BUCKETS]; /* frees by age in periods, see seep_lifetime_bucket() */
    uint32_t sizes[SEEP_SIZE_BUCKETS]; /* allocations by floor(log2(size)); 0 for size 0. Repeats of
                                        * the first size are left out until another one comes */
    uint64_t looked_bytes; /* of its large blocks, by samples of RSS, added up over all of them … */
    uint64_t untouched_bytes; /* … and of these what lay in pages that were never touched */
    uint32_t reserved_2[24];
};

/* Live bytes and blocks of a site at the end of the periods in which it changed. A period that is
 * not in it has the values of the one before. When `n` reaches the capacity, neighbours in one
 * window of 2^shift periods become one point, the latest. A reader takes points in order and skips
 * one whose period does not rise (a compaction was cut short). The newest is the site itself. */
struct seep_point {
    uint32_t period;
    uint32_t live_blocks;
    uint64_t live_bytes;
};

enum { SEEP_SERIES_SMALL = 15, SEEP_SERIES_LARGE = 127 };

/* A series begins when the site holds what its detail and a small series take, and becomes a large
 * one when it has held what that takes. What was held before that is less. */
enum { SEEP_MANY_PERIODS = 4, SEEP_WORTH_SERIES_BYTES = 896, SEEP_WORTH_LARGE_BYTES = 2048 };

struct seep_series {   /* published by capacity. 16 × (1 + capacity) bytes */
    uint32_t capacity; /* SEEP_SERIES_SMALL or SEEP_SERIES_LARGE */
    uint32_t n;
    uint32_t shift;
    uint32_t detail;
    struct seep_point points[];
};

/* Space 0 is host, 1 mmap, 2 shm; further ones get the next index when they are first used. */
enum seep_space_id { SEEP_SPACE_HOST = 0, SEEP_SPACE_MMAP = 1, SEEP_SPACE_SHM = 2 };

struct seep_space {      /* published by name. 64 bytes */
    char name[24];       /* "host", "mmap", "shm", "pinned", "device:0", "tensor:0", … */
    uint64_t live_bytes; /* summed over threads, each up to 64 KiB behind */
    uint64_t peak_bytes; /* exact with one thread, else within 64 KiB a thread */
    uint32_t peak_period;
    uint32_t timeline;        /* ref of live_bytes[SEEP_TIMELINE_ROWS], or 0 */
    uint64_t inherited_bytes; /* live in the parent at the fork: shared pages, not counted above */
    uint64_t capacity_bytes;  /* the most that it can hold, as the program announced; 0: unknown */
};

enum { SEEP_CPU_UNIT_NS = 10 * 1000 * 1000 };

struct seep_timeline_row { /* published by t_ns. 32 bytes */
    uint64_t t_ns;
    uint32_t period;
    uint32_t cpu_units; /* CPU time of all its threads so far, in SEEP_CPU_UNIT_NS; 0: not known */
    uint64_t rss_bytes;
    uint64_t anonymous_bytes; /* part of rss_bytes: not shared and of no file */
};

/* Where resident memory was at an instant, by /proc/self/smaps and the live set. 104 bytes */
struct seep_rss_sample { /* published by t_ns */
    uint64_t t_ns;
    uint32_t period;
    uint32_t written_site;      /* inherited, of most of written_bytes; 0: of none */
    uint64_t rss_bytes;         /* the sum of all below, except for overlaps, which are cut to 0 */
    uint64_t heap_live_bytes;   /* of the malloc family's blocks that are live, what is resident */
    uint64_t heap_free_bytes;   /* the rest of the maps that such blocks lie in */
    uint64_t maps_bytes;        /* private maps that the job asked for */
    uint64_t shm_bytes;         /* shared maps, except files on a disk */
    uint64_t stacks_bytes;      /* of threads */
    uint64_t files_bytes;       /* programs, libraries, mapped files */
    uint64_t seep_bytes;        /* seep's own */
    uint64_t unexplained_bytes; /* none of these */
    uint64_t copied_bytes;      /* of maps_bytes: pages of mapped files that were written to, and so
                                 * became the process's own */
    uint64_t written_bytes;     /* of heap_live_bytes: pages of large inherited blocks that are this
                                 * process's alone, because it or another one has written to them */
};

struct seep_epoch_mark { /* 16 bytes */
    uint64_t t_ns;
    uint32_t period;
    uint32_t reserved;
};

struct seep_slot {    /* a thread. 32 bytes */
    uint32_t tid;     /* 0: never used */
    uint32_t threads; /* how many threads have used this slot, one after the other */
    char name[16];
    uint64_t reserved;
};

/* A *period* is the unit of the time axis of sites: one fixed time slice until the process (or the
 * ancestor whose steps it follows) has made its first step, from then on one training step. Periods
 * only rise. Step k, from 1, ends period first_step_period + k − 1; before lie time slices. */
enum { SEEP_TIME_SLICE_MS = 100 };

/* How the process ended. */
enum seep_exit_kind {
    SEEP_EXIT_NONE = 0,
    SEEP_EXIT_EXIT = 1,
    SEEP_EXIT_SIGNAL = 2,
    SEEP_EXIT_EXEC = 3
};

/* Why allocations were not recorded with their stacks: header.dropped[]. Where the file had room
 * for one site more, that is always, they are counted under the site with stack 0. */
enum seep_drop {
    SEEP_DROP_DISK_FULL = 0, /* the file could not grow: disk, quota, or limit of file sizes */
    SEEP_DROP_BOUND,         /* --max-profile reached */
    SEEP_DROP_MEMORY,        /* no memory for the shim's own tables */
    SEEP_DROP_NO_SLOT,       /* more than SEEP_MAX_SLOTS threads */
    SEEP_DROP_FREE_UNKNOWN,  /* frees of blocks made before the shim was ready: not a loss */
    SEEP_DROP_FILE,     /* the file could not be opened or grown just then: no descriptors, … */
    SEEP_DROP_STALLED,  /* another thread took seconds, or for ever: a disk that hangs, … */
    SEEP_DROP_NO_SPACE, /* announced in more spaces than SEEP_MAX_SPACES */
    SEEP_DROP_STACK,    /* no room on the stack: a signal handler's, or a fibre's, is too small */
    SEEP_DROP_FOLDER,   /* --max-folder reached */
    SEEP_DROP_SANDBOX,  /* a seccomp filter forbids the calls that would be needed */
    SEEP_N_DROPS = 16
};

/* What seep does in a process. */
enum seep_cost_kind {
    SEEP_COST_EVENTS = 0, /* events of the heap whose stack is known */
    SEEP_COST_STACKS,     /* stacks that are captured for the first time, or again */
    SEEP_COST_UPKEEP,     /* what is due by the clock */
    SEEP_COST_STOPS,      /* for looks */
    SEEP_N_COSTS
};

/* What it cost the process, as measured (preload/cost/meter.h). */
struct seep_cost {
    uint64_t events;           /* of the heap, recorded or not */
    uint64_t ns[SEEP_N_COSTS]; /* in all threads */
    uint64_t felt_ns;          /* in each second, what the thread that spent most has spent */
};

/* What seep can read of the Python that a process runs. */
enum seep_python_support {
    SEEP_PYTHON_NONE = 0, /* or it is not known yet */
    SEEP_PYTHON_STACKS,
    SEEP_PYTHON_UNKNOWN_VERSION,
    SEEP_PYTHON_NO_GIL, /* a free-threaded build: nothing */
};

/* What else it does not see of it, as bits. */
enum seep_python_unseen {
    SEEP_PYTHON_MIMALLOC = 1,        /* has its objects (PYTHONMALLOC) */
    SEEP_PYTHON_SUBINTERPRETERS = 2, /* have run, whose frames are not followed */
};

/* Who wrote the profile. */
enum seep_profile_origin {
    SEEP_ORIGIN_SHIM = 0,
    SEEP_ORIGIN_TORCH, /* seep, of PyTorch's memory snapshot: nothing is known of the host */
    SEEP_ORIGIN_PPROF, /* seep, of a heap profile: what was live at an instant */
};

struct seep_header {
    uint64_t magic; /* stored last: the header is complete */
    uint32_t version;
    uint32_t header_bytes; /* SEEP_HEADER_BYTES of the writer */
    uint32_t chunk_bytes;
    uint32_t check;     /* seep_header_check() over the constant fields */
    uint64_t max_bytes; /* bound of the whole file */
    uint32_t pid;
    uint32_t ppid;
    uint64_t start_ns;
    uint64_t start_unix_ns;
    uint64_t inherited_end;  /* file offset, chunk-aligned; SEEP_HEADER_BYTES: nothing inherited */
    uint64_t sample_bytes;   /* mean gap at coarseness 1, see seep_sample_gap() */
    uint32_t process_plus_1; /* index + 1 in the job file's table, 0: none */
    uint32_t python_version; /* hex as PY_VERSION_HEX, 0: no Python seen */
    uint32_t python_support; /* enum seep_python_support */
    uint32_t python_unseen;  /* enum seep_python_unseen */
    char program[32];        /* version of seep that wrote it */
    char parent_file[SEEP_NAME_BYTES]; /* in the same folder: the forked parent's profile */
    char host[SEEP_NAME_BYTES];
    char exe[SEEP_PATH_BYTES];
    char cwd[SEEP_PATH_BYTES];
    char argv[SEEP_TEXT_BYTES]; /* NUL-separated */
    uint32_t argv_bytes;
    int32_t rank; /* RANK, else the launcher's equivalents, as of its first step; −1: none */
    uint64_t limit_address_bytes; /* RLIMIT_AS, 0: none */
    uint64_t limit_data_bytes;    /* RLIMIT_DATA, 0: none */
    uint64_t limit_cgroup_bytes;  /* tightest along the path, 0: none */
    uint64_t limit_ram_bytes;
    uint32_t limit_cgroup_version; /* 1 or 2 */

    /* From here on: changes while the process runs. */
    uint32_t n_chunks; /* chunk_types[] entries in use, those below inherited_end included */
    uint32_t exit_kind;
    int32_t exit_value;
    uint64_t end_ns;
    uint64_t last_ns; /* a recent time at which it was alive */
    uint64_t rss_peak_bytes;
    uint64_t dropped[SEEP_N_DROPS];
    uint32_t n_timeline;
    uint32_t n_epochs; /* marks in epochs[]; process.epochs counts on when it is full */
    uint32_t coverage_seen[SEEP_MAX_COVERAGE]; /* 1: was called; by hooks.def */
    uint64_t address_bytes;                    /* size of its address space when last looked at */
    uint64_t uncounted_stacks_bytes; /* allocated while it was only counted, before this profile */
    uint32_t n_rss_samples, reserved_2;
    struct seep_rss_sample rss_peak; /* the sample with the largest RSS */
    char allocator[SEEP_PATH_BYTES]; /* the object whose malloc stands before ours; "": none */
    struct seep_snapshot_counts snapshots;
    uint64_t live;      /* where its struct seep_live_place is, or 0 */
    uint64_t waited_ns; /* until it was woken to record, or 0 */
    struct seep_rank_notes ranks;
    uint32_t coarsest; /* of all that it used: 0: every block was recorded */
    uint32_t origin;   /* enum seep_profile_origin */
    struct seep_cost cost;
    uint32_t steps_before; /* the first so many steps are none that were recorded: what is left of
                            * them was, and at what pace more came (SEEP_ORIGIN_TORCH) */
    uint32_t page_bytes;   /* of the machine; 0 by older writers: see seep_header_page_bytes() */
    uint64_t reserved_4[2];

    struct seep_space spaces[SEEP_MAX_SPACES];
    struct seep_slot slots[SEEP_MAX_SLOTS];
    struct seep_timeline_row timeline[SEEP_TIMELINE_ROWS];
    struct seep_epoch_mark epochs[SEEP_EPOCH_MARKS];
    struct seep_rss_sample rss_samples[SEEP_RSS_SAMPLES]; /* halved when it is full */
    uint8_t chunk_types[SEEP_MAX_CHUNKS];
    struct seep_device_notes devices;
    struct seep_host_ooms host_ooms;
    struct seep_what_if what_ifs[SEEP_MAX_WHAT_IFS];
};

#define SEEP_HEADER_BYTES (120u * 1024u)
_Static_assert(sizeof(struct seep_header) <= SEEP_HEADER_BYTES, "header must fit");
_Static_assert(sizeof(struct seep_site) == 64, "one cache line");
_Static_assert(sizeof(struct seep_detail) == 640, "cache lines");

/* Pages of the machine on which the profile was written. Where it does not say, or nonsense, they
 * were of 4 KiB. */
static inline uint32_t seep_header_page_bytes(const struct seep_header *h)
{
    return seep_is_page_size(h->page_bytes) ? h->page_bytes : SEEP_LEAST_PAGE_BYTES;
}

/* Ages of 0–15 periods have a bucket each; then four an octave; the last takes all above. */
static inline unsigned seep_lifetime_bucket(uint32_t age)
{
    if (age < 16)
        return age;
    unsigned octave = 31u - (unsigned)__builtin_clz(age);
    unsigned bucket = 16 + (octave - 4) * 4 + ((age >> (octave - 2)) & 3);
    return bucket < SEEP_LIFETIME_BUCKETS ? bucket : SEEP_LIFETIME_BUCKETS - 1;
}

/* The smallest age that falls into a bucket. */
static inline uint32_t seep_lifetime_floor(unsigned bucket)
{
    if (bucket < 16)
        return bucket;
    unsigned octave = 4 + (bucket - 16) / 4;
    return (UINT32_C(4) + (bucket - 16) % 4) << (octave - 2);
}

/* The mean gap, in bytes of blocks, from one block that is recorded to the next. */
static inline uint64_t seep_sample_gap(uint64_t sample_bytes, unsigned coarseness)
{
    return coarseness && coarseness <= SEEP_MAX_COARSENESS ? sample_bytes << (coarseness - 1) : 0;
}

static inline uint32_t seep_hash_mix(uint64_t x)
{
    x *= UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(x >> 32);
}

/* Of size_marks: sizes that lie closely share few. */
static inline uint64_t seep_size_mark(uint64_t bytes)
{
    return UINT64_C(1) << (seep_hash_mix(bytes) >> 26);
}

/* Of a header whose constant fields are set; tells a torn or foreign header from a whole one. */
static inline uint32_t seep_header_check(const struct seep_header *h)
{
    uint64_t x = SEEP_PROFILE_MAGIC ^ h->version;
    x = (x ^ h->header_bytes) * UINT64_C(0x100000001b3);
    x = (x ^ h->chunk_bytes) * UINT64_C(0x100000001b3);
    x = (x ^ h->max_bytes) * UINT64_C(0x100000001b3);
    x = (x ^ h->pid) * UINT64_C(0x100000001b3);
    x = (x ^ h->start_ns) * UINT64_C(0x100000001b3);
    x = (x ^ h->inherited_end) * UINT64_C(0x100000001b3);
    x = (x ^ h->sample_bytes) * UINT64_C(0x100000001b3);
    return (uint32_t)(x ^ (x >> 32));
}

#endif
