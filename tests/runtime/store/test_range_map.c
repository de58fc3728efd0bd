/* The live set of maps, compared with a plain array of pages. */
#include <string.h>

#include "libprof/runtime/store/range_map.h"
#include "tests/suite.h"

enum { PAGE = 4096, PAGES = 1 << 18, MANY = 100000, WINDOW = 64, MAX_CALLS = 1 << 20 };

/* Of each page the number of the call that owns it; 0: none. */
static uint32_t model[PAGES];
static uint32_t pages_left[MAX_CALLS + 1]; /* of each call */
static uint8_t states[MAX_CALLS + 1];
static uint32_t n_calls;

static void put(unsigned from, unsigned to, enum seep_range_state state)
{
    uint32_t call = ++n_calls;
    if (call > MAX_CALLS)
        ck_abort_msg("more calls than the model has room for");
    struct seep_range range = {.start = (uintptr_t)from * PAGE,
                               .end = (uintptr_t)to * PAGE,
                               .site = call,
                               .birth = 1,
                               .state = (uint8_t)state};
    if (!seep_range_put(&range))
        ck_abort_msg("no memory for call %u", call);
    for (unsigned page = from; page < to; page++)
        model[page] = call;
    pages_left[call] = to - from;
    states[call] = (uint8_t)state;
}

static struct seep_range pieces[PAGES];

/* What is wrong is counted and checked once a take: a check tells Check's parent each time. */
static void take(unsigned from, unsigned to, unsigned set)
{
    unsigned others = 0, outside = 0, wrong_last = 0, wrong_count = 0, left_behind = 0;
    unsigned n = seep_range_take((uintptr_t)from * PAGE, (uintptr_t)to * PAGE, set, pieces, PAGES);
    for (unsigned i = 0; i < n; i++) {
        const struct seep_range *piece = &pieces[i];
        uintptr_t size = piece->end - piece->start;
        wrong_count += piece->counted != (piece->state == SEEP_RANGE_COMMITTED ? size : 0);
        for (uintptr_t page = piece->start / PAGE; page < piece->end / PAGE; page++) {
            if (page < from || page >= to) {
                outside++;
                break; /* the model may have no such page */
            }
            others += model[page] != piece->site || !(set >> states[piece->site] & 1);
            model[page] = 0;
            pages_left[piece->site]--;
        }
        wrong_last += piece->last != !pages_left[piece->site];
    }
    for (unsigned page = from; page < to; page++)
        left_behind += model[page] && set >> states[model[page]] & 1;
    ck_assert_msg(!(others | outside | wrong_last | wrong_count | left_behind),
                  "of %u pieces of pages %u to %u: %u pages of other maps, %u pieces outside, %u "
                  "wrong `last`, %u wrong counts, %u pages left behind",
                  n, from, to, others, outside, wrong_last, wrong_count, left_behind);
}

static uint64_t mapped(unsigned from, unsigned to, unsigned set)
{
    uint64_t bytes = 0;
    for (unsigned page = from; page < to; page++)
        bytes += model[page] && set >> states[model[page]] & 1 ? PAGE : 0;
    return bytes;
}

static void check_overlap(unsigned from, unsigned to, unsigned set)
{
    ck_assert_uint_eq(seep_range_overlap((uintptr_t)from * PAGE, (uintptr_t)to * PAGE, set),
                      mapped(from, to, set));
}

TEST(maps_are_cut_as_the_kernel_cuts_them)
{
    enum { FEW = 256 };
    srand(7);
    for (int i = 0; i < 100000; i++) {
        unsigned from = (unsigned)rand() % FEW, n = 1 + (unsigned)rand() % 32;
        unsigned to = from + n < FEW ? from + n : FEW;
        take(from, to, SEEP_RANGES_ALL);
        if (rand() & 1)
            put(from, to, (unsigned)rand() % SEEP_RANGE_STATES);
        if (rand() % 8 == 0)
            take((unsigned)rand() % FEW, FEW, 1u << SEEP_RANGE_RESERVED);
        if (rand() % 64 == 0)
            check_overlap(from, FEW, SEEP_RANGES_OF_MEMORY);
    }
    take(0, FEW, SEEP_RANGES_ALL);
    check_overlap(0, PAGES, SEEP_RANGES_ALL);
    for (unsigned state = 0; state < SEEP_RANGE_STATES; state++)
        ck_assert_uint_eq(seep_range_n(state), 0);
}

static void fill(int order)
{
    for (unsigned i = 0; i < MANY; i++) {
        unsigned at = order > 0 ? i : order < 0 ? MANY - 1 - i : (unsigned)(i * 54321ull % MANY);
        put(2 * at, 2 * at + 1 + at % 2, SEEP_RANGE_COMMITTED);
    }
}

/* Upwards, downwards as the kernel goes, and all about; then changed at random. */
TEST(a_hundred_thousand_maps_are_kept_apart)
{
    for (int order = -1; order <= 1; order++) {
        fill(order);
        check_overlap(0, PAGES, SEEP_RANGES_ALL);
        srand(11);
        for (int i = 0; i < 100000; i++) {
            unsigned from = (unsigned)rand() % (PAGES - WINDOW), n = 1 + (unsigned)rand() % 6;
            take(from, from + n, SEEP_RANGES_ALL);
            if (rand() % 4)
                put(from, from + 1 + (unsigned)rand() % n, SEEP_RANGE_COMMITTED);
        }
        check_overlap(0, PAGES, SEEP_RANGES_ALL);
        take(0, PAGES, SEEP_RANGES_ALL);
        ck_assert_uint_eq(seep_range_n(SEEP_RANGE_COMMITTED), 0);
    }
}

/* Every second page of one map, from both ends and the middle: as far apart as pieces can be. */
TEST(the_last_of_many_pieces_is_known)
{
    put(0, 20000, SEEP_RANGE_COMMITTED);
    for (unsigned page = 1; page < 20000; page += 2)
        take(page, page + 1, SEEP_RANGES_ALL);
    for (unsigned i = 0; i < 10000; i++) {
        unsigned at = i % 2 ? i - 1 : 19998 - i;
        take(at, at + 1, SEEP_RANGES_ALL);
    }
    ck_assert_uint_eq(seep_range_n(SEEP_RANGE_COMMITTED), 0);
}

TEST(what_fewer_places_than_pieces_leave_comes_next)
{
    struct seep_range few[7];
    for (unsigned i = 0; i < 20; i++)
        put(3 * i, 3 * i + 2, SEEP_RANGE_COMMITTED);
    unsigned n, all = 0;
    do {
        n = seep_range_take(PAGE, 60 * PAGE, SEEP_RANGES_ALL, few, 7);
        for (unsigned i = 0; i < n; i++)
            ck_assert_uint_eq(few[i].site, n_calls - 19 + all + i);
        all += n;
    } while (n == 7);
    ck_assert_uint_eq(all, 20);
    ck_assert_uint_eq(seep_range_take(0, 60 * PAGE, SEEP_RANGES_ALL, few, 7), 1);
}

static struct seep_range one(void)
{
    struct seep_range found;
    ck_assert(seep_range_find(0, SEEP_RANGES_ALL, &found));
    return found;
}

TEST(what_is_given_back_counts_by_touch_and_is_not_cut)
{
    struct seep_range lost[4];
    put(10, 110, SEEP_RANGE_COMMITTED);
    uintptr_t start = 0;
    ck_assert_uint_eq(seep_range_release(&start, 30 * PAGE, 2, true, lost, 4), 1);
    ck_assert_uint_eq(lost[0].counted, 20 * PAGE);
    start = 50 * PAGE;
    ck_assert_uint_eq(seep_range_release(&start, 60 * PAGE, 2, false, lost, 4), 0);
    start = 50 * PAGE;
    ck_assert_uint_eq(seep_range_release(&start, 60 * PAGE, 2, true, lost, 4), 1);
    struct seep_range left = one();
    ck_assert_uint_eq(left.state, SEEP_RANGE_BY_TOUCH);
    ck_assert_uint_eq(left.end - left.start, 100 * PAGE);
    ck_assert_uint_eq(left.counted, 70 * PAGE);
    start = 0;
    ck_assert_uint_eq(seep_range_release(&start, PAGES * (uintptr_t)PAGE, 2, true, lost, 4), 1);
    ck_assert_uint_eq(lost[0].counted, 70 * PAGE); /* no more than is counted */
    ck_assert_uint_eq(one().counted, 0);
}

TEST(a_part_of_what_counts_by_touch_takes_its_share)
{
    struct seep_range taken;
    uint64_t old;
    put(0, 100, SEEP_RANGE_BY_TOUCH);
    struct seep_range range = one();
    ck_assert(seep_range_correct(&range, 77, 50 * PAGE + 1, &old));
    ck_assert_uint_eq(old, 0);
    ck_assert_uint_eq(seep_range_take(40 * PAGE, 50 * PAGE, SEEP_RANGES_ALL, &taken, 1), 1);
    ck_assert_uint_eq(taken.counted, 5 * PAGE);
    ck_assert_uint_eq(taken.site, 77);
    ck_assert(!taken.last);
    ck_assert(!seep_range_correct(&range, 77, 0, &old)); /* it is another one now */
    ck_assert_uint_eq(seep_range_take(0, 40 * PAGE, SEEP_RANGES_ALL, &taken, 1), 1);
    uint64_t head = taken.counted;
    ck_assert_uint_eq(seep_range_take(0, 100 * PAGE, SEEP_RANGES_ALL, &taken, 1), 1);
    ck_assert_uint_eq(head + taken.counted, 45 * PAGE + 1); /* not a byte is lost */
    ck_assert(taken.last);
}

TEST(what_is_put_back_is_the_piece_that_it_was)
{
    struct seep_range taken;
    put(0, 10, SEEP_RANGE_COMMITTED);
    ck_assert_uint_eq(seep_range_take(2 * PAGE, 5 * PAGE, SEEP_RANGES_ALL, &taken, 1), 1);
    ck_assert(seep_range_put(&taken));
    ck_assert_uint_eq(seep_range_take(0, 2 * PAGE, SEEP_RANGES_ALL, &taken, 1), 1);
    ck_assert_uint_eq(seep_range_take(5 * PAGE, 10 * PAGE, SEEP_RANGES_ALL, &taken, 1), 1);
    ck_assert(!taken.last);
    ck_assert_uint_eq(seep_range_take(0, 10 * PAGE, SEEP_RANGES_ALL, &taken, 1), 1);
    ck_assert(taken.last);
}

SUITE("range map", .timeout_s = 120)
