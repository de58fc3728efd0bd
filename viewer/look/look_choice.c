#include "viewer/look/look_choice.h"

#include "libprof/base/text.h"

#include <stdio.h>

/* What watches a job, such as a probe of its health, waits for so long and longer. */
#define MAX_STOP_NS (UINT64_C(10) * 1000 * 1000 * 1000)

enum {
    FORKS = 2,        /* the copy's parent ends only after the copy was made */
    STACKS = 1 << 20, /* what the kernel keeps of two processes besides page tables */
    RESERVE_SHARE = 16,
    READ_NS = 1,  /* a byte; measured: 31 ms for a million small objects, less for arrays */
    SWAP_NS = 10, /* a byte that comes from a disk */
    SLOW = 4,     /* times so long on a machine that is busy */
};

uint64_t seep_look_copy_bytes(const struct seep_look_case *c)
{
    return c->anonymous_bytes + c->swapped_bytes + FORKS * c->table_bytes + STACKS;
}

bool seep_look_is_short(const struct seep_memory_room *room, uint64_t copy_bytes)
{
    return !seep_memory_room_most(room) || room->left_bytes < copy_bytes / RESERVE_SHARE;
}

uint64_t seep_look_stop_ns(const struct seep_look_case *c)
{
    return READ_NS * c->anonymous_bytes + SWAP_NS * c->swapped_bytes;
}

uint64_t seep_look_stop_most_ns(const struct seep_look_case *c)
{
    const uint64_t slow = SLOW * seep_look_stop_ns(c);

    return slow > MAX_STOP_NS ? slow : MAX_STOP_NS;
}

/* What seep takes itself is not known yet, and is seldom more than the process has. */
static bool copy_fits(const struct seep_look_case *c)
{
    const uint64_t own = c->beside ? c->anonymous_bytes : 0;

    return seep_memory_room_fits(&c->room, seep_look_copy_bytes(c) + own);
}

/* False: nothing speaks against a copy. */
static bool speaks_against(const struct seep_look_case *c, char why[SEEP_LOOK_WHY])
{
    char takes[SEEP_SIZE_TEXT], left[SEEP_SIZE_TEXT];

    why[0] = '\0';
    if (c->why_no_copy)
        snprintf(why, SEEP_LOOK_WHY, "%s", c->why_no_copy);
    else if (c->room.group_unseen)
        snprintf(why, SEEP_LOOK_WHY,
                 "how much memory its cgroup has left cannot be seen from here");
    else if (!copy_fits(c))
        snprintf(why, SEEP_LOOK_WHY, "a copy may take %s, and %s leaves %s",
                 seep_text_size((double)seep_look_copy_bytes(c), takes),
                 seep_memory_limit_text(c->room.nearest),
                 seep_text_size((double)c->room.left_bytes, left));
    return why[0];
}

/* What is read of it must not push anything else out of memory, nor keep it from its work for long.
 */
static int choose_stop(const struct seep_look_case *c, const char *why, struct seep_error *err)
{
    char swapped[SEEP_SIZE_TEXT], left[SEEP_SIZE_TEXT];

    if (!seep_memory_room_fits(&c->room, c->swapped_bytes))
        return seep_error_set(
            err, SEEP_EIO, "", 0,
            "process %d was not looked at: %s of it is in swap, and %s leaves %s to "
            "read that: give --stop or --live if other memory may go to swap",
            (int)c->pid, seep_text_size((double)c->swapped_bytes, swapped),
            seep_memory_limit_text(c->room.nearest),
            seep_text_size((double)c->room.left_bytes, left));
    if (seep_look_stop_ns(c) > MAX_STOP_NS)
        return seep_error_set(err, SEEP_EIO, "", 0,
                              "process %d was not looked at: %s, and to be read it would stand "
                              "still for about %.0f s: "
                              "give --stop if it may, or --live",
                              (int)c->pid, why, (double)seep_look_stop_ns(c) / 1e9);
    return SEEP_LOOK_BY_STOP;
}

int seep_look_choose(const struct seep_look_case *c, char why[SEEP_LOOK_WHY],
                     struct seep_error *err)
{
    why[0] = '\0';
    if (c->asked == SEEP_LOOK_LIVE || c->asked == SEEP_LOOK_BY_STOP)
        return (int)c->asked;
    if (!speaks_against(c, why))
        return SEEP_LOOK_BY_COPY;
    if (c->asked == SEEP_LOOK_BY_COPY)
        return seep_error_set(err, SEEP_EIO, "", 0,
                              "no copy of process %d was made, for %s: try --stop", (int)c->pid,
                              why);
    return choose_stop(c, why, err);
}
