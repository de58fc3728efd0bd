/* Sizes as users write them on the command line. */
#include "libprof/base/size_parse.h"
#include "tests/suite.h"

#include <check.h>
#include <stdlib.h>

static const struct {
    const char *text;
    uint64_t bytes;
} good[] = {
    {"0", 0},
    {"4096", 4096},
    {"4096B", 4096},
    {"64MiB", UINT64_C(64) << 20},
    {"64mib", UINT64_C(64) << 20},
    {"64M", UINT64_C(64) << 20},
    {"64 MiB", UINT64_C(64) << 20},
    {"1.5GB", UINT64_C(1500000000)},
    {"1.5GiB", UINT64_C(1610612736)},
    {"0.5k", 512},
    {"2kB", 2000},
    {"3TiB", UINT64_C(3) << 40},
    {"1PB", UINT64_C(1000000000000000)},
};

static const char *const bad[] = {
    "",
    "B",
    "MiB",
    "-1",
    "+1",
    "1.",
    ".5",
    "1e9",
    "0x10",
    "12XB",
    "1MiBs",
    "1 2",
    "1..2",
    "inf",
    "nan",
    " 1",
    "1Mi",
    "1iB",
    "1BB",
    "1MB ",
    "9.3e18",
    "10000000TiB",
    "99999999999999999999",
    "8388608TiB",
};

TEST(a_size_means_what_its_unit_says, .to = N(good))
{
    uint64_t bytes = 1;

    ck_assert_int_eq(seep_size_parse(good[_i].text, &bytes), 0);
    ck_assert_uint_eq(bytes, good[_i].bytes);
}

TEST(what_is_no_size_is_refused, .to = N(bad))
{
    uint64_t bytes;

    ck_assert_msg(seep_size_parse(bad[_i], &bytes) < 0, "\"%s\" was taken for a size", bad[_i]);
}

SUITE("size")
