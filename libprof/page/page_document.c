#include "libprof/page/page_document.h"

#include "libprof/base/json_build.h"
#include "libprof/page/page_excerpts.h"
#include "libprof/page/page_sites.h"

/* Parts of the report that a page shows as they are. */
static const char *const parts[] = {"seep",      "job",      "findings",      "findings_left_out",
                                    "processes", "spaces",   "timeline",      "devices",
                                    "helpers",   "coverage", "out_of_memory", "holders"};

/* A copy in which no text is long. */
static json_t *copy(const json_t *value)
{
    json_t *made, *one;
    bool failed = false;
    size_t i;
    const char *key;

    if (json_is_string(value))
        return seep_page_cut(json_string_value(value));
    if (json_is_array(value)) {
        made = json_array();
        json_array_foreach (value, i, one)
            seep_json_append(made, copy(one), &failed);
        return seep_json_whole(made, failed);
    }
    if (!json_is_object(value))
        return json_deep_copy(value);
    made = json_object();
    json_object_foreach ((json_t *)value, key, one)
        seep_json_set(made, key, copy(one), &failed);
    return seep_json_whole(made, failed);
}

json_t *seep_page_document(const json_t *report, bool all)
{
    json_t *page = json_pack("{s:s, s:i}", "format", "seep-page", "version", 1);
    struct seep_page_tables tables;
    bool failed = false;

    seep_page_tables_init(&tables);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const json_t *part = json_object_get(report, parts[i]);
        if (part)
            seep_json_set(page, parts[i], copy(part), &failed);
    }
    seep_json_set(page, "excerpts", seep_page_excerpts(report), &failed);
    seep_json_set(page, "sites", seep_page_sites(report, all, &tables), &failed);
    seep_json_set(page, "others", seep_page_other_sites(report, all), &failed);
    seep_json_set(page, "stacks", seep_page_stacks_json(&tables), &failed);
    seep_json_set(page, "frames", json_incref(tables.frames), &failed);
    seep_json_set(page, "texts", json_incref(tables.texts), &failed);
    seep_page_tables_fini(&tables);
    return seep_json_whole(page, failed);
}
