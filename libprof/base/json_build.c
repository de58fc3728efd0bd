#include "libprof/base/json_build.h"

void seep_json_set(json_t *object, const char *key, json_t *value, bool *failed)
{
    if (json_object_set_new(object, key, value))
        *failed = true;
}

void seep_json_append(json_t *list, json_t *value, bool *failed)
{
    if (json_array_append_new(list, value))
        *failed = true;
}

json_t *seep_json_whole(json_t *json, bool failed)
{
    if (json && !failed)
        return json;
    json_decref(json);
    return NULL;
}
