/* Several looks at one process: what each holder retained and how long its container was in each
 * look, what grows by that, and how fast. */
#ifndef SEEP_LIBPROF_LOOK_LOOK_COURSE_H
#define SEEP_LIBPROF_LOOK_LOOK_COURSE_H

#include "libprof/look/look_holders.h"

#include <jansson.h>

enum { SEEP_MOST_LOOKS = 64, SEEP_LOOK_WHY = 160 };

/* One look. */
struct seep_look_moment {
    double t_s;      /* since the first one */
    uint32_t round;  /* 0: of the first looks at all processes of a job, 1: of the second … */
    const char *way; /* "copy", "stop", "live", "core" */
    char why[SEEP_LOOK_WHY]; /* if the process was not copied as usual: why; else "" */
    uint64_t stop_ns;
    uint64_t rss_bytes, file_bytes;   /* the latter: of RSS, pages of files and shared ones; 0: not
                                       * known */
    uint64_t pss_bytes;               /* 0: not known */
    uint64_t private_bytes;           /* written, and of this process alone; 0: not known */
    char allocator[SEEP_MALLOC_NAME]; /* whose blocks are not known, so that sizes are those of
                                       * objects by type; "": none */
    const char *incomplete;           /* why some live memory is missing; NULL: none is */
    struct seep_look_holders holders;
};

struct seep_look_course {
    struct seep_look_moment moments[SEEP_MOST_LOOKS];
    size_t n;
};

/* What a holder has done since the first look. */
enum seep_look_growth {
    SEEP_LOOK_SAME,    /* it does not grow, or there was only one look */
    SEEP_LOOK_GREW,    /* it retains more than at the first */
    SEEP_LOOK_STEADY,  /* by about as much at each of three looks or more, and it has no bound */
    SEEP_LOOK_ENDLESS, /* and it is a container that got longer each time, or there were six looks
                        */
};

/* The word for it in documents. */
const char *seep_look_growth_word(enum seep_look_growth growth);

struct seep_look_change {
    enum seep_look_growth growth; /* the surest in any memory */
    double bytes_per_minute[SEEP_LOOK_MEMORIES];
    uint32_t grows_in;   /* memories, a bit for each, */
    uint32_t another_in; /* and in which of them another holder stands for it */
    bool by_another; /* another holder stands for it: one that goes with it and grew by nearly as
                        much, or, for entries, their container */
};

/* Of the holders of the last look: changes[n]. */
void seep_look_changes(const struct seep_look_course *course, struct seep_look_change *changes);

/* {looks, holders} of a look document; a new reference, or NULL without memory. */
json_t *seep_look_json(const struct seep_look_course *course);

void seep_look_course_fini(struct seep_look_course *course);

#endif
