/* Device memory in use, look by look: the last look of a period stays, and a full table keeps its
 * whole time at half as many looks. */
#include "tests/suite.h"
#include "viewer/watch/device_looks.h"

#include <check.h>
#include <string.h>

static struct seep_device_notes notes;

static void setup(void)
{
    memset(&notes, 0, sizeof notes);
}

static void teardown(void)
{
}

static void add(unsigned device, uint32_t period, uint64_t used)
{
    const struct seep_device_look look = {
        .t_ns = 1 + used, .used_bytes = used, .period = period, .device = device};

    seep_device_looks_add(&notes, &look);
}

TEST(the_last_look_in_a_period_stays_device_by_device)
{
    add(0, 1, 10);
    add(1, 1, 20);
    add(0, 1, 11);
    add(0, 2, 12);
    ck_assert_uint_eq(notes.n_looks, 3);
    ck_assert_uint_eq(notes.looks[0].used_bytes, 11);
    ck_assert_uint_eq(notes.looks[0].t_ns, 1 + 10); /* rows in between have had it */
    ck_assert_uint_eq(notes.looks[1].used_bytes, 20);
    ck_assert_uint_eq(notes.looks[2].period, 2);
}

TEST(a_full_table_keeps_every_other_look_of_each_device)
{
    for (uint32_t i = 0; i < SEEP_DEVICE_LOOKS; i++)
        add(i % 4 == 3, i, i);
    ck_assert_uint_eq(notes.n_looks, SEEP_DEVICE_LOOKS);
    add(0, SEEP_DEVICE_LOOKS, 7);
    ck_assert_uint_eq(notes.n_looks, SEEP_DEVICE_LOOKS / 2 + 1);
    ck_assert_uint_eq(notes.looks[0].period, 0); /* the first one is the first still */
    unsigned of_1 = 0;
    for (uint32_t i = 1; i < notes.n_looks; i++) {
        ck_assert_uint_gt(notes.looks[i].period, notes.looks[i - 1].period);
        of_1 += notes.looks[i].device == 1;
    }
    ck_assert_uint_eq(of_1, SEEP_DEVICE_LOOKS / 4 / 2);
    ck_assert_uint_eq(notes.looks[notes.n_looks - 1].used_bytes, 7);
}

TEST(what_a_file_says_of_its_looks_is_not_believed)
{
    notes.n_looks = UINT32_MAX;
    for (uint32_t i = 0; i < SEEP_DEVICE_LOOKS; i++)
        notes.looks[i].device = i % 2 ? UINT32_MAX : 3;
    add(3, 9, 5);
    ck_assert_uint_le(notes.n_looks, SEEP_DEVICE_LOOKS);
    ck_assert_uint_eq(notes.looks[notes.n_looks - 1].used_bytes, 5);
}

SUITE("device looks", .setup = setup, .teardown = teardown)
