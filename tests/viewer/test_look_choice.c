/* How a process is read, by made-up rooms: no look may take what its job needs. */
#include "tests/suite.h"
#include "viewer/look/look_choice.h"

#include <stdio.h>
#include <string.h>

#define MIB(n) ((uint64_t)(n) << 20)
#define GIB(n) ((uint64_t)(n) << 30)

enum { COPY = SEEP_LOOK_BY_COPY, STOP = SEEP_LOOK_BY_STOP, LIVE = SEEP_LOOK_LIVE, REFUSED = -1 };

static struct seep_memory_room of_cgroup(uint64_t left)
{
    return (struct seep_memory_room){
        .left_bytes = left, .nearest = SEEP_MEMORY_CGROUP, .limit_bytes = GIB(1)};
}

static const struct {
    const char *what;
    enum seep_look_way asked;
    uint64_t anonymous, swapped, left;
    bool beside, kills_group;
    const char *why_no_copy;
    int way;
    const char *said; /* a part of why there is no copy, or of the refusal */
} cases[] = {
    {"it fits twice", SEEP_LOOK_CHOSEN, MIB(100), 0, MIB(120), false, false, NULL, COPY, ""},
    {"an eighth must be left to the job", SEEP_LOOK_CHOSEN, MIB(100), 0, MIB(108), false, false,
     NULL, STOP, "a copy may take 101 MiB, and the cgroup's memory limit leaves 108 MiB"},
    {"what is in swap comes back", SEEP_LOOK_CHOSEN, MIB(100), MIB(50), MIB(160), false, false,
     NULL, STOP, "a copy may take 151 MiB"},
    {"nothing goes to swap for it", SEEP_LOOK_CHOSEN, MIB(100), MIB(50), MIB(40), false, false,
     NULL, REFUSED, "50.0 MiB of it is in swap, and the cgroup's memory limit leaves 40.0 MiB"},
    {"unless that was asked for", SEEP_LOOK_BY_STOP, MIB(100), MIB(50), MIB(40), false, false, NULL,
     STOP, ""},
    {"seep takes some of it, too", SEEP_LOOK_CHOSEN, MIB(100), 0, MIB(200), true, false, NULL, STOP,
     "leaves 200 MiB"},
    {"and may where it fits", SEEP_LOOK_CHOSEN, MIB(100), 0, MIB(240), true, false, NULL, COPY, ""},
    {"all of the cgroup would be killed", SEEP_LOOK_CHOSEN, MIB(100), 0, MIB(140), false, true,
     NULL, STOP, "a copy may take 101 MiB"},
    {"no room at all", SEEP_LOOK_CHOSEN, MIB(100), 0, 0, false, false, NULL, STOP, "leaves 0 B"},
    {"no limit", SEEP_LOOK_CHOSEN, GIB(100), 0, SEEP_MEMORY_NO_NUMBER, false, false, NULL, COPY,
     ""},
    {"it may not fork", SEEP_LOOK_CHOSEN, MIB(1), 0, GIB(1), false, false,
     "it uses the CUDA driver", STOP, "it uses the CUDA driver"},
    {"it would stand still for long", SEEP_LOOK_CHOSEN, GIB(20), 0, GIB(10), false, false, NULL,
     REFUSED, "it would stand still for about 21 s: give --stop if it may, or --live"},
    {"unless that was asked for", SEEP_LOOK_BY_STOP, GIB(20), 0, GIB(10), false, false, NULL, STOP,
     ""},
    {"a copy that was asked for fits", SEEP_LOOK_BY_COPY, MIB(100), 0, MIB(120), false, false, NULL,
     COPY, ""},
    {"and is refused where it does not", SEEP_LOOK_BY_COPY, MIB(100), 0, MIB(50), false, false,
     NULL, REFUSED,
     "no copy of process 7 was made, for a copy may take 101 MiB, and the cgroup's memory limit "
     "leaves 50.0 MiB: try --stop"},
    {"a copy of what may not fork", SEEP_LOOK_BY_COPY, MIB(1), 0, GIB(1), false, false,
     "it uses the CUDA driver", REFUSED, "for it uses the CUDA driver: try --stop"},
    {"who runs on needs no room", SEEP_LOOK_LIVE, GIB(20), 0, 0, false, false, NULL, LIVE, ""},
};

TEST(a_copy_is_made_only_where_it_fits, .to = N(cases))
{
    struct seep_look_case c = {.pid = 7,
                               .asked = cases[_i].asked,
                               .why_no_copy = cases[_i].why_no_copy,
                               .anonymous_bytes = cases[_i].anonymous,
                               .swapped_bytes = cases[_i].swapped,
                               .beside = cases[_i].beside,
                               .room = of_cgroup(cases[_i].left)};
    char why[SEEP_LOOK_WHY];
    struct seep_error err = {0};

    c.room.kills_group = cases[_i].kills_group;
    const int way = seep_look_choose(&c, why, &err);
    ck_assert_msg((way < 0 ? REFUSED : way) == cases[_i].way, "%s: %d, %s%s", cases[_i].what, way,
                  why, err.text);
    ck_assert_msg(strstr(way < 0 ? err.text : why, cases[_i].said) != NULL, "%s: \"%s\" \"%s\"",
                  cases[_i].what, why, err.text);
    ck_assert_msg(cases[_i].said[0] || !why[0], "%s: \"%s\"", cases[_i].what, why);
}

TEST(nothing_is_copied_where_the_room_cannot_be_seen)
{
    struct seep_look_case c = {.pid = 7, .anonymous_bytes = MIB(1), .room = of_cgroup(GIB(1))};
    char why[SEEP_LOOK_WHY];
    struct seep_error err = {0};

    ck_assert_int_eq(seep_look_choose(&c, why, &err), COPY);
    c.room.group_unseen = true;
    ck_assert_int_eq(seep_look_choose(&c, why, &err), STOP);
    ck_assert_str_eq(why, "how much memory its cgroup has left cannot be seen from here");
}

/* The fork needs page tables, and its go-between, too. */
TEST(page_tables_are_copied_twice)
{
    struct seep_look_case c = {.anonymous_bytes = MIB(100)};
    const uint64_t without = seep_look_copy_bytes(&c);

    c.table_bytes = MIB(3);
    ck_assert_uint_eq(seep_look_copy_bytes(&c), without + MIB(6));
}

/* As long as the job takes nothing more, its copy need not end, however much is written. */
TEST(a_copy_that_fitted_is_not_ended_for_what_it_was_to_take)
{
    static const uint64_t sizes[] = {MIB(1), MIB(10), MIB(100), GIB(1), GIB(100)};

    for (size_t i = 0; i < N(sizes); i++)
        for (int group = 0; group < 2; group++)
            for (uint64_t left = sizes[i]; left < 4 * sizes[i] + MIB(100);
                 left += sizes[i] / 16 + MIB(1)) {
                struct seep_look_case c = {.anonymous_bytes = sizes[i], .room = of_cgroup(left)};
                c.room.kills_group = group;
                const uint64_t takes = seep_look_copy_bytes(&c);
                char why[SEEP_LOOK_WHY];
                struct seep_error err = {0};
                if (seep_look_choose(&c, why, &err) != COPY)
                    continue;
                c.room.left_bytes -= takes - 1;
                ck_assert(!seep_look_is_short(&c.room, takes));
            }
}

TEST(a_copy_ends_before_the_kernel_must_end_something)
{
    struct seep_memory_room room = of_cgroup(MIB(8));

    ck_assert(seep_look_is_short(&room, 0));
    room.left_bytes = MIB(9);
    ck_assert(!seep_look_is_short(&room, 0));
    ck_assert(seep_look_is_short(&room, MIB(160)));
    room.kills_group = true;
    room.left_bytes = MIB(32);
    ck_assert(seep_look_is_short(&room, 0));
}

TEST(a_process_never_stands_still_without_a_bound)
{
    struct seep_look_case c = {.anonymous_bytes = 0};

    ck_assert_uint_eq(seep_look_stop_most_ns(&c), UINT64_C(10000000000));
    c.anonymous_bytes = UINT64_C(5000000000);
    ck_assert_uint_eq(seep_look_stop_ns(&c), UINT64_C(5000000000));
    ck_assert_uint_eq(seep_look_stop_most_ns(&c), UINT64_C(20000000000));
}

SUITE("look_choice")
