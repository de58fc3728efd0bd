#include "libprof/who/merge/hops.h"

#include <string.h>

const char *seep_hops_said(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

bool seep_hop_is(const json_t *hop, const char *kind)
{
    return strcmp(seep_hops_said(hop, "kind"), kind) == 0;
}

bool seep_hops_root_is(const json_t *path, const char *kind)
{
    return seep_hop_is(json_object_get(path, "root"), kind);
}

bool seep_hops_have_type(const void *path, const char *type)
{
    const json_t *hops = json_object_get(path, "hops"), *hop;
    size_t i;

    json_array_foreach (hops, i, hop) {
        if (strcmp(seep_hops_said(hop, "type"), type) == 0)
            return true;
    }
    return false;
}

static bool is_named(const json_t *hop, const char *name)
{
    return strcmp(seep_hops_said(hop, "name"), name) == 0;
}

bool seep_hops_have_name(const void *path, const char *name)
{
    const json_t *hops = json_object_get(path, "hops"), *hop;
    size_t i;

    json_array_foreach (hops, i, hop) {
        if ((seep_hop_is(hop, "attribute") || seep_hop_is(hop, "part")) && is_named(hop, name))
            return true;
    }
    return false;
}

const json_t *seep_hops_attribute(const json_t *path, const char *name, bool of_one,
                                  const json_t **next)
{
    const json_t *hops = json_object_get(path, "hops"), *hop;
    size_t i;

    json_array_foreach (hops, i, hop) {
        if (seep_hop_is(hop, "attribute") && is_named(hop, name)) {
            *next = json_array_get(hops, i + 1);
            return hop;
        }
        if (of_one && (seep_hop_is(hop, "key") || seep_hop_is(hop, "index")))
            break;
    }
    *next = NULL;
    return NULL;
}
