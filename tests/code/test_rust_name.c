/* Names of Rust's functions. */
#include "libprof/code/rust_name.h"
#include "tests/suite.h"

#include <string.h>

static const struct {
    const char *symbol, *name;
} names[] = {
    {"_RNvC6_123foo3bar", "123foo::bar"},
    {"_RNvCs7VvLk_5alloc5alloc", "alloc::alloc"},
    {"_RNCNvCs7VvLk_5alloc5alloc0", "alloc::alloc::{closure}"},
    {"_RNvMs0_NtCs5l0EXMQXRMU_5alloc3vecINtB5_3VechE4growCsbDFn_6polars",
     "<alloc::vec::Vec>::grow"},
    {"_RNvXCs1_3oneNtB2_1TNtCs2_3two1U3new", "<one::T as two::U>::new"},
    {"_RNvYINtCs1_3one1TNtB5_1AENtB5_1U3new", "<one::T as one::U>::new"},
    {"_RINvNtCs1_4core3mem4swapTjhEECs2_3two", "core::mem::swap"},
    {"_RINvCs1_3one3useKj7b_E", "one::use"},
    {"_RNvMCs1_3oneReF_3new", NULL},
    {"_RNvMCs1_3oneRe3new", "<&str>::new"},
    {"_RNvMCs1_3oneSh3new", "<[u8]>::new"},
    {"_RNvMCs1_3oneAhj10_3new", "<[u8]>::new"},
    {"_RNvMCs1_3oneTjbE3new", "<(usize, bool)>::new"},
    {"_RNvMCs1_3oneDNtB2_1UEL_3new", "<dyn one::U>::new"},
    {"_RNvMCs1_3oneFKCjEu3new", "<fn>::new"},
    {"_RNvCs7VvLk_5alloc5alloc.llvm.123", "alloc::alloc"},
    {"_RNvMs5_NtC", NULL},
    {"_R", NULL},
    {"_RNvB_3new", NULL}, /* it refers to itself */
    {"_RNvC99one3new", NULL},
    {"_ZN3one3newE", NULL},
    {"", NULL},
};

TEST(a_symbols_path_is_shown, .to = N(names))
{
    char name[256];

    const bool known = seep_rust_name(names[_i].symbol, name, sizeof name);
    ck_assert_int_eq(known, names[_i].name != NULL);
    if (known)
        ck_assert_str_eq(name, names[_i].name);
}

TEST(any_part_of_a_symbol_is_read_without_harm, .to = N(names))
{
    char part[256], name[16];

    for (size_t n = 0; n <= strlen(names[_i].symbol); n++) {
        snprintf(part, sizeof part, "%.*s", (int)n, names[_i].symbol);
        if (seep_rust_name(part, name, sizeof name))
            ck_assert_uint_lt(strlen(name), sizeof name);
    }
}

/* Each reference back doubles what is written: the name is given up, not written out. */
TEST(a_name_that_grows_without_end_is_given_up)
{
    char symbol[1024] = "_RNvMCs1_3oneTjj", name[128];

    for (int i = 0; i < 100; i++)
        strcat(symbol, "TB9_B9_");
    (void)seep_rust_name(symbol, name, sizeof name);
    char deep[2048] = "_RNvMCs1_3one";
    memset(deep + strlen(deep), 'R', 1500);
    ck_assert(!seep_rust_name(deep, name, sizeof name));
}

static const struct {
    const char *name;
    size_t n;
} hashed[] = {{"alloc::raw_vec::finish_grow::h0123456789abcdef", 27},
              {"alloc::raw_vec::finish_grow", 27},
              {"one::h0123", 10},
              {"one::h0123456789abcdeg", 22},
              {"::h0123456789abcdef", 19}};

TEST(the_hash_of_older_names_is_left_out, .to = N(hashed))
{
    ck_assert_uint_eq(seep_rust_without_hash(hashed[_i].name), hashed[_i].n);
}

SUITE("Rust's names")
