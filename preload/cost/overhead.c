#include "preload/cost/overhead.h"

#define SECOND 1e9

/* In seconds. */
enum {
    MINUTE = 60,
    START = 10,       /* imports are over after this, whatever stacks look like */
    SIGHT = 30,       /* so far ahead what is left has to last */
    JUDGED = 3,       /* of so much of the past, … */
    JUDGED_CLEAR = 1, /* … or of this if it is FAR above the bound, … */
    FORGOTTEN = 10,   /* … and not of what lies further back */
    PATIENCE = 10,    /* before something finer is tried; twice as long after each one in vain */
    MAX_PATIENCE = 1280,
};

enum {
    FAR = 4,    /* times */
    FINER = 22, /* tenths: half the gap records at most twice as much */
    FITS = 9,   /* tenths of the bound */
};

static double rate(const struct seep_overhead *b)
{
    return b->seen_ns > 0 ? b->recording_ns / b->seen_ns : 0;
}

/* What the share is worth from a time on, for so long; the first minute's was given at once. */
static double worth(const struct seep_overhead *b, double from_ns, double ns)
{
    const double paid = MINUTE * SECOND - from_ns;
    return b->share * (paid > 0 ? (ns > paid ? ns - paid : 0) : ns);
}

static void account(struct seep_overhead *b, const struct seep_overhead_window *w)
{
    const double most = b->share * MINUTE * SECOND, ns = (double)w->ns;
    const double stops = (double)(w->stops_ns < w->spent_ns ? w->stops_ns : w->spent_ns);
    const double recording = (double)w->spent_ns - stops;
    if (!b->begun) {
        b->begun = true;
        b->left_ns = most;
        b->patience_ns = PATIENCE * SECOND;
    }
    b->own_bytes = w->memory_bytes;
    b->left_ns += worth(b, (double)w->age_ns - ns, ns) - recording;
    b->owed_ns += stops;
    if (b->left_ns > 0) { /* what a long look is owed keeps further ones away; recording goes on */
        const double paid = b->owed_ns < b->left_ns ? b->owed_ns : b->left_ns;
        b->left_ns -= paid;
        b->owed_ns -= paid;
    }
    b->left_ns = b->left_ns > most ? most : b->left_ns < -most ? -most : b->left_ns;
    if (w->importing && (double)w->age_ns < START * SECOND)
        return;
    if (b->seen_ns > FORGOTTEN * SECOND) {
        b->seen_ns /= 2;
        b->recording_ns /= 2;
    }
    b->seen_ns += ns;
    b->calm_ns += ns;
    b->recording_ns += recording;
}

static bool lasts(const struct seep_overhead *b, double age_ns)
{
    const double rest = MINUTE * SECOND - age_ns, sight = SIGHT * SECOND;
    const double ahead = rest > sight ? rest : sight;
    return b->left_ns + worth(b, age_ns, ahead) >= rate(b) * ahead;
}

/* The finest that memory allows. What was taken does not come back, so it fills ever more slowly:
 * from half of the bound on, the fuller, the coarser. */
static unsigned finest(const struct seep_overhead *b)
{
    const double half = (double)b->memory_bytes / 2, over = (double)b->own_bytes - half;
    if (!b->memory_bytes || over <= 0)
        return b->least;
    const double steps = 1 + over / half * b->most;
    const unsigned finest = steps < b->most ? (unsigned)steps : b->most;
    return finest > b->least ? finest : b->least;
}

static bool is_over(const struct seep_overhead *b, const struct seep_overhead_window *w)
{
    const double least = rate(b) > FAR * b->share ? JUDGED_CLEAR : JUDGED;
    return b->seen_ns >= least * SECOND && b->share > 0 && !lasts(b, (double)w->age_ns);
}

/* To record all may be more than twice as much as the finest sampling: whoever tries that in vain
 * has spent no more than what was left. */
static bool is_finer_affordable(const struct seep_overhead *b)
{
    if (b->calm_ns < b->patience_ns)
        return false;
    return b->share <= 0 || (b->left_ns > 0 && rate(b) * FINER <= b->share * FITS);
}

static void begin(struct seep_overhead *b, bool trial)
{
    b->seen_ns = b->recording_ns = b->calm_ns = 0;
    b->tried = trial;
}

unsigned seep_overhead_judge(struct seep_overhead *b, const struct seep_overhead_window *w,
                             unsigned coarseness)
{
    account(b, w);
    const unsigned least = finest(b);
    if (coarseness < least || (coarseness < b->most && is_over(b, w))) {
        if (b->tried && b->patience_ns < MAX_PATIENCE * SECOND)
            b->patience_ns *= 2;
        begin(b, false);
        return least > coarseness ? least : coarseness + 1;
    }
    if (coarseness > least && is_finer_affordable(b)) {
        begin(b, true);
        return coarseness - 1;
    }
    return coarseness;
}

uint64_t seep_overhead_room_ns(const struct seep_overhead *b)
{
    const double left = b->begun ? b->left_ns : b->share * MINUTE * SECOND;
    if (b->share <= 0)
        return UINT64_MAX;
    return left > 0 ? (uint64_t)(left / 2) : 0;
}

uint64_t seep_overhead_room_bytes(const struct seep_overhead *b)
{
    if (!b->memory_bytes)
        return 0;
    return b->memory_bytes > b->own_bytes ? b->memory_bytes - b->own_bytes : 1;
}
