#include "viewer/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum seep_colour chosen;

void seep_colour_choose(enum seep_colour wanted)
{
    chosen = wanted;
}

bool seep_colour_of(FILE *out)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    if (chosen != SEEP_COLOUR_AUTO)
        return chosen == SEEP_COLOUR_ALWAYS;
    return isatty(fileno(out)) && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
}
