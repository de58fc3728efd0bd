/* The memory of a process that is looked at, no longer readable as soon as the look must be given
 * up: the process has stood still for the most that it may, or seep's own memory is short. */
#ifndef SEEP_VIEWER_LOOK_GUARDED_REMOTE_H
#define SEEP_VIEWER_LOOK_GUARDED_REMOTE_H

#include "libprof/who/process/remote.h"
#include "viewer/look/room_watch.h"

struct seep_guarded_remote {
    struct seep_remote remote; /* to be read */
    struct seep_remote *of;
    const struct seep_room_watch *watch;
    uint64_t began_ns, most_ns, about_ns, told_ns;
    bool is_late;
};

/* How long the process may stand still from now on, and about how long it will, which a terminal is
 * told meanwhile; 0: it does not. */
void seep_guarded_remote_init(struct seep_guarded_remote *guarded, struct seep_remote *of,
                              const struct seep_room_watch *watch, uint64_t most_ns,
                              uint64_t about_ns);

/* Whether the look must be given up: what was read is not whole. */
bool seep_guarded_remote_is_over(struct seep_guarded_remote *guarded);

#endif
