#include "libprof/frames.h"

#include "libprof/roles.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CLASSES = 256, RANK_OWN = 4 }; /* RANK_OWN: the least of a frame of the user's */

enum owner { OWNER_UNKNOWN = 0, OWNER_USER, OWNER_LIBRARY, OWNER_IMPORT, OWNER_SEEP };

/* …/lib/pythonX.Y/ and what replaces it: lib64, zipped. */
static bool in_python_library(const char *path)
{
    for (const char *at = path; (at = strstr(at, "/python")); at += 7) {
        const char *digit = at + 7;
        if (!isdigit((unsigned char)*digit))
            continue;
        while (isdigit((unsigned char)*digit) || *digit == '.')
            digit++;
        bool below_lib = at - path >= 4 && (strncmp(at - 4, "/lib", 4) == 0 ||
                                            (at - path >= 6 && strncmp(at - 6, "/lib64", 6) == 0));
        if (*digit == 't') /* free-threaded builds */
            digit++;
        if (below_lib && (*digit == '/' || strncmp(digit, "zip/", 4) == 0))
            return true;
    }
    return false;
}

/* The module that ships with seep, installed or in the build folder. */
static bool is_own_module(const char *file)
{
    size_t n = strlen(file);

    return (n >= 20 && strcmp(file + n - 20, "/seep/python/seep.py") == 0) ||
           (n >= 21 && strcmp(file + n - 21, "/build/python/seep.py") == 0);
}

static enum owner python_owner(const char *file)
{
    if (strncmp(file, "<frozen importlib", 17) == 0)
        return OWNER_IMPORT;
    if (strncmp(file, "<frozen ", 8) == 0 || strncmp(file, "<__array_function__", 19) == 0)
        return OWNER_LIBRARY;
    if (is_own_module(file))
        return OWNER_SEEP;
    if (strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") ||
        in_python_library(file))
        return strstr(file, "/importlib/") ? OWNER_IMPORT : OWNER_LIBRARY;
    return OWNER_USER;
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static enum owner native_owner(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;

    if (starts_with(base, "libseep"))
        return OWNER_SEEP;
    if (path[0] != '/' || starts_with(path, "/usr/lib") || starts_with(path, "/lib") ||
        (strstr(base, ".so") && (strstr(path, "/lib/") || strstr(path, "/lib64/"))) ||
        starts_with(base, "python") || starts_with(base, "libpython") ||
        strstr(path, "/site-packages/") || strstr(path, "/dist-packages/") ||
        in_python_library(path))
        return OWNER_LIBRARY;
    return OWNER_USER;
}

struct sweep {
    const struct seep_dictionary *d;
    const struct seep_roles *roles;
    uint8_t *string_owner; /* of Python files */
    uint8_t *module_owner;
    uint8_t *frame_role; /* + 1 */
    uint64_t *calls; /* by string: what rules on callers say of that library file; ~0 not asked */
    struct {         /* classes all of whose methods have a role */
        uint32_t file;
        const char *name; /* "Scenes." of "Scenes.__getitem__" */
        size_t n;
        enum seep_role role;
    } classes[MAX_CLASSES];
    size_t n_classes;
};

static enum owner owner_of(const struct sweep *w, const struct seep_dict_frame *f)
{
    if (f->kind == SEEP_FRAME_PYTHON) {
        if (!w->string_owner[f->owner])
            w->string_owner[f->owner] = (uint8_t)python_owner(seep_dictionary_text(w->d, f->owner));
        return w->string_owner[f->owner];
    }
    if (f->pseudo || !f->owner)
        return OWNER_LIBRARY;
    if (!w->module_owner[f->owner])
        w->module_owner[f->owner] =
            (uint8_t)native_owner(seep_dictionary_text(w->d, w->d->modules[f->owner].path));
    return w->module_owner[f->owner];
}

/* How good a frame is as the one to look at; of equals the innermost stands. Generated code
 * ("<string>": dataclasses, namedtuples, torch.fx) is not what a user wrote, except where there is
 * nothing else (python -c). */
static int rank_of(const struct sweep *w, const struct seep_dict_frame *f, enum owner owner)
{
    if (owner == OWNER_USER) {
        if (f->kind != SEEP_FRAME_PYTHON)
            return RANK_OWN;
        return seep_dictionary_text(w->d, f->owner)[0] == '<' ? RANK_OWN + 1 : RANK_OWN + 2;
    }
    if (owner == OWNER_SEEP || owner == OWNER_IMPORT || f->pseudo)
        return 1;
    return f->kind == SEEP_FRAME_PYTHON ? 3 : 2;
}

/* ---- roles ----------------------------------------------------------------------------------- */

static struct seep_role_frame role_frame(const struct sweep *w, const struct seep_dict_frame *f,
                                         enum owner owner)
{
    return (struct seep_role_frame){.file = seep_dictionary_text(w->d, f->owner),
                                    .function = seep_dictionary_text(w->d, f->function),
                                    .qualname = seep_dictionary_text(w->d, f->qualname),
                                    .own = owner == OWNER_USER};
}

/* Of a stack's innermost frame, what rules on its caller say. */
static enum seep_role role_as_callee(struct sweep *w, const struct seep_dict_stack *s,
                                     bool *whole_class)
{
    const struct seep_dict_frame *f = &w->d->frames[s->frame];
    const struct seep_dict_frame *caller = &w->d->frames[w->d->stacks[s->parent].frame];

    *whole_class = false;
    if (!s->parent || f->kind != SEEP_FRAME_PYTHON || caller->kind != SEEP_FRAME_PYTHON ||
        owner_of(w, caller) != OWNER_LIBRARY)
        return SEEP_SITE_OTHER;
    uint64_t *rules = &w->calls[caller->owner];
    if (*rules == ~UINT64_C(0))
        *rules = seep_roles_of_caller(w->roles, seep_dictionary_text(w->d, caller->owner));
    if (!*rules)
        return SEEP_SITE_OTHER;
    struct seep_role_frame asked = role_frame(w, f, owner_of(w, f));
    return seep_roles_of_callee(w->roles, *rules, &asked, whole_class);
}

static void note_class(struct sweep *w, const struct seep_dict_frame *f, enum seep_role role)
{
    const char *name = seep_dictionary_text(w->d, f->qualname);
    const char *dot = strrchr(name, '.');
    size_t n = dot ? (size_t)(dot + 1 - name) : 0;

    if (!n || w->n_classes == MAX_CLASSES)
        return;
    for (size_t i = 0; i < w->n_classes; i++) {
        if (w->classes[i].file == f->owner && w->classes[i].n == n &&
            memcmp(w->classes[i].name, name, n) == 0)
            return;
    }
    w->classes[w->n_classes].file = f->owner;
    w->classes[w->n_classes].name = name;
    w->classes[w->n_classes].n = n;
    w->classes[w->n_classes++].role = role;
}

static void find_classes(struct sweep *w)
{
    for (size_t i = 1; i < w->d->n_stacks; i++) {
        bool whole_class;
        enum seep_role role = role_as_callee(w, &w->d->stacks[i], &whole_class);
        if (role && whole_class)
            note_class(w, &w->d->frames[w->d->stacks[i].frame], role);
    }
}

static enum seep_role role_by_class(const struct sweep *w, const struct seep_dict_frame *f)
{
    const char *name = seep_dictionary_text(w->d, f->qualname);

    for (size_t i = 0; i < w->n_classes; i++) {
        if (w->classes[i].file == f->owner &&
            strncmp(w->classes[i].name, name, w->classes[i].n) == 0)
            return w->classes[i].role;
    }
    return SEEP_SITE_OTHER;
}

static enum seep_role role_of(struct sweep *w, const struct seep_dict_stack *s, enum owner owner)
{
    const struct seep_dict_frame *f = &w->d->frames[s->frame];
    uint8_t *known = &w->frame_role[s->frame];
    bool whole_class;

    if (f->kind != SEEP_FRAME_PYTHON)
        return SEEP_SITE_OTHER;
    enum seep_role role = role_as_callee(w, s, &whole_class);
    if (role)
        return role;
    if (!*known) {
        struct seep_role_frame asked = role_frame(w, f, owner);
        role = role_by_class(w, f);
        if (!role)
            role = seep_roles_of_frame(w->roles, &asked);
        *known = (uint8_t)(1 + role);
    }
    return (enum seep_role)(*known - 1);
}

static void sweep_stack(struct sweep *w, struct seep_frames *out, uint8_t *ranks, size_t i)
{
    const struct seep_dict_stack *s = &w->d->stacks[i];
    const struct seep_dict_frame *f = &w->d->frames[s->frame];
    enum owner owner = owner_of(w, f);
    int rank = rank_of(w, f, owner);

    /* Parents lie outside: what this frame is goes before what they are. */
    if (rank >= ranks[s->parent]) {
        out->look_at[i] = s->frame;
        ranks[i] = (uint8_t)rank;
    } else {
        out->look_at[i] = out->look_at[s->parent];
        ranks[i] = ranks[s->parent];
    }
    out->is_own[i] = ranks[i] >= RANK_OWN;
    out->importing[i] = out->importing[s->parent] || owner == OWNER_IMPORT;
    enum seep_role role = role_of(w, s, owner);
    out->roles[i] = (uint16_t)(out->roles[s->parent] | (role ? 1u << role : 0));
    out->role[i] = role ? (uint8_t)role : out->role[s->parent];
}

int seep_frames_init(struct seep_frames *out, const struct seep_dictionary *d,
                     const struct seep_roles *roles)
{
    struct sweep w = {.d = d, .roles = roles};
    uint8_t *ranks = calloc(d->n_stacks, 1);
    int rc = -SEEP_ENOMEM;

    *out = (struct seep_frames){.n_stacks = d->n_stacks};
    out->look_at = calloc(d->n_stacks, sizeof *out->look_at);
    out->is_own = calloc(d->n_stacks, sizeof *out->is_own);
    out->importing = calloc(d->n_stacks, sizeof *out->importing);
    out->role = calloc(d->n_stacks, sizeof *out->role);
    out->roles = calloc(d->n_stacks, sizeof *out->roles);
    w.string_owner = calloc(d->n_strings, 1);
    w.module_owner = calloc(d->n_modules, 1);
    w.frame_role = calloc(d->n_frames, 1);
    w.calls = malloc(d->n_strings * sizeof *w.calls);
    if (out->look_at && out->is_own && out->importing && out->role && out->roles &&
        w.string_owner && w.module_owner && w.frame_role && w.calls && ranks) {
        memset(w.calls, 0xff, d->n_strings * sizeof *w.calls);
        find_classes(&w);
        for (size_t i = 1; i < d->n_stacks; i++)
            sweep_stack(&w, out, ranks, i);
        for (size_t i = 0; i < d->n_stacks; i++) {
            if (out->role[i] == SEEP_SITE_OTHER && !out->is_own[i])
                out->role[i] = SEEP_SITE_LIBRARY;
        }
        rc = 0;
    }
    free(w.string_owner);
    free(w.module_owner);
    free(w.frame_role);
    free(w.calls);
    free(ranks);
    if (rc)
        seep_frames_fini(out);
    return rc;
}

void seep_frames_fini(struct seep_frames *f)
{
    free(f->look_at);
    free(f->is_own);
    free(f->importing);
    free(f->role);
    free(f->roles);
    *f = (struct seep_frames){0};
}
