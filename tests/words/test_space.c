/* The names of spaces: what profiles of any origin, budgets and reports may hold. */
#include "libprof/words/space.h"
#include "tests/suite.h"

#include <check.h>
#include <string.h>

static const struct {
    const char *name, *text;
    enum seep_space_class class;
    int device;
    bool host_like, known;
} rows[] = {
    {"host", "host", SEEP_CLASS_HOST, -1, true, true},
    {"mmap", "mmap", SEEP_CLASS_MMAP, -1, true, true},
    {"shm", "shm", SEEP_CLASS_SHM, -1, false, true},
    {"pinned", "pinned", SEEP_CLASS_PINNED, -1, false, true},
    {"device:0", "device:0", SEEP_CLASS_DEVICE, 0, false, true},
    {"tensor:12", "tensor:12", SEEP_CLASS_TENSOR, 12, false, true},
    {"device:12345", "device:12345", SEEP_CLASS_DEVICE, -1, false, false},
    {"device:", "device:", SEEP_CLASS_DEVICE, -1, false, false},
    {"device:-1", "device:-1", SEEP_CLASS_DEVICE, -1, false, false},
    {"tensor:1x", "tensor:1x", SEEP_CLASS_TENSOR, -1, false, false},
    {"hosts", "hosts", SEEP_CLASS_OTHER, -1, false, false},
    {"pool", "pool", SEEP_CLASS_OTHER, -1, false, false},
    {"", "?", SEEP_CLASS_OTHER, -1, false, false},
    {"a\n\"b", "a??b", SEEP_CLASS_OTHER, -1, false, false},
    {"abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvw", SEEP_CLASS_OTHER, -1, false, false},
};

TEST(a_name_says_what_memory_a_space_is_of, .to = N(rows))
{
    struct seep_space_name name = seep_space_parse(rows[_i].name);

    ck_assert_str_eq(name.text, rows[_i].text);
    ck_assert_int_eq(name.class, rows[_i].class);
    ck_assert_int_eq(name.device, rows[_i].device);
    ck_assert_int_eq(name.host_like, rows[_i].host_like);
    ck_assert_int_eq(seep_space_is_known(&name), rows[_i].known);
}

TEST(a_class_without_a_number_has_one_name)
{
    for (int i = SEEP_CLASS_HOST; i <= SEEP_CLASS_PINNED; i++) {
        const char *text = seep_space_class_name((enum seep_space_class)i);
        ck_assert_int_eq(seep_space_parse(text).class, i);
    }
    ck_assert_str_eq(seep_space_class_name(SEEP_CLASS_DEVICE), "");
}

static const struct {
    const char *name, *words;
} sentences[] = {
    {"host", "malloc'd memory"},      {"mmap", "mapped memory"}, {"shm", "shared memory"},
    {"pinned", "pinned memory"},      {"device:0", "GPU 0"},     {"tensor:12", "tensors on GPU 12"},
    {"device:12345", "device:12345"}, {"pool", "pool"},
};

TEST(a_sentence_says_what_memory_it_is_about, .to = N(sentences))
{
    char words[SEEP_SPACE_WORDS];

    ck_assert_str_eq(seep_space_words(sentences[_i].name, words), sentences[_i].words);
    ck_assert_str_eq(seep_memory_words(sentences[_i].name, words),
                     _i < 2 ? "host memory" : sentences[_i].words);
}

static bool paired(const char *tensors, const char *device)
{
    struct seep_space_name a = seep_space_parse(tensors), b = seep_space_parse(device);

    return seep_space_is_tensors_of(&a, &b);
}

TEST(tensors_lie_in_the_device_of_their_number)
{
    ck_assert(paired("tensor:0", "device:0"));
    ck_assert(paired("tensor:gpu-a", "device:gpu-a"));
    ck_assert(!paired("tensor:1", "device:0"));
    ck_assert(!paired("device:0", "device:0"));
    ck_assert(!paired("tensor:0", "tensor:0"));
    ck_assert(!paired("tensor:0", "host"));
}

SUITE("space")
