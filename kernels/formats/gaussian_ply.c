#include "kernels/formats/gaussian_ply.h"

#include "kernels/formats/ply.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 6 + 3 * 16 + 1 + 3 + 4 };

/* A property of the file, and where its values are: every `stride`-th float from `at`. */
struct column {
    char name[32];
    float *at; /* NULL: zeros that nobody reads */
    size_t stride;
};

static void add(struct column *columns, size_t *n, const char *name, int number, float *at,
                size_t stride)
{
    struct column *column = &columns[(*n)++];

    if (number < 0)
        (void)snprintf(column->name, sizeof column->name, "%s", name);
    else
        (void)snprintf(column->name, sizeof column->name, "%s_%d", name, number);
    column->at = at;
    column->stride = stride;
}

/* All columns in the file's order. Returns how many. */
static size_t list_columns(const struct seep_splat_parameters *p, int sh_degree, int sh_stride,
                           struct column columns[MAX_COLUMNS])
{
    static const char *const axes[] = {"x", "y", "z"}, *const normals[] = {"nx", "ny", "nz"};
    const size_t row = 3 * (size_t)sh_stride;
    const int n_rest = (sh_degree + 1) * (sh_degree + 1) - 1;
    size_t n = 0;

    for (int k = 0; k < 3; k++)
        add(columns, &n, axes[k], -1, (float *)p->means + k, 3);
    for (int k = 0; k < 3; k++)
        add(columns, &n, normals[k], -1, NULL, 0);
    for (int k = 0; k < 3; k++)
        add(columns, &n, "f_dc", k, p->sh + k, row);
    for (int k = 0; k < 3 * n_rest; k++)
        add(columns, &n, "f_rest", k, p->sh + 3 * (1 + k % n_rest) + k / n_rest, row);
    add(columns, &n, "opacity", -1, p->logits, 1);
    for (int k = 0; k < 3; k++)
        add(columns, &n, "scale", k, (float *)p->log_scales + k, 3);
    for (int k = 0; k < 4; k++)
        add(columns, &n, "rot", k, (float *)p->rotations + k, 4);
    return n;
}

/* ---- reading --------------------------------------------------------------------------------- */

static const struct seep_ply_property *property_of(const struct seep_ply_element *element,
                                                   const char *name)
{
    for (size_t i = 0; i < element->n_properties; i++) {
        if (!strcmp(element->properties[i].name, name))
            return &element->properties[i];
    }
    return NULL;
}

/* −1: not the number of any degree. */
static int degree_of(const struct seep_ply_element *element)
{
    char name[32];
    int n_rest = 0;

    while (n_rest <= 3 * 15) {
        (void)snprintf(name, sizeof name, "f_rest_%d", n_rest);
        if (!property_of(element, name))
            break;
        n_rest++;
    }
    for (int degree = 0; degree <= SEEP_SPLAT_MAX_SH_DEGREE; degree++) {
        if (n_rest == 3 * ((degree + 1) * (degree + 1) - 1))
            return degree;
    }
    return -1;
}

static int allocate(struct seep_gaussian_ply *g)
{
    const size_t n = g->n + 1; /* one more than needed: no array is NULL */
    const size_t n_sh = (size_t)((g->sh_degree + 1) * (g->sh_degree + 1));
    struct seep_splat_parameters *p = &g->parameters;

    p->means = malloc(n * sizeof *p->means);
    p->log_scales = malloc(n * sizeof *p->log_scales);
    p->rotations = malloc(n * sizeof *p->rotations);
    p->logits = malloc(n * sizeof *p->logits);
    p->sh = malloc(n * n_sh * 3 * sizeof *p->sh);
    return p->means && p->log_scales && p->rotations && p->logits && p->sh ? 0 : -SEEP_ENOMEM;
}

static int take_columns(const struct seep_ply_element *vertices, struct seep_gaussian_ply *g,
                        const char *path, struct seep_error *err)
{
    struct column columns[MAX_COLUMNS];
    const int n_sh = (g->sh_degree + 1) * (g->sh_degree + 1);
    const size_t n_columns = list_columns(&g->parameters, g->sh_degree, n_sh, columns);

    for (size_t i = 0; i < n_columns; i++) {
        const struct column *column = &columns[i];
        const float *values = seep_ply_scalars(vertices, column->name, SEEP_PLY_F32);
        if (!column->at)
            continue;
        if (!values)
            return seep_error_set(err, SEEP_EFORMAT, path, 0, "a Gaussian has no float %s",
                                  column->name);
        /* Not by assignment: that may change the bits of a NaN. */
        for (size_t k = 0; k < g->n; k++)
            memcpy(column->at + k * column->stride, values + k, sizeof *values);
    }
    return 0;
}

static int take(const struct seep_ply *ply, const char *path, struct seep_gaussian_ply **out,
                struct seep_error *err)
{
    const struct seep_ply_element *vertices = seep_ply_element(ply, "vertex");
    struct seep_gaussian_ply *g;
    int rc;

    if (!vertices)
        return seep_error_set(err, SEEP_EFORMAT, path, 0, "the PLY has no element vertex");
    if (vertices->n >= INT_MAX)
        return seep_error_set(err, SEEP_EFORMAT, path, 0, "too many Gaussians");
    const int degree = degree_of(vertices);
    if (degree < 0)
        return seep_error_set(err, SEEP_EFORMAT, path, 0,
                              "the number of f_rest is not 0, 9, 24 or 45");
    g = calloc(1, sizeof *g);
    if (!g)
        return seep_error_set(err, SEEP_ENOMEM, path, 0, "no memory");
    g->n = vertices->n;
    g->sh_degree = degree;
    rc = allocate(g) ? seep_error_set(err, SEEP_ENOMEM, path, 0, "no memory")
                     : take_columns(vertices, g, path, err);
    if (rc)
        seep_gaussian_ply_free(g);
    else
        *out = g;
    return rc;
}

int seep_gaussian_ply_from_bytes(const void *bytes, size_t n, struct seep_gaussian_ply **out,
                                 struct seep_error *err)
{
    struct seep_ply *ply = NULL;
    int rc = seep_ply_from_bytes(bytes, n, &ply, err);

    if (!rc)
        rc = take(ply, "", out, err);
    seep_ply_free(ply);
    return rc;
}

int seep_gaussian_ply_read(const char *path, struct seep_gaussian_ply **out, struct seep_error *err)
{
    struct seep_ply *ply = NULL;
    int rc = seep_ply_read(path, &ply, err);

    if (!rc)
        rc = take(ply, path, out, err);
    seep_ply_free(ply);
    return rc;
}

void seep_gaussian_ply_free(struct seep_gaussian_ply *g)
{
    if (!g)
        return;
    free(g->parameters.means);
    free(g->parameters.log_scales);
    free(g->parameters.rotations);
    free(g->parameters.logits);
    free(g->parameters.sh);
    free(g);
}

/* ---- writing --------------------------------------------------------------------------------- */

static int give_column(const struct column *column, size_t n, struct seep_ply_property *property)
{
    float *values = calloc(n + 1, sizeof *values);

    if (!values)
        return -SEEP_ENOMEM;
    property->type = SEEP_PLY_F32;
    property->values = values;
    memcpy(property->name, column->name, sizeof column->name);
    for (size_t i = 0; column->at && i < n; i++)
        memcpy(values + i, column->at + i * column->stride, sizeof *values);
    return 0;
}

int seep_gaussian_ply_write(const char *path, size_t n, int sh_degree, int sh_stride,
                            const struct seep_splat_parameters *p, struct seep_error *err)
{
    struct seep_ply_property properties[MAX_COLUMNS] = {{.name = ""}};
    struct column columns[MAX_COLUMNS];
    struct seep_ply_element vertices = {.name = "vertex", .n = n, .properties = properties};
    const struct seep_ply ply = {SEEP_PLY_LITTLE, &vertices, 1};
    int rc = 0;

    if (sh_degree < 0 || sh_degree > SEEP_SPLAT_MAX_SH_DEGREE ||
        sh_stride < (sh_degree + 1) * (sh_degree + 1) || n >= INT_MAX ||
        !(p->means && p->log_scales && p->rotations && p->logits && p->sh))
        return seep_error_set(err, SEEP_EINVAL, path, 0, "these are no Gaussians");
    const size_t n_columns = list_columns(p, sh_degree, sh_stride, columns);
    for (; vertices.n_properties < n_columns && !rc; vertices.n_properties++)
        rc = give_column(&columns[vertices.n_properties], n, &properties[vertices.n_properties]);
    if (rc)
        rc = seep_error_set(err, SEEP_ENOMEM, path, 0, "no memory");
    else
        rc = seep_ply_write(path, &ply, err);
    for (size_t i = 0; i < vertices.n_properties; i++)
        free(properties[i].values);
    return rc;
}
