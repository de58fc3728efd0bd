#include "libprof/signs/grown_maps.h"

#include "libprof/code/packages/library_allocators.h"
#include "libprof/model/live_level.h"
#include "libprof/signs/work_areas.h"
#include "libprof/thresholds/thresholds.h"

#include <stdlib.h>
#include <string.h>

/* Who asked for maps. */
struct owner {
    char package[SEEP_PACKAGE_NAME]; /* "": no library, so */
    uint32_t line;                   /* of the job */
    int64_t gained, has;
};

struct owners {
    struct owner *list;
    size_t n, capacity;
};

static bool is_map(const struct seep_model *m, enum seep_space_class class, uint32_t site)
{
    return m->spaces[m->sites[site].space].name.class == class && !seep_is_arena(m, site);
}

static struct owner owner_of(const struct seep_code *code, uint32_t site)
{
    const uint32_t stack = code->model->sites[site].stack;
    struct owner its = {.line = 0};

    if (!seep_package_that_asked(code, stack, its.package))
        its.line = code->lines->line_of[code->lines->shown[stack]];
    return its;
}

/* NULL: no memory. */
static struct owner *find_owner(struct owners *all, const struct owner *wanted)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->list[i].line == wanted->line && !strcmp(all->list[i].package, wanted->package))
            return &all->list[i];
    if (seep_grow(&all->list, &all->capacity, all->n + 1, sizeof *all->list))
        return NULL;
    all->list[all->n] = *wanted;
    return &all->list[all->n++];
}

static int add_up(const struct seep_code *code, enum seep_space_class class, uint32_t process,
                  int32_t from, int32_t to, struct owners *all, struct seep_grown_map *grown)
{
    struct seep_level level = {0};
    int rc = 0;

    for (uint32_t i = 0; i < code->model->n_sites && !rc; i++) {
        if (!is_map(code->model, class, i))
            continue;
        rc = seep_level_sum(code->model, &i, 1, process, &level);
        const int64_t has = rc ? 0 : seep_level_at(&level, to).bytes;
        const struct owner wanted = owner_of(code, i);
        struct owner *its = find_owner(all, &wanted);
        if (!its)
            rc = -SEEP_ENOMEM;
        if (rc)
            break;
        grown[i].bytes = has - seep_level_at(&level, from).bytes;
        its->has += has;
        its->gained += grown[i].bytes;
    }
    seep_level_fini(&level);
    return rc;
}

/* NULL: nobody. *bytes: what it has gained or may have. */
static const struct owner *choose(const struct owners *owners, double all, int64_t *bytes)
{
    const struct owner *gains = NULL, *has = NULL;

    for (size_t i = 0; i < owners->n; i++) {
        const struct owner *its = &owners->list[i];
        if ((double)its->gained >= SEEP_T_HALF * all && (!gains || its->gained > gains->gained))
            gains = its;
        if ((double)its->has >= all && (!has || its->has > has->has))
            has = its;
    }
    *bytes = gains ? gains->gained : (int64_t)all;
    return gains ? gains : has;
}

static int most_first(const void *a, const void *b)
{
    const struct seep_grown_map *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->site > y->site) - (x->site < y->site);
}

/* Leaves in out->list, which has what each site gained, what is the owner's. */
static void keep(const struct seep_code *code, enum seep_space_class class,
                 const struct owner *owner, struct seep_grown_maps *out)
{
    for (uint32_t i = 0; owner && i < code->model->n_sites; i++) {
        if (!is_map(code->model, class, i))
            continue;
        const struct owner its = owner_of(code, i);
        if (its.line == owner->line && strcmp(its.package, owner->package) == 0)
            out->list[out->n++] = (struct seep_grown_map){i, out->list[i].bytes};
    }
    if (out->n)
        qsort(out->list, out->n, sizeof *out->list, most_first);
}

int seep_grown_maps_find(const struct seep_code *code, enum seep_space_class class,
                         uint32_t process, int32_t from, int32_t to, double all,
                         struct seep_grown_maps *out)
{
    struct owners owners = {0};

    *out = (struct seep_grown_maps){
        .list = calloc(code->model->n_sites + (size_t)1, sizeof *out->list)};
    int rc = out->list ? add_up(code, class, process, from, to, &owners, out->list) : -SEEP_ENOMEM;
    if (!rc)
        keep(code, class, choose(&owners, all, &out->bytes), out);
    free(owners.list);
    return rc;
}
