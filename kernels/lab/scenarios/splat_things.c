#include "kernels/lab/scenarios/splat_things.h"

#include "kernels/compute/chance.h"
#include "kernels/splat/splat_math.h"

#include <stdlib.h>
#include <string.h>

static const struct ball {
    double at[3], radius;
    uint8_t light[3], dark[3];
} balls[] = {
    {{-0.6, 0.1, 0.40}, 0.40, {220, 60, 50}, {120, 20, 30}},
    {{0.5, 0.55, 0.30}, 0.30, {60, 160, 90}, {230, 230, 200}},
    {{0.35, -0.6, 0.25}, 0.25, {250, 200, 60}, {60, 60, 140}},
};

/* A point of the table's top, in checks. */
static void on_table(struct seep_chance *chance, double at[3], uint8_t color[3])
{
    double radius = 1.5 * sqrt(seep_chance_between(chance, 0, 1));
    double angle = seep_chance_between(chance, 0, 2 * SEEP_PI);

    at[0] = radius * cos(angle);
    at[1] = radius * sin(angle);
    at[2] = 0;
    bool dark = ((int)floor(at[0] * 4) + (int)floor(at[1] * 4)) & 1;
    color[0] = dark ? 70 : 200;
    color[1] = dark ? 60 : 190;
    color[2] = dark ? 90 : 170;
}

static void on_ball(const struct ball *ball, struct seep_chance *chance, double at[3],
                    uint8_t color[3])
{
    double z = seep_chance_between(chance, -1, 1),
           angle = seep_chance_between(chance, 0, 2 * SEEP_PI);

    at[0] = ball->at[0] + ball->radius * sqrt(1 - z * z) * cos(angle);
    at[1] = ball->at[1] + ball->radius * sqrt(1 - z * z) * sin(angle);
    at[2] = ball->at[2] + ball->radius * z;
    memcpy(color, (int)floor(4 * z + 8) & 1 ? ball->dark : ball->light, 3);
}

static void on_ring(struct seep_chance *chance, double at[3], uint8_t color[3])
{
    double around = seep_chance_between(chance, 0, 2 * SEEP_PI);
    double across = seep_chance_between(chance, 0, 2 * SEEP_PI), radius = 1.15 + 0.1 * cos(across);

    at[0] = radius * cos(around);
    at[1] = radius * sin(around);
    at[2] = 0.12 + 0.1 * sin(across);
    color[0] = (uint8_t)(128 + 100 * cos(3 * around));
    color[1] = (uint8_t)(128 + 100 * sin(3 * around));
    color[2] = 180;
}

double seep_things_spacing(const struct seep_things *t)
{
    /* The table has 7.1 units of area, the ring 4.5, the balls 3.9: about 16, of which half of the
     * Gaussians are on the table. */
    return sqrt(16.0 / (double)t->host.model.n);
}

static void place(struct seep_things *t, size_t i, struct seep_chance *chance)
{
    /* Wide enough to close the surfaces at any number. */
    float size = (float)(0.8 * seep_things_spacing(t));
    double at[3];
    size_t kind = seep_chance_below(chance, 10);

    if (kind < 5)
        on_table(chance, at, t->colors[i]);
    else if (kind < 8)
        on_ball(&balls[kind - 5], chance, at, t->colors[i]);
    else
        on_ring(chance, at, t->colors[i]);
    for (int k = 0; k < 3; k++) {
        t->host.means[i][k] = (float)at[k];
        t->host.scales[i][k] = size;
        t->host.sh[3 * i + (size_t)k] = (float)((t->colors[i][k] / 255.0 - 0.5) / SEEP_SH_0);
    }
    t->host.rotations[i][0] = 1;
    t->host.opacities[i] = 0.9f;
}

void seep_things_fini(struct seep_things *t)
{
    seep_splat_host_fini(&t->host);
    free(t->colors);
}

int seep_things_init(struct seep_things *t, size_t n, uint64_t seed)
{
    struct seep_chance chance = {seed};

    t->colors = calloc(n, sizeof *t->colors);
    if (seep_splat_host_init(&t->host, n, 0) || !t->colors)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < n; i++)
        place(t, i, &chance);
    return 0;
}
