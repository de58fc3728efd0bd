/* One finding: a line that keeps memory, how, since when, and what to do about it. */
#ifndef SEEP_LIBPROF_VERDICT_FINDING_H
#define SEEP_LIBPROF_VERDICT_FINDING_H

#include "libprof/base/error.h"
#include "libprof/base/statistics.h"
#include "libprof/measure/growth.h"
#include "libprof/measure/resident/resident_pace.h"
#include "libprof/model/model.h"
#include "libprof/words/parts.h"
#include "libprof/words/patterns.h"

enum { SEEP_MAX_EVIDENCE = 8, SEEP_MAX_FINDINGS = 32 };

struct seep_oom;

struct seep_finding {
    enum seep_pattern pattern;
    enum seep_severity severity;
    enum seep_confidence confidence;
    uint16_t space;
    enum seep_part part;
    uint32_t frame;  /* of the dictionary: its line */
    uint32_t sender; /* the line in another process that allocated what came by messages, or that
                      * takes what a loader's thread allocated; 0: none */
    uint32_t *sites; /* most bytes first */
    size_t n_sites;
    uint32_t *processes; /* indices */
    size_t n_processes;
    /* Sizes are what is resident (seep_level_resident()). */
    uint64_t live_bytes; /* at the end of the last step, before teardown */
    uint64_t peak_bytes;
    uint64_t count;           /* blocks live then */
    uint64_t asked_bytes;     /* of an out-of-memory finding: bytes of the request that failed */
    uint64_t saving_bytes;    /* how much fixing it may lower the peak; 0: unknown */
    struct seep_slope growth; /* bytes per step */
    int32_t first_step;
    int32_t plateau_step;  /* 0: none */
    uint64_t limit_bytes;  /* 0: none known */
    size_t n_lines;        /* number of lines it is spread over, with `frame` their common caller;
                            * 0: it is one line's */
    double below_bytes;    /* gained on those lines below the common caller */
    bool of_arenas;        /* small Python objects: the line is one that asked for arenas */
    bool is_small_objects; /* all arenas: what is in them has a holder that was seen */
    bool holder_is_of_others; /* who was seen to hold the line's memory may hold only other memory
                               * there */
    bool returns;             /* each process frees it when it ends */
    double steps_to_limit;    /* < 0: not growing, or no limit */
    struct seep_oom *oom;     /* of an out-of-memory finding; else NULL */
    char *keeper;             /* name of the container that was seen to keep it; NULL: unknown */
    char *title, *advice;
    char *evidence[SEEP_MAX_EVIDENCE];
    size_t n_evidence;
    char *pace_span; /* over which steps it grows, by the evidence; NULL: no evidence says that */
    size_t pace_at;  /* index of that evidence */
};

struct seep_findings {
    struct seep_finding *list; /* most important first: finding_list.h */
    size_t n;
    size_t left_out[SEEP_N_SEVERITIES];  /* beyond SEEP_MAX_FINDINGS */
    struct seep_span span, after;        /* all steps; those that follow a training */
    struct seep_resident_trend resident; /* of the job */
};

/* The frame to look at: the sender's, if `frame` only took it out of messages or pinned it. */
static inline uint32_t seep_finding_shown(const struct seep_finding *f)
{
    return f->sender ? f->sender : f->frame;
}

void seep_finding_fini(struct seep_finding *f);
void seep_findings_fini(struct seep_findings *f);

/* Empties a finding that a pattern filled, so another pattern can fill it: sites and their room
 * stay. */
void seep_finding_blank(struct seep_finding *f);

/* Adds a line of evidence; does nothing without memory or room. */
void seep_finding_note(struct seep_finding *finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds the evidence of how fast it grows, by `growth`, over a span as a text. */
void seep_finding_note_pace(struct seep_finding *f, const char *unit, const char *span);

/* Brings that evidence up to date with `growth`. */
void seep_finding_renew_pace(struct seep_finding *f, const char *unit);

/* Sets pattern, severity and confidence. */
void seep_finding_verdict(struct seep_finding *f, enum seep_pattern pattern,
                          enum seep_severity severity, enum seep_confidence confidence);

/* Adds a site and what it holds. */
void seep_finding_keep(struct seep_finding *f, uint32_t site, uint64_t bytes, uint64_t blocks);

/* Whether all processes of one are among the other's; both lists are sorted. */
bool seep_finding_is_among(const struct seep_finding *one, const struct seep_finding *other);

/* Whether two frames are lines of one Python function. */
bool seep_finding_same_function(const struct seep_model *m, uint32_t frame, uint32_t other);

/* Whether its memory counts towards the host's limits. */
bool seep_finding_is_on_host(const struct seep_model *m, const struct seep_finding *finding);

/* Sets peak_bytes, over all of its sites, and notes what was requested, where malloc takes a tenth
 * more for it. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_finding_set_peak(const struct seep_model *m, struct seep_finding *finding);

/* Sets limit_bytes and steps_to_limit: on host memory by the limit that its growth reaches first,
 * on a device by its capacity; notes in the evidence what is in use. Needs the finding's processes.
 */
void seep_finding_set_limit(const struct seep_model *m, const struct seep_resident_trend *resident,
                            struct seep_finding *finding);

#endif
