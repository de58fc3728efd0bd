/* Ways of C to keep memory, or to forget it. What is kept is empty: a word left from before could
 * lead anywhere. */
#include <stdlib.h>

struct link {
    struct link *next;
};

void *kept[64];
__thread void *kept_by_thread[64];
struct link *head;

void forget(size_t n)
{
    volatile char *block = calloc(1, n);
    block[0] = 1;
}

void keep(int i, size_t n)
{
    kept[i] = calloc(1, n);
}

void keep_for_thread(int i, size_t n)
{
    kept_by_thread[i] = calloc(1, n);
}

void push(size_t n)
{
    struct link *link = calloc(1, n);
    link->next = head;
    head = link;
}

/* A table as Rust's HashMap is one: what is known of it is where its buckets end, and the bytes
 * that say which are full begin. It is large, so that old addresses do not lead to it. */
enum { BUCKETS = 32768, BUCKET = 16 };

void *new_table(void)
{
    char *buckets = calloc(1, BUCKETS * (BUCKET + 1));

    return buckets + BUCKETS * BUCKET;
}

void put(void *control, int i, size_t n)
{
    void **bucket = (void **)((char *)control - (i + 1) * BUCKET);

    *bucket = calloc(1, n);
}

void *new_block(size_t n)
{
    return calloc(1, n);
}
