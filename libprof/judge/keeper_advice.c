#include "libprof/judge/finding_list.h"

#include "libprof/base/text.h"
#include "libprof/code/packages/blame.h"
#include "libprof/who/merge/hops.h"
#include "libprof/words/findings/holder_advice.h"
#include "libprof/words/findings/line_words.h"
#include "libprof/words/findings/lost_words.h"

#include <stdlib.h>
#include <string.h>

/* Memory that was allocated and never freed. */
static char *advise_to_free(const struct seep_blame *blame)
{
    if (!*blame->package)
        return strdup(SEEP_LOST_FREE_HERE_TEXT);
    if (blame->is_own)
        return seep_text_format(SEEP_LOST_FREE_THERE_TEXT, blame->package);
    return seep_text_format(SEEP_LOST_LIBRARY_TEXT, blame->package, blame->package,
                            *blame->calls ? ": " : "", blame->calls);
}

/* An object whose reference count is too high: the code that allocated it need not be the code that
 * took the reference. */
static char *advise_to_give_back(const struct seep_blame *blame)
{
    const bool library = *blame->package && !blame->is_own;

    return seep_text_format(SEEP_LOST_REFERENCE_TEXT, library ? SEEP_LOST_FIRST_OF_ALL_TEXT : "",
                            library ? blame->package : "");
}

static bool is_about_growth(enum seep_pattern pattern)
{
    return pattern == SEEP_PATTERN_UNBOUNDED_GROWTH || pattern == SEEP_PATTERN_SHM_GROWTH ||
           pattern == SEEP_PATTERN_UNDETERMINED;
}

static int advise_on_lost(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_kept_by *k = &c->signs->kept_by;
    struct seep_blame blame;

    if (!f->n_sites || !is_about_growth(f->pattern))
        return 0;
    if (seep_blame_find(c->code, c->m->sites[f->sites[0]].stack, &blame))
        return -SEEP_ENOMEM;
    if (f->pattern == SEEP_PATTERN_UNDETERMINED)
        seep_finding_note(f, "%s", seep_kept_by_nobody_text(k));
    const bool through = strcmp(blame.made_in, blame.package) != 0;
    if (*blame.calls)
        seep_finding_note(f, SEEP_LOST_MADE_IN_TEXT, blame.made_in,
                          through ? SEEP_LOST_MADE_FOR_TEXT : "", through ? blame.package : "",
                          blame.calls);
    f->advice =
        k->state == SEEP_HOLDERS_LOST ? advise_to_free(&blame) : advise_to_give_back(&blame);
    return f->advice ? 0 : -SEEP_ENOMEM;
}

/* ---- what somebody holds ------------------------------------------------------------------------
 */

/* The installed package in whose own data it is; "": in none's. Who shares it with a variable is
 * not told by the path: the package that the line calls, then. */
static int name_owner(const struct seep_case *c, const struct seep_finding *f,
                      char owner[SEEP_BLAME_NAME])
{
    const struct seep_kept_by *k = &c->signs->kept_by;
    struct seep_blame blame = {0};

    owner[0] = '\0';
    if (!f->n_sites || (!*k->library && !k->is_shared))
        return 0;
    if (seep_blame_find(c->code, c->m->sites[f->sites[0]].stack, &blame))
        return -SEEP_ENOMEM;
    if (*k->library && seep_blame_is_library(k->library))
        seep_package_name(c->m, k->library, owner);
    else if (!*k->library && !blame.is_own)
        memcpy(owner, blame.package, SEEP_BLAME_NAME);
    return 0;
}

int seep_holder_advise(const struct seep_case *c, struct seep_finding *f)
{
    const struct seep_kept_by *k = &c->signs->kept_by;
    const bool cured_there =
        f->pattern == SEEP_PATTERN_UNBOUNDED_GROWTH || f->pattern == SEEP_PATTERN_UNDETERMINED ||
        f->pattern == SEEP_PATTERN_FIRST_TOUCH_CACHE || f->pattern == SEEP_PATTERN_GRAPH_RETENTION;
    const char *usual = cured_there && k->way
                            ? seep_holder_advice(k->way, seep_hops_have_type, seep_hops_have_name)
                            : NULL;
    char owner[SEEP_BLAME_NAME];

    if (seep_kept_by_nobody(k))
        return advise_on_lost(c, f);
    if (f->keeper || (!k->known && !k->is_shared))
        return 0;
    if (name_owner(c, f, owner))
        return -SEEP_ENOMEM;
    const char *name = *owner ? owner : k->name;
    if (*name && !(f->keeper = strdup(name)))
        return -SEEP_ENOMEM;
    if (usual)
        f->advice = strdup(usual);
    else if (f->pattern == SEEP_PATTERN_UNBOUNDED_GROWTH && *owner)
        f->advice = seep_text_format(SEEP_LINE_LIBRARY_KEEPS_TEXT, owner, owner);
    else if (f->pattern == SEEP_PATTERN_UNBOUNDED_GROWTH && *name)
        f->advice = seep_text_format(SEEP_LINE_BOUND_HOLDER_TEXT, name);
    else if (f->pattern == SEEP_PATTERN_UNDETERMINED && *name && !*owner && !f->advice)
        f->advice = seep_text_format(SEEP_LINE_MAY_BOUND_HOLDER_TEXT, name);
    else
        return 0;
    return f->advice ? 0 : -SEEP_ENOMEM;
}
