#include "libprof/code/name_patterns.h"

#include <fnmatch.h>
#include <string.h>

enum { PATTERN_BYTES = 256 };

bool seep_name_fits(const char *patterns, const char *text, bool ends)
{
    char pattern[PATTERN_BYTES];

    for (const char *at = patterns; *at;) {
        const size_t n = strcspn(at, "|"), room = sizeof pattern - 1 - ends;
        if (ends)
            pattern[0] = '*';
        memcpy(pattern + ends, at, n < room ? n : room);
        pattern[ends + (n < room ? n : room)] = '\0';
        if (*text && fnmatch(pattern, text, 0) == 0)
            return true;
        at += n + (at[n] == '|');
    }
    return false;
}
