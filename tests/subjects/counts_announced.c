/* Blocks announced through seep.h, of a made-up device and of tensors on it; prints what it did
 * (tally.h). usage: counts_announced SECTION */
#include "preload/seep.h"
#include "tally.h"

#include <errno.h>
#include <sys/wait.h>

static char device[1 << 20]; /* addresses only */

TALLY(subject_segment, "device:0");
static NOIPA void subject_segment(size_t at, size_t n)
{
    const int line = __LINE__ + 1;
    seep_block_made("device:0", device + at, n);
    tally_made(&tally_subject_segment, n, line);
}

TALLY(subject_tensor, "tensor:0");
static NOIPA void subject_tensor(size_t at, size_t n)
{
    const int line = __LINE__ + 1;
    seep_block_made("tensor:0", device + at, n);
    tally_made(&tally_subject_tensor, n, line);
}

static NOIPA void subject_tensor_gone(size_t at, size_t n)
{
    seep_block_gone("tensor:0", device + at);
    tally_gone(&tally_subject_tensor, n);
}

/* Tensors lie at the addresses of their segment, and of heap blocks. */
static void overlap(void)
{
    char *block = malloc(4096);

    MUST(block != NULL);
    subject_segment(0, 2 << 20);
    seep_block_made("pool", block, 1000);
    for (size_t i = 0; i < 100; i++)
        subject_tensor(i * 512, 512);
    for (size_t i = 0; i < 60; i++)
        subject_tensor_gone(i * 512, 512);
    seep_block_gone("pool", block);
    free(block);
}

/* What is no block, no space, or not theirs to announce, is left alone. */
static void refused(void)
{
    errno = 77;
    seep_block_made("host", device, 100);
    seep_block_made("mmap", device, 100);
    seep_block_made("", device, 100);
    seep_block_made("a name with spaces", device, 100);
    seep_block_made("a-name-that-is-longer-than-a-space's", device, 100);
    seep_block_made("device:0", NULL, 100);
    seep_block_gone("device:0", device);
    seep_block_gone("never-announced", device);
    MUST(errno == 77);
    subject_segment(0, 4096);
}

/* A block announced again replaces the one before. */
static void again(void)
{
    subject_tensor(0, 512);
    tally_gone(&tally_subject_tensor, 512);
    subject_tensor(0, 2048);
}

/* A child has its parent's spaces, and its own blocks in them. */
static void forked(void)
{
    int status;

    subject_segment(0, 4096);
    pid_t pid = fork();
    MUST(pid >= 0);
    if (pid == 0) {
        seep_block_made("device:0", device + 4096, 8192);
        seep_block_made("device:1", device, 16384);
        _exit(0);
    }
    MUST(waitpid(pid, &status, 0) == pid && status == 0);
}

/* One name more than there is room for spaces: what does not fit is left out. */
static void crowd(void)
{
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof name, "pool-%d", i);
        seep_block_made(name, device, 64);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } sections[] = {{"overlap", overlap},
                    {"refused", refused},
                    {"again", again},
                    {"forked", forked},
                    {"crowd", crowd}};

    for (size_t i = 0; argc > 1 && i < sizeof sections / sizeof sections[0]; i++) {
        if (strcmp(argv[1], sections[i].name) == 0) {
            sections[i].run();
            tally_print();
            return 0;
        }
    }
    return 2;
}
