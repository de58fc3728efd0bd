/* A service of few and large requests: 120 blocks of 1 MB in five seconds, one a round.
 *   few_events kept|lost|freed */
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 120, BYTES = 1000000 };

static void *volatile kept[ROUNDS];

int main(int argc, char **argv)
{
    const struct timespec pause = {0, 40000000};

    for (int i = 0; i < ROUNDS && argc > 1; i++) {
        char *volatile block = malloc(BYTES); /* LINE made */
        if (!block)
            return 1;
        memset(block, 1, BYTES);
        if (argv[1][0] == 'k')
            kept[i] = block;
        if (argv[1][0] == 'f')
            free(block);
        block = NULL;
        nanosleep(&pause, NULL);
    }
    return 0;
}
