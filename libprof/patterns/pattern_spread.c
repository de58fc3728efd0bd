/* Growth that no line shows by itself: the same evidence, for many lines together. */
#include "libprof/patterns/pattern_judge.h"
#include "libprof/signs/prospect.h"

/* At a program's start much of what its lines allocate stays, and without steps libraries go on so
 * for longer: a few steps are enough to judge a line, but not a total. */
static bool is_too_early(const struct seep_case *c)
{
    const struct seep_signs *signs = c->signs;

    return !signs->enough_steps || (signs->timed && seep_prospect_is_open(signs->prospect) &&
                                    !c->code->lines->is_own[c->m->sites[c->sites[0]].stack]);
}

bool seep_case_judge_spread(const struct seep_case *c, struct seep_finding *f)
{
    const bool shared = seep_case_space(c)->class == SEEP_CLASS_SHM;

    if (is_too_early(c))
        return false;
    if (seep_prospect_is_endless(c->signs->prospect))
        seep_finding_verdict(f, shared ? SEEP_PATTERN_SHM_GROWTH : SEEP_PATTERN_UNBOUNDED_GROWTH,
                             SEEP_LEAK, seep_signs_confidence(c->signs));
    else if (seep_prospect_is_open(c->signs->prospect))
        seep_finding_verdict(f, SEEP_PATTERN_UNDETERMINED, SEEP_PRESSURE, SEEP_POSSIBLE);
    else
        return false;
    seep_case_note_growth(c, f);
    seep_case_note_prospect(c, f);
    return true;
}
