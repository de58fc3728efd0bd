/* The settings of PyTorch's allocator, from the texts of their variables. */
#include <check.h>

#include "libprof/format/device_format.h"
#include "preload/life/program_facts.h"
#include "tests/suite.h"

static const struct {
    const char *list;
    uint32_t bits;
} lists[] = {
    {"", 0},
    {NULL, 0},
    {"expandable_segments:True", SEEP_ALLOCATOR_EXPANDABLE},
    {"expandable_segments:False", 0},
    {" expandable_segments : True ,max_split_size_mb:128",
     SEEP_ALLOCATOR_EXPANDABLE | SEEP_ALLOCATOR_MAX_SPLIT},
    {"garbage_collection_threshold:0.8,backend:cudaMallocAsync",
     SEEP_ALLOCATOR_COLLECTS | SEEP_ALLOCATOR_ASYNC},
    {"backend:native", 0},
    {"expandable_segments", 0},
    {":,,:True,max_split_size_mb_:3,x:max_split_size_mb", 0},
};

TEST(each_setting_is_known_by_its_key_and_value, .to = N(lists))
{
    ck_assert_uint_eq(seep_torch_settings_in(lists[_i].list), lists[_i].bits);
}

SUITE("torch_settings")
