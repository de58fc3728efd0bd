/* What readers take of the memory that is left before any limit, so that all of them together stay
 * within it, and leave something to the job; and within the bound that the job may have of its own.
 * `seep run` and its readers share this. */
#ifndef SEEP_VIEWER_WATCH_READER_ROOM_H
#define SEEP_VIEWER_WATCH_READER_ROOM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SEEP_READERS = 2 }; /* one works, and one has its turn later */

struct seep_reader_claim {
    pid_t pid;           /* of the reader; 0: there is none */
    bool waits;          /* it takes no more for now */
    bool is_bounded;     /* it has said what it needs */
    uint64_t need_bytes; /* the most that it comes to have, as far as it is known */
    uint64_t most_bytes; /* that the job's own bound leaves for all of them; 0: there is none */
    uint64_t left_bytes; /* where that did not fit: what was left for it, with what it had, … */
    bool is_by_bound;    /* … by that bound, as is whatever else it asks for and does not get */
};

struct seep_reader_room {
    struct seep_reader_claim *claims; /* [SEEP_READERS], shared; NULL: readers are not bounded */
    uint64_t due_ns;                  /* when to look next */
};

void seep_reader_room_open(struct seep_reader_room *room);

/* For `seep run`, before it starts a reader: a claim that no other reader has; NULL: none. */
struct seep_reader_claim *seep_reader_room_claim(struct seep_reader_room *room);

/* Whether a reader that needs as much as this one does fits beside all of them. */
bool seep_reader_room_has_another(const struct seep_reader_room *room,
                                  const struct seep_reader_claim *like);

/* For a reader, which is about to take what it needs. `most_bytes`: of the job's own bound, 0:
 * there is none. False: it does not fit, so the reader must give up. True: it does, and the kernel
 * gives the reader no more than what was left. */
bool seep_reader_room_take(const struct seep_reader_room *room, struct seep_reader_claim *own,
                           uint64_t need_bytes, uint64_t most_bytes);

/* For `seep run`, any time: whether what readers still need has become more than what is left.
 * Looks only when a job that takes 2 GiB a second could have come so far; due_ns says when that is
 * next. */
bool seep_reader_room_is_short(struct seep_reader_room *room, uint64_t now_ns);

#endif
