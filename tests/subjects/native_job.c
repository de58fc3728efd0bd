/* A training job in C, for verdicts on native code: the names of functions say what they do. Each
 * allocation goes through a wrapper, as in most C programs, or is announced.
 *   usage: native_job SECTION     steps are announced through seep.h */
#include "preload/seep.h"
#include "tally.h"

#include <sys/mman.h>
#include <sys/wait.h>

enum { STEPS = 120, EPOCH = 40, ITEMS = 40, WORKERS = 3 };

static NOIPA void *xmalloc(size_t n)
{
    void *block = malloc(n);

    MUST(block != NULL);
    memset(block, 1, n);
    return block;
}

static void *items[ITEMS];

/* Items of many sizes: a dataset's are told by whose they are. */
static NOIPA void *dataset_load_item(unsigned i)
{
    char *item = xmalloc(20000 + i * 7919 % 30000); /* LINE item */

    item[0] = (char)i; /* the last thing that it does is no call: its frame is there */
    return item;
}

static NOIPA void train_step(void)
{
    void *batch = xmalloc(64 * 1024);

    free(batch);
    usleep(1000);
    seep_step();
}

static void run_epochs(void (*each)(unsigned step))
{
    for (unsigned step = 0; step < STEPS; step++) {
        if (step % EPOCH == 0)
            seep_epoch();
        if (each)
            each(step);
        train_step();
    }
}

/* Tells of the ends of epochs instead of their beginnings. */
static void ends(void)
{
    for (unsigned step = 0; step < STEPS; step++) {
        train_step();
        if ((step + 1) % EPOCH == 0)
            seep_epoch();
    }
}

static void eager(void)
{
    for (unsigned i = 0; i < ITEMS; i++)
        items[i] = dataset_load_item(i);
    run_epochs(NULL);
}

static NOIPA void see_item(unsigned step)
{
    if (!items[step % EPOCH])
        items[step % EPOCH] = dataset_load_item(step % EPOCH);
}

static void lazy(void)
{
    run_epochs(see_item);
}

/* ---- a graph that a log keeps ---- */

static struct node {
    struct node *before;
    void *saved;
} * kept;

static NOIPA struct node *autograd_node_make(struct node *before)
{
    struct node *node = xmalloc(sizeof *node);

    node->before = before;
    node->saved = xmalloc(4096); /* LINE saved */
    return node;
}

static NOIPA void forward(unsigned step)
{
    (void)step;
    for (int layer = 0; layer < 4; layer++)
        kept = autograd_node_make(kept);
}

static void graph(void)
{
    run_epochs(forward);
}

/* ---- workers that each hold the same ---- */

static NOIPA void worker_loop(int go, int ready)
{
    char *table = xmalloc(4 << 20); /* LINE table */
    char done;

    MUST(write(ready, "x", 1) == 1);
    while (read(go, &done, 1) > 0)
        free(xmalloc(10000));
    _exit(table[0] != 1);
}

static void workers(void)
{
    int go[2], ready[2], status;
    pid_t pids[WORKERS];
    char byte;

    MUST(pipe(go) == 0 && pipe(ready) == 0);
    for (int i = 0; i < WORKERS; i++) {
        pids[i] = fork();
        MUST(pids[i] >= 0);
        if (pids[i] == 0) {
            close(go[1]);
            worker_loop(go[0], ready[1]);
        }
    }
    close(go[0]);
    close(ready[1]);                  /* a worker that ends early must not hold this up */
    for (int i = 0; i < WORKERS; i++) /* that they hold the same at once is the case to judge */
        MUST(read(ready[0], &byte, 1) == 1);
    for (unsigned step = 0; step < STEPS; step++) {
        MUST(write(go[1], "x", 1) == 1);
        train_step();
    }
    close(go[1]);
    for (int i = 0; i < WORKERS; i++)
        MUST(waitpid(pids[i], &status, 0) == pids[i] && status == 0);
}

/* ---- an allocator of a device: what it has cached is always too small ---- */

static NOIPA void convolve(unsigned step)
{
    size_t at = (size_t)step << 22;

    seep_block_made("device:0", (char *)(1 << 20) + at, 4 << 20); /* LINE segment */
    seep_block_made("tensor:0", (char *)(1 << 20) + at, (3 << 20) + step);
    seep_block_gone("tensor:0", (char *)(1 << 20) + at);
}

static void cache(void)
{
    run_epochs(convolve);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } sections[] = {{"eager", eager}, {"lazy", lazy},    {"graph", graph}, {"workers", workers},
                    {"cache", cache}, {"nothing", NULL}, {"ends", ends}};

    for (size_t i = 0; argc > 1 && i < sizeof sections / sizeof sections[0]; i++) {
        if (strcmp(argv[1], sections[i].name) == 0) {
            if (sections[i].run)
                sections[i].run();
            else
                run_epochs(NULL);
            return 0;
        }
    }
    return 2;
}
