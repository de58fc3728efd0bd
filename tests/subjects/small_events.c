/* Steps of very many small events, one of which is kept. Prints what it did (tally.h).
 *   usage: small_events STEPS FILE: goes on until FILE is there, and as many steps again, but for
 *   STEPS at least */
#include "preload/seep.h"
#include "tally.h"

enum { BLOCKS = 1024, EVENTS = 5000, KEPT = 4, KEPT_BYTES = 120, LARGEST = 600 };

static struct block {
    void *p;
    size_t size;
} blocks[BLOCKS];

TALLY(subject_churn, "host");
static NOIPA void subject_churn(struct block *b, size_t size)
{
    const int line = __LINE__ + 1;
    b->p = malloc(size);
    b->size = size;
    tally_made(&tally_subject_churn, size, line);
}

TALLY(subject_kept, "host");
static NOIPA void *subject_kept(void)
{
    const int line = __LINE__ + 1;
    void *p = malloc(KEPT_BYTES);
    tally_made(&tally_subject_kept, KEPT_BYTES, line);
    return p;
}

static void step(uint64_t *random)
{
    static void **kept;
    for (int i = 0; i < EVENTS; i++) {
        struct block *b = &blocks[tally_random(random) % BLOCKS];
        if (b->p)
            tally_gone(&tally_subject_churn, b->size);
        free(b->p);
        subject_churn(b, 1 + tally_random(random) % LARGEST);
    }
    for (int i = 0; i < KEPT; i++) {
        void **p = subject_kept();
        *p = kept;
        kept = p;
    }
    seep_step();
}

int main(int argc, char **argv)
{
    uint64_t random = 88172645463325252u;
    long n = 0;
    MUST(argc == 3);
    for (; access(argv[2], F_OK) != 0; n++)
        step(&random);
    for (long rest = n > atol(argv[1]) ? n : atol(argv[1]) - n; rest > 0; rest--)
        step(&random);
    tally_print();
    return 0;
}
