#include "kernels/lab/scenarios/pointgroup_elastic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NODES = 1 << 24, MARGIN_NODES = 3, SMOOTHINGS = 2, BOX = 3 };

struct grid {
    size_t n[3]; /* nodes, z fastest */
    double spacing;
    double reach[3];   /* nodes lie from -reach to reach */
    float (*shift)[3]; /* of each node, for a magnitude of 1 */
};

static size_t stride_of(const struct grid *g, int axis)
{
    return axis == 0 ? g->n[1] * g->n[2] : axis == 1 ? g->n[2] : 1;
}

/* Nodes as far as the points reach, and beyond. */
static int span(struct grid *g, const float (*at)[3], size_t n, double granularity)
{
    double nodes = 1;

    g->spacing = 2 * granularity;
    for (int k = 0; k < 3; k++) {
        double most = 0;
        for (size_t i = 0; i < n; i++) {
            double x = fabs((double)at[i][k]);
            most = isfinite(x) && x > most ? x : most;
        }
        double count = floor(floor(most) / granularity) + MARGIN_NODES;
        nodes *= count;
        if (!(nodes < MAX_NODES))
            return -SEEP_ENOMEM;
        g->n[k] = (size_t)count;
        g->reach[k] = (count - 1) * granularity;
    }
    return 0;
}

/* The mean of each node and its two neighbours on an axis; beyond the grid are zeros. */
static void smooth(struct grid *g, int axis)
{
    size_t stride = stride_of(g, axis), n = g->n[axis], nodes = g->n[0] * g->n[1] * g->n[2];

    for (size_t line = 0; line < nodes / n; line++) {
        size_t first = line / stride * stride * n + line % stride;
        for (int k = 0; k < 3; k++) {
            float before = 0;
            for (size_t i = 0; i < n; i++) {
                float *here = &g->shift[first + i * stride][k], old = *here;
                float after = i + 1 < n ? g->shift[first + (i + 1) * stride][k] : 0;
                *here = (before + old + after) / BOX;
                before = old;
            }
        }
    }
}

static int make_noise(struct grid *g, struct seep_chance *chance)
{
    size_t nodes = g->n[0] * g->n[1] * g->n[2];

    g->shift = malloc(nodes * sizeof *g->shift);
    if (!g->shift)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < nodes; i++) {
        for (int k = 0; k < 3; k++)
            g->shift[i][k] = (float)seep_chance_normal(chance);
    }
    for (int i = 0; i < 3 * SMOOTHINGS; i++)
        smooth(g, i % 3);
    return 0;
}

/* What lies beyond the nodes, or nowhere, does not move. */
static void shift_at(const struct grid *g, const float at[3], double out[3])
{
    size_t first = 0;
    double share[3];

    memset(out, 0, 3 * sizeof *out);
    for (int k = 0; k < 3; k++) {
        double x = ((double)at[k] + g->reach[k]) / g->spacing;
        if (!(x >= 0 && x < (double)(g->n[k] - 1)))
            return;
        first += (size_t)x * stride_of(g, k);
        share[k] = x - floor(x);
    }
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1;
        size_t node = first;
        for (int k = 0; k < 3; k++) {
            weight *= corner >> k & 1 ? share[k] : 1 - share[k];
            node += corner >> k & 1 ? stride_of(g, k) : 0;
        }
        for (int k = 0; k < 3; k++)
            out[k] += weight * (double)g->shift[node][k];
    }
}

int seep_pointgroup_distort(float (*at)[3], size_t n, double granularity, double magnitude,
                            struct seep_chance *chance)
{
    struct grid g = {0};
    int rc = span(&g, (const float(*)[3])at, n, granularity);

    if (!rc)
        rc = make_noise(&g, chance);
    for (size_t i = 0; i < n && !rc; i++) {
        double shift[3];
        shift_at(&g, at[i], shift);
        for (int k = 0; k < 3; k++)
            at[i][k] = (float)((double)at[i][k] + magnitude * shift[k]);
    }
    free(g.shift);
    return rc;
}
