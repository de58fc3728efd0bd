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
