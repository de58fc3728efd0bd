/* Nearest neighbours by a k-d tree that is only an order of the points: the middle one of a stretch
 * parts it along the axis of its depth. A grid would not do: real clouds have outliers. */
#include "kernels/splat/splat_scales.h"

#include "kernels/compute/chance.h"

#include <math.h>
#include <stdlib.h>

enum { NEAREST = 3 };

struct search {
    const float (*means)[3];
    const uint32_t *order;
    uint32_t self;
    double best[NEAREST]; /* squared distances, rising */
};

/* Moves the middle of order [first, end) to where sorting by `axis` would put it (Hoare's
 * selection). The pivot is random, since for any fixed choice some order of points, such as rising
 * and then falling, takes quadratic time. */
static void select_middle(const float (*means)[3], uint32_t *order, size_t first, size_t end,
                          int axis, struct seep_chance *chance)
{
    size_t middle = first + (end - first) / 2;

    while (end - first > 1) {
        float pivot = means[order[first + seep_chance_next(chance) % (end - first)]][axis];
        size_t i = first, j = end - 1;
        for (;;) {
            while (means[order[i]][axis] < pivot)
                i++;
            while (means[order[j]][axis] > pivot)
                j--;
            if (i >= j)
                break;
            uint32_t swapped = order[i];
            order[i++] = order[j];
            order[j--] = swapped;
        }
        size_t cut = i == first ? i + 1 : i;
        if (middle < cut)
            end = cut;
        else
            first = cut;
    }
}

static void build(const float (*means)[3], uint32_t *order, size_t first, size_t end, int axis,
                  struct seep_chance *chance)
{
    if (end - first < 2)
        return;
    size_t middle = first + (end - first) / 2;
    select_middle(means, order, first, end, axis, chance);
    build(means, order, first, middle, (axis + 1) % 3, chance);
    build(means, order, middle + 1, end, (axis + 1) % 3, chance);
}

static void offer(struct search *s, double distance)
{
    int at = NEAREST - 1;

    if (distance >= s->best[at])
        return;
    for (; at > 0 && s->best[at - 1] > distance; at--)
        s->best[at] = s->best[at - 1];
    s->best[at] = distance;
}

static void look(struct search *s, size_t first, size_t end, int axis)
{
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        uint32_t i = s->order[middle];
        const float *here = s->means[s->self], *there = s->means[i];
        double x = (double)here[0] - (double)there[0], y = (double)here[1] - (double)there[1];
        double z = (double)here[2] - (double)there[2];
        double across = (double)here[axis] - (double)there[axis];
        if (i != s->self)
            offer(s, x * x + y * y + z * z);
        int next = (axis + 1) % 3;
        if (across < 0) {
            look(s, first, middle, next);
            first = middle + 1;
        } else {
            look(s, middle + 1, end, next);
            end = middle;
        }
        if (across * across >= s->best[NEAREST - 1])
            return;
        axis = next;
    }
}

int seep_splat_scales(const float (*means)[3], size_t n, float (*scales)[3])
{
    uint32_t *order = malloc((n ? n : 1) * sizeof *order);
    struct seep_chance chance = {1};

    if (!order)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    build(means, order, 0, n, 0, &chance);
    for (size_t i = 0; i < n; i++) {
        struct search s = {.means = means,
                           .order = order,
                           .self = (uint32_t)i,
                           .best = {INFINITY, INFINITY, INFINITY}};
        double sum = 0;
        int found = 0;
        look(&s, 0, n, 0);
        for (; found < NEAREST && isfinite(s.best[found]); found++)
            sum += sqrt(s.best[found]);
        float scale = found ? fmaxf((float)(sum / found), 1e-7f) : 1;
        for (int k = 0; k < 3; k++)
            scales[i][k] = scale;
    }
    free(order);
    return 0;
}
