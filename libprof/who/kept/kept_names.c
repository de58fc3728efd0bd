#include "libprof/who/kept/kept_names.h"

#include "libprof/who/merge/hops.h"

#include <string.h>

/* A tuple, an array or an instance of the job's own class is not filled: it is made whole. */
static bool is_filled(const char *type)
{
    static const char *const types[] = {"list",        "dict",        "set",    "deque",
                                        "defaultdict", "OrderedDict", "Counter"};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i], type) == 0)
            return true;
    return false;
}

static bool is_sequence(const char *type)
{
    return strcmp(type, "list") == 0 || strcmp(type, "deque") == 0;
}

/* How many hops lead to the holder. Hops inside the holder do not count, except an attribute of its
 * own (a threading.local has one per thread); nor do hops from the first of C on. */
static size_t hops_to_holder(const json_t *path)
{
    const json_t *hops = json_object_get(path, "hops"), *holder = json_object_get(path, "holder");
    size_t n = json_array_size(hops);
    const json_int_t at = json_integer_value(json_object_get(holder, "hop"));

    if (json_is_integer(json_object_get(holder, "hop")) && at >= 0 && (size_t)at < n)
        n = (size_t)at + seep_hop_is(json_array_get(hops, (size_t)at), "attribute");
    for (size_t i = 0; i < n; i++)
        if (seep_hop_is(json_array_get(hops, i), "native"))
            return i;
    return n;
}

/* "class Gcf" has the attributes of Gcf's instances. */
static const char *class_of(const char *type)
{
    return strncmp(type, "class ", 6) == 0 ? type + 6 : type;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Attribute `i` of the hops. */
static struct seep_kept_name attribute(const json_t *path, size_t i)
{
    const json_t *hops = json_object_get(path, "hops"), *hop = json_array_get(hops, i);
    const json_t *before = i ? json_array_get(hops, i - 1) : NULL;
    const char *module = before && seep_hop_is(before, "attribute")
                             ? seep_hops_said(before, "name")
                             : seep_hops_said(json_object_get(path, "root"), "name");
    struct seep_kept_name name = {.in = SEEP_KEPT_IN_ATTRIBUTE,
                                  .name = seep_hops_said(hop, "name"),
                                  .owner = class_of(seep_hops_said(before, "type")),
                                  .module = "",
                                  .file = "",
                                  .fills = is_filled(seep_hops_said(hop, "type")),
                                  .by_index = is_sequence(seep_hops_said(hop, "type"))};

    if (strcmp(seep_hops_said(before, "type"), "module") == 0) {
        const char *dot = strrchr(module, '.');
        name.in = SEEP_KEPT_IN_GLOBAL;
        name.module = module;
        name.owner = dot ? dot + 1 : module;
    }
    if (strcmp(seep_hops_said(hop, "type"), "_lru_cache_wrapper") == 0)
        name.in = SEEP_KEPT_IN_CACHE;
    else if (ends_with(name.name, "_hooks"))
        name.in = SEEP_KEPT_IN_HOOKS;
    return name;
}

/* Hooks on a tensor's gradient: a field without a name of the tensor's C++ object. */
static bool is_gradient_hooks(const json_t *before, const json_t *hop)
{
    const char *type = seep_hops_said(before, "type");

    return seep_hop_is(hop, "field") && strcmp(seep_hops_said(hop, "type"), "OrderedDict") == 0 &&
           (strcmp(type, "Tensor") == 0 || strcmp(type, "Parameter") == 0);
}

/* The variable at which the path begins; a module's variables are attributes of it. */
static struct seep_kept_name root_of(const json_t *path)
{
    const json_t *root = json_object_get(path, "root");
    const json_t *first = json_array_get(json_object_get(path, "hops"), 0);

    return (struct seep_kept_name){.in = SEEP_KEPT_IN_LOCAL,
                                   .name = seep_hops_said(root, "name"),
                                   .owner = seep_hops_said(root, "function"),
                                   .module = "",
                                   .file = seep_hops_said(root, "file"),
                                   .fills = is_filled(seep_hops_said(first, "type")),
                                   .by_index = is_sequence(seep_hops_said(first, "type"))};
}

size_t seep_kept_names(const json_t *path, struct seep_kept_name names[SEEP_KEPT_MAX_NAMES])
{
    const json_t *hops = json_object_get(path, "hops");
    size_t n = 0;

    for (size_t i = hops_to_holder(path); i-- > 0 && n < SEEP_KEPT_MAX_NAMES;) {
        const json_t *hop = json_array_get(hops, i);
        if (i && is_gradient_hooks(json_array_get(hops, i - 1), hop))
            names[n++] = (struct seep_kept_name){
                .in = SEEP_KEPT_IN_HOOKS, .name = "", .owner = "", .module = "", .file = ""};
        else if (seep_hop_is(hop, "attribute") && *seep_hops_said(hop, "name"))
            names[n++] = attribute(path, i);
        else if (seep_hop_is(hop, "local") && *seep_hops_said(hop, "name"))
            names[n++] =
                (struct seep_kept_name){.in = SEEP_KEPT_IN_LOCAL,
                                        .name = seep_hops_said(hop, "name"),
                                        .owner = "",
                                        .module = "",
                                        .file = "",
                                        .fills = is_filled(seep_hops_said(hop, "type")),
                                        .by_index = is_sequence(seep_hops_said(hop, "type"))};
    }
    if (n < SEEP_KEPT_MAX_NAMES &&
        strcmp(seep_hops_said(json_object_get(path, "root"), "kind"), "local") == 0)
        names[n++] = root_of(path);
    return n;
}
