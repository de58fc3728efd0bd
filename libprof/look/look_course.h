/* Several looks at one process: what each holder retained, and how long its container was, from
 * look to look; what grows by it, and how fast. */
#ifndef SEEP_LIBPROF_LOOK_LOOK_COURSE_H
#define SEEP_LIBPROF_LOOK_LOOK_COURSE_H

#include "libprof/look/look_holders.h"

#include <jansson.h>

enum { SEEP_MOST_LOOKS = 64 };

/* One look. */
struct seep_look_moment {
    double t_s;      /* since the first one */
    const char *way; /* "copy", "stop", "live" */
    const char *why; /* another way than by a copy was chosen; NULL */
    uint64_t stop_ns, rss_bytes;
    const char *incomplete; /* why not all that is live could be told; NULL: it was */
    struct seep_look_holders holders;
};

struct seep_look_course {
    struct seep_look_moment moments[SEEP_MOST_LOOKS];
    size_t n;
};

/* What a holder has done since the first look. */
enum seep_look_growth {
    SEEP_LOOK_SAME,    /* it does not grow, or there was one look */
    SEEP_LOOK_GREW,    /* it retains more than in the first */
    SEEP_LOOK_ENDLESS, /* and more in each of three or more, its container too, which has no bound
                        */
};

struct seep_look_change {
    enum seep_look_growth growth;
    double bytes_per_minute;
    bool by_another; /* it is told by another one: by what goes with it and grew by nearly as much,
                      * or, of entries, by their container */
};

/* Of the holders of the last look, changes[n]. */
void seep_look_changes(const struct seep_look_course *course, struct seep_look_change *changes);

/* {looks, holders} of a look document; a new reference, or NULL without memory. */
json_t *seep_look_json(const struct seep_look_course *course);

void seep_look_course_fini(struct seep_look_course *course);

#endif
