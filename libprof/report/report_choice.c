/* Which sites and spaces a report lists. */
#include "libprof/report/report_pieces.h"

#include <stdlib.h>
#include <string.h>

/* Whatever the profile holds, viewers must be able to load the report: so it lists a limited number
 * of sites and about that many bytes of their stacks. --all lifts both limits. */
enum { MAX_SITES = 2000, MAX_STACK_BYTES = 64 << 20, FRAME_BYTES = 160 };

enum rank { RANK_LARGE, RANK_OF_FINDING, RANK_FIRST_OF_FINDING };

struct choice {
    uint32_t site;
    uint8_t rank;
    uint64_t bytes;
};

static int by_bytes(const void *a, const void *b)
{
    const struct choice *p = a, *q = b;

    if (p->bytes != q->bytes)
        return p->bytes > q->bytes ? -1 : 1;
    return (p->site > q->site) - (p->site < q->site);
}

static int by_rank(const void *a, const void *b)
{
    const struct choice *p = a, *q = b;

    return p->rank != q->rank ? (int)q->rank - (int)p->rank : by_bytes(a, b);
}

static void rank_findings(const struct seep_findings *f, uint8_t *rank)
{
    for (size_t i = 0; i < f->n; i++) {
        for (size_t k = 0; k < f->list[i].n_sites; k++) {
            uint8_t its = k ? RANK_OF_FINDING : RANK_FIRST_OF_FINDING;
            uint32_t site = f->list[i].sites[k];
            rank[site] = rank[site] > its ? rank[site] : its;
        }
    }
}

/* At least 0.1 % of its space's peak. No site is large in a space without a peak. */
static bool is_large(const struct seep_model *m, uint32_t site)
{
    uint64_t peak = m->sites[site].totals.peak_bytes;

    return peak && (double)peak * 1000 >= (double)m->spaces[m->sites[site].space].totals.peak_bytes;
}

static size_t text_bytes(const struct seep_dictionary *d, uint32_t string)
{
    return strlen(seep_dictionary_text(d, string));
}

/* The approximate length of the stack as JSON; names of native code are not known yet. */
static size_t stack_bytes(const struct seep_dictionary *d, uint32_t stack)
{
    size_t sum = 0;

    for (; stack; stack = d->stacks[stack].parent) {
        const struct seep_dict_frame *f = &d->frames[d->stacks[stack].frame];
        sum += FRAME_BYTES + text_bytes(d, f->function) + text_bytes(d, f->qualname);
        if (f->source)
            sum += text_bytes(d, f->kind == SEEP_FRAME_PYTHON ? f->source
                                                              : d->modules[f->source].path);
    }
    return sum;
}

/* How many of the choices, best first, fit. */
static size_t cut(const struct seep_report_pieces *pieces, const struct choice *choices, size_t n)
{
    size_t kept = 0, bytes = 0;

    for (; kept < n && kept < MAX_SITES; kept++) {
        bytes += stack_bytes(&pieces->code->model->dict,
                             pieces->code->model->sites[choices[kept].site].stack);
        if (bytes > MAX_STACK_BYTES && choices[kept].rank != RANK_FIRST_OF_FINDING)
            break;
    }
    return kept;
}

int seep_report_choose(struct seep_report_pieces *pieces, uint32_t *chosen, size_t *n_chosen)
{
    const struct seep_model *m = pieces->code->model;
    uint8_t *rank = calloc(m->n_sites + 1, sizeof *rank);
    struct choice *choices = calloc(m->n_sites + 1, sizeof *choices);
    int rc = rank && choices ? 0 : -SEEP_ENOMEM;
    size_t n = 0, kept = 0;

    if (!rc)
        rank_findings(pieces->findings, rank);
    for (uint32_t i = 0; !rc && i < m->n_sites; i++) {
        if (pieces->all_sites || rank[i] != RANK_LARGE || (!pieces->brief && is_large(m, i)))
            choices[n++] = (struct choice){i, rank[i], m->sites[i].totals.peak_bytes};
    }
    if (n) {
        qsort(choices, n, sizeof *choices, by_rank);
        kept = pieces->all_sites ? n : cut(pieces, choices, n);
        qsort(choices, kept, sizeof *choices, by_bytes);
    }
    for (size_t i = 0; i < kept; i++) {
        chosen[i] = choices[i].site;
        pieces->shown[chosen[i]] = true;
    }
    *n_chosen = kept;
    pieces->n_left_out = n - kept;
    free(rank);
    free(choices);
    return rc;
}

bool seep_report_lists_space(const struct seep_report_pieces *pieces, uint16_t space)
{
    const struct seep_findings *f = pieces->findings;
    bool listed = pieces->code->model->spaces[space].recorded;

    for (size_t i = 0; i < f->n && !listed; i++)
        listed = f->list[i].space == space;
    return listed;
}
