/* A room that was never scanned: rectangles with vertices in rows, a little off their places, and
 * triangles between the rows. */
#include "kernels/formats/scannet_room.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PATCHES = 8 }; /* segments along a side */

/* What a depth camera is off by; the side of a segment. Metres. */
static const double noise = 0.005, patch_side = 0.8;

/* splitmix64 (Steele, Lea and Flood, 2014). */
static uint64_t next(struct seep_room *room)
{
    uint64_t z = room->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double between(struct seep_room *room, double low, double high)
{
    return low + (high - low) * (double)(next(room) >> 11) * 0x1p-53;
}

static double length(const double side[3])
{
    return sqrt(side[0] * side[0] + side[1] * side[1] + side[2] * side[2]);
}

static void add_surface(struct seep_room *room, const double origin[3], const double u[3],
                        const double v[3], uint16_t label, int object, const uint8_t rgb[3])
{
    struct seep_room_surface *surface = &room->surfaces[room->n_surfaces++];

    *surface = (struct seep_room_surface){.label = label, .object = object};
    memcpy(surface->origin, origin, sizeof surface->origin);
    memcpy(surface->u, u, sizeof surface->u);
    memcpy(surface->v, v, sizeof surface->v);
    memcpy(surface->rgb, rgb, sizeof surface->rgb);
}

static void add_wall(struct seep_room *room, double x, double y, double dx, double dy,
                     double height, uint16_t label, int object, const uint8_t rgb[3])
{
    add_surface(room, (double[]){x, y, 0}, (double[]){dx, dy, 0}, (double[]){0, 0, height}, label,
                object, rgb);
}

/* The four upright sides of a box, walls of a room if its `objects` are four. */
static void add_sides(struct seep_room *room, double x, double y, const double size[3],
                      uint16_t label, const int objects[4], const uint8_t rgb[3])
{
    add_wall(room, x, y, size[0], 0, size[2], label, objects[0], rgb);
    add_wall(room, x, y + size[1], size[0], 0, size[2], label, objects[1], rgb);
    add_wall(room, x, y, 0, size[1], size[2], label, objects[2], rgb);
    add_wall(room, x + size[0], y, 0, size[1], size[2], label, objects[3], rgb);
}

static void measure(struct seep_room *room, const double low[3], const double high[3],
                    double size[3])
{
    for (int k = 0; k < 3; k++)
        size[k] = between(room, low[k], high[k]);
}

static void add_box(struct seep_room *room, const double walls[3], uint16_t label, int object)
{
    double size[3], colour[3];

    measure(room, (double[]){0.4, 0.4, 0.3}, (double[]){1.6, 1.2, 1.1}, size);
    measure(room, (double[]){30, 30, 30}, (double[]){220, 220, 220}, colour);
    const uint8_t rgb[3] = {(uint8_t)colour[0], (uint8_t)colour[1], (uint8_t)colour[2]};
    double x = between(room, 0.1, walls[0] - size[0] - 0.1);
    double y = between(room, 0.1, walls[1] - size[1] - 0.1);
    add_sides(room, x, y, size, label, (int[]){object, object, object, object}, rgb);
    add_surface(room, (double[]){x, y, size[2]}, (double[]){size[0], 0, 0},
                (double[]){0, size[1], 0}, label, object, rgb);
}

static void furnish(struct seep_room *room)
{
    /* nyu40: bed, chair, sofa, table and the like */
    static const uint16_t kinds[] = {3, 4, 5, 6, 7, 10, 14, 39};
    static const uint16_t none = 0, wall = 1, floor_label = 2, other_prop = 40;
    const uint8_t grey[3] = {190, 185, 170}, brown[3] = {120, 90, 60};
    double size[3];

    measure(room, (double[]){4, 3, 2.3}, (double[]){8, 6, 2.8}, size);
    add_surface(room, (double[]){0, 0, 0}, (double[]){size[0], 0, 0}, (double[]){0, size[1], 0},
                floor_label, 0, brown);
    add_sides(room, 0, 0, size, wall, (int[]){1, 2, 3, 4}, grey);
    room->n_objects = 5;
    for (int i = 0; i < SEEP_ROOM_BOXES - 2; i++)
        add_box(room, size, kinds[next(room) % (sizeof kinds / sizeof *kinds)], room->n_objects++);
    add_box(room, size, other_prop, room->n_objects++);
    add_box(room, size, none, -1);
}

static void stretch(struct seep_room *room, double sides)
{
    for (int i = 0; i < room->n_surfaces; i++) {
        struct seep_room_surface *s = &room->surfaces[i];
        for (int k = 0; k < 3; k++) {
            s->origin[k] *= sides;
            s->u[k] *= sides;
            s->v[k] *= sides;
        }
    }
}

/* Every surface gets vertices by its area; rounding the running sum gives n in all. */
static void share_out(struct seep_room *room)
{
    double total = 0, sum = 0;
    size_t begin = 0;

    for (int i = 0; i < room->n_surfaces; i++)
        total += length(room->surfaces[i].u) * length(room->surfaces[i].v);
    for (int i = 0; i < room->n_surfaces; i++) {
        struct seep_room_surface *s = &room->surfaces[i];
        double u = length(s->u), v = length(s->v);
        sum += u * v;
        s->begin = begin;
        s->end = i + 1 < room->n_surfaces ? (size_t)((double)room->n * (sum / total)) : room->n;
        begin = s->end;
        s->columns = (size_t)ceil(sqrt((double)(s->end - s->begin) * u / v));
        if (!s->columns)
            s->columns = 1;
    }
}

static size_t patches(const double side[3])
{
    size_t n = (size_t)ceil(length(side) / patch_side);

    return n < MAX_PATCHES ? n : MAX_PATCHES;
}

static void put_vertex(struct seep_room *room, const struct seep_room_surface *s, size_t at,
                       double u, double v)
{
    for (int k = 0; k < 3; k++) {
        room->xyz[k][at] =
            (float)(s->origin[k] + u * s->u[k] + v * s->v[k] + between(room, -noise, noise));
        room->rgba[k][at] = (uint8_t)(s->rgb[k] + next(room) % 16);
    }
    room->rgba[3][at] = 255;
    room->labels[at] = s->label;
}

static void put_vertices(struct seep_room *room, const struct seep_room_surface *s)
{
    size_t across = patches(s->u), along = patches(s->v);
    size_t rows = (s->end - s->begin + s->columns - 1) / s->columns;
    uint32_t first[MAX_PATCHES][MAX_PATCHES];

    memset(first, 0xff, sizeof first);
    for (size_t at = s->begin; at < s->end; at++) {
        double u = ((double)((at - s->begin) % s->columns) + 0.5) / (double)s->columns;
        double v = ((double)((at - s->begin) / s->columns) + 0.5) / (double)rows;
        uint32_t *segment = &first[(size_t)(v * (double)along)][(size_t)(u * (double)across)];
        if (*segment == UINT32_MAX)
            *segment = (uint32_t)at;
        room->segments[at] = *segment;
        put_vertex(room, s, at, u, v);
    }
}

static void put_triangles(struct seep_room *room, const struct seep_room_surface *s)
{
    for (size_t at = s->begin; at + s->columns + 1 < s->end; at++) {
        if ((at - s->begin) % s->columns + 1 == s->columns)
            continue;
        const size_t corners[6] = {
            at, at + 1, at + s->columns, at + 1, at + s->columns + 1, at + s->columns};
        for (int i = 0; i < 6; i++)
            room->triangles[3 * room->n_triangles + (size_t)i] = (int32_t)corners[i];
        room->n_triangles += 2;
    }
}

int seep_room_init(struct seep_room *room, size_t n, double sides, uint64_t seed)
{
    bool enough = true;

    *room = (struct seep_room){.random = seed, .n = n};
    for (int k = 0; k < 3; k++)
        enough &= !!(room->xyz[k] = malloc(room->n * sizeof *room->xyz[k]));
    for (int k = 0; k < 4; k++)
        enough &= !!(room->rgba[k] = malloc(room->n));
    room->labels = malloc(room->n * sizeof *room->labels);
    room->segments = malloc(room->n * sizeof *room->segments);
    /* Two triangles a vertex at most. */
    room->triangles = malloc(6 * room->n * sizeof *room->triangles);
    room->starts = malloc((2 * room->n + 1) * sizeof *room->starts);
    if (!enough || !room->labels || !room->segments || !room->triangles || !room->starts)
        return -SEEP_ENOMEM;
    furnish(room);
    stretch(room, sides);
    share_out(room);
    for (int i = 0; i < room->n_surfaces; i++) {
        put_vertices(room, &room->surfaces[i]);
        put_triangles(room, &room->surfaces[i]);
    }
    for (size_t i = 0; i <= room->n_triangles; i++)
        room->starts[i] = 3 * i;
    return 0;
}

void seep_room_fini(struct seep_room *room)
{
    for (int k = 0; k < 3; k++)
        free(room->xyz[k]);
    for (int k = 0; k < 4; k++)
        free(room->rgba[k]);
    free(room->labels);
    free(room->segments);
    free(room->triangles);
    free(room->starts);
}
