/* The test's own mappings, as the kernel reports them. */
#include "preload/pages/smaps.h"
#include "tests/suite.h"

#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 1 << 20 };

struct looked_for {
    uintptr_t address;
    struct seep_vma vma;
};

static void look(const struct seep_vma *vma, void *arg)
{
    struct looked_for *it = arg;
    if (it->address >= vma->start && it->address < vma->end)
        it->vma = *vma;
}

static struct seep_vma map_at(const void *address)
{
    struct looked_for it = {.address = (uintptr_t)address};
    ck_assert(seep_smaps_read(look, &it));
    ck_assert_uint_gt(it.vma.end, it.address);
    return it.vma;
}

TEST(a_library_or_program_is_a_file)
{
    static const char here[] = "in the program";
    ck_assert(map_at(here).file);
}

TEST(a_private_map_of_zeros_is_memory_and_no_file)
{
    const int fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    char *zeros = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    ck_assert_ptr_ne(zeros, MAP_FAILED);
    memset(zeros, 1, BYTES);
    const struct seep_vma vma = map_at(zeros);
    ck_assert(!vma.file && !vma.shared);
    ck_assert_str_eq(vma.name, "/dev/zero");
    ck_assert_uint_eq(vma.rss_bytes, BYTES);
    munmap(zeros, BYTES);
    close(fd);
}

SUITE("smaps")
