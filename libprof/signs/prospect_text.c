#include "libprof/signs/prospect.h"

#include <string.h>

const char *seep_prospect_text(enum seep_prospect p)
{
    static const char *const texts[] = {
#define SEEP_PROSPECT(id, text) [SEEP_##id] = text,
#include "libprof/words/findings/prospects.def"
#undef SEEP_PROSPECT
    };

    return texts[p];
}

bool seep_prospect_is_open_text(const char *text)
{
    for (int p = 0; p <= SEEP_ENDLESS_LOST; p++) {
        if (seep_prospect_is_open((enum seep_prospect)p) &&
            strcmp(text, seep_prospect_text((enum seep_prospect)p)) == 0)
            return true;
    }
    return false;
}
