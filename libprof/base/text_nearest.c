#include "libprof/base/text.h"

#include <string.h>

enum { MOST_LETTERS = 32, MOST_EDITS = 2 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters must be put in, left out or replaced; two that changed places are two. */
static size_t edits(const char *a, const char *b)
{
    const size_t n = strlen(a), k = strlen(b);
    size_t row[MOST_LETTERS + 1];

    if (n > MOST_LETTERS || k > MOST_LETTERS)
        return MOST_LETTERS;
    for (size_t j = 0; j <= k; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= k; j++) {
            const size_t above = row[j];
            row[j] = least(least(above, row[j - 1]) + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[k];
}

const char *seep_text_nearest(const char *word, const char *const *list)
{
    const char *nearest = NULL;
    size_t fewest = MOST_EDITS + 1;

    for (; *list; list++) {
        const size_t n = edits(word, *list);
        if (n < fewest && 2 * n < strlen(*list)) {
            fewest = n;
            nearest = *list;
        }
    }
    return nearest;
}
