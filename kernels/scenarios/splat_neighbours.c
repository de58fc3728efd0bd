/* A k-d tree (Bentley, 1975) without nodes: the middle of a range of indices is its root. */
#include "kernels/scenarios/splat_neighbours.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { NEIGHBOURS = 3 };

struct tree {
    const float (*points)[3];
    uint32_t *order;
    uint8_t *axes; /* of each root, by its place in `order` */
};

struct nearest {
    double squares[NEIGHBOURS]; /* rising */
    uint32_t of;
};

/* Flat and drawn-out scenes are cut well along their widest side. */
static int widest_axis(const struct tree *t, size_t from, size_t to)
{
    float low[3], high[3];
    /* A sample of a long range will do. */
    size_t stride = (to - from) / 64 + 1;

    for (int k = 0; k < 3; k++)
        low[k] = high[k] = t->points[t->order[from]][k];
    for (size_t i = from; i < to; i += stride) {
        for (int k = 0; k < 3; k++) {
            low[k] = fminf(low[k], t->points[t->order[i]][k]);
            high[k] = fmaxf(high[k], t->points[t->order[i]][k]);
        }
    }
    int axis = high[1] - low[1] > high[0] - low[0];
    return high[2] - low[2] > high[axis] - low[axis] ? 2 : axis;
}

/* Hoare's selection: in the middle the one that belongs there, before it none that is larger. */
static void put_middle(const struct tree *t, size_t from, size_t to, size_t middle, int axis)
{
    ptrdiff_t low = (ptrdiff_t)from, high = (ptrdiff_t)to - 1, want = (ptrdiff_t)middle;

    while (low < high) {
        float pivot = t->points[t->order[low + (high - low) / 2]][axis];
        ptrdiff_t i = low, j = high;
        while (i <= j) {
            while (t->points[t->order[i]][axis] < pivot)
                i++;
            while (t->points[t->order[j]][axis] > pivot)
                j--;
            if (i <= j) {
                uint32_t swap = t->order[i];
                t->order[i++] = t->order[j];
                t->order[j--] = swap;
            }
        }
        if (want <= j)
            high = j;
        else if (want >= i)
            low = i;
        else
            return;
    }
}

static void build(const struct tree *t, size_t from, size_t to)
{
    while (to - from > 1) {
        size_t middle = from + (to - from) / 2;
        int axis = widest_axis(t, from, to);
        put_middle(t, from, to, middle, axis);
        t->axes[middle] = (uint8_t)axis;
        build(t, from, middle);
        from = middle + 1;
    }
}

static void offer(const struct tree *t, uint32_t point, struct nearest *n)
{
    const float *p = t->points[point], *q = t->points[n->of];
    double x = (double)p[0] - (double)q[0], y = (double)p[1] - (double)q[1];
    double z = (double)p[2] - (double)q[2], square = x * x + y * y + z * z;

    for (int i = 0; i < NEIGHBOURS && point != n->of; i++) {
        if (square < n->squares[i]) {
            double other = n->squares[i];
            n->squares[i] = square;
            square = other;
        }
    }
}

static void search(const struct tree *t, size_t from, size_t to, struct nearest *n)
{
    while (to > from) {
        size_t middle = from + (to - from) / 2;
        offer(t, t->order[middle], n);
        if (to - from == 1)
            return;
        int axis = t->axes[middle];
        double off = (double)t->points[n->of][axis] - (double)t->points[t->order[middle]][axis];
        bool left = off < 0;
        if (left)
            search(t, from, middle, n);
        else
            search(t, middle + 1, to, n);
        if (off * off >= n->squares[NEIGHBOURS - 1])
            return;
        if (left)
            from = middle + 1;
        else
            to = middle;
    }
}

int seep_neighbour_distances(const float (*points)[3], size_t n, float *distances)
{
    struct tree t = {points, malloc((n + 1) * sizeof *t.order), calloc(n + 1, 1)};
    int rc = t.order && t.axes ? 0 : -SEEP_ENOMEM;

    for (size_t i = 0; i < n && !rc; i++)
        t.order[i] = (uint32_t)i;
    if (!rc)
        build(&t, 0, n);
    for (size_t i = 0; i < n && !rc; i++) {
        struct nearest nearest = {{INFINITY, INFINITY, INFINITY}, (uint32_t)i};
        double sum = 0;
        int found = 0;
        search(&t, 0, n, &nearest);
        for (; found < NEIGHBOURS && isfinite(nearest.squares[found]); found++)
            sum += sqrt(nearest.squares[found]);
        distances[i] = found ? (float)(sum / found) : 0;
    }
    free(t.order);
    free(t.axes);
    return rc;
}
