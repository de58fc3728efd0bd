/* What is packed comes out as it went in, however long it is and in whatever pieces. */
#include "libprof/base/packed_text.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>

static struct {
    char bytes[1 << 20];
    size_t n, room;
} got;

static int put(const char *bytes, size_t n, void *context)
{
    (void)context;
    if (n > got.room - got.n)
        return -1;
    memcpy(got.bytes + got.n, bytes, n);
    got.n += n;
    return 0;
}

/* Numbers that differ, in pieces of growing length. */
static char *pieces_of(struct seep_packed_text *text, size_t n)
{
    char *all = malloc(n + 1);

    ck_assert_ptr_nonnull(all);
    for (size_t i = 0; i < n; i++)
        all[i] = (char)('0' + i * i % 7 + i / 100 % 3);
    for (size_t i = 0, piece = 1; i < n; i += piece, piece = 1 + piece * 3 % 2000) {
        piece = piece < n - i ? piece : n - i;
        ck_assert_int_eq(seep_packed_text_add(text, all + i, piece), 0);
    }
    ck_assert_int_eq(seep_packed_text_end(text), 0);
    return all;
}

TEST(what_is_packed_comes_out_as_it_went_in)
{
    static const size_t lengths[] = {0, 1, 255, 256, 1023, 1024, 1025, 16384, 700000};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct seep_packed_text text = {0};
        char *all = pieces_of(&text, lengths[i]);
        got.n = 0;
        got.room = sizeof got.bytes;
        for (int again = 0; again < 2; again++, got.n = again < 2 ? 0 : got.n)
            ck_assert_int_eq(seep_packed_text_write(&text, put, NULL), 0);
        ck_assert_uint_eq(got.n, lengths[i]);
        ck_assert_mem_eq(got.bytes, all, lengths[i]);
        seep_packed_text_fini(&text);
        free(all);
    }
}

TEST(the_same_bytes_over_and_over_take_almost_nothing)
{
    struct seep_packed_text text = {0};

    for (int i = 0; i < 100000; i++)
        ck_assert_int_eq(seep_packed_text_add(&text, "null,", 5), 0);
    ck_assert_int_eq(seep_packed_text_end(&text), 0);
    ck_assert_uint_lt(text.n, 100000 * 5 / 50);
    seep_packed_text_fini(&text);
}

TEST(a_full_disk_is_noticed)
{
    struct seep_packed_text text = {0};

    free(pieces_of(&text, 50000));
    got.n = 0;
    got.room = 40000;
    ck_assert_int_eq(seep_packed_text_write(&text, put, NULL), -SEEP_EIO);
    seep_packed_text_fini(&text);
}

TEST(what_was_never_ended_is_freed_all_the_same)
{
    struct seep_packed_text text = {0};

    ck_assert_int_eq(seep_packed_text_add(&text, "1,", 2), 0);
    seep_packed_text_fini(&text);
}

SUITE("packed text")
