#include "libprof/page/page_parts.h"

#include "libprof/base/json_build.h"
#include "libprof/report_read/report_view.h"

enum { OFTEN = 100 }; /* allocations of a site: fewer are never many, even in a short job */

static const json_t *space_of(const json_t *report, const json_t *site)
{
    return json_object_get(json_object_get(report, "spaces"), seep_get_text(site, "space", ""));
}

bool seep_page_is_light(const json_t *report, const json_t *site)
{
    const json_t *space = space_of(report, site);

    return seep_get_number(site, "peak_bytes") <
               SEEP_PAGE_LIGHT * seep_get_number(space, "peak_bytes") &&
           seep_get_number(site, "allocated_bytes") <
               SEEP_PAGE_LIGHT * seep_get_number(space, "allocated_bytes");
}

/* Small blocks weigh little, but the user may also ask how many of them a line makes. */
static bool is_seldom(const json_t *report, const json_t *site)
{
    const double n = seep_get_number(site, "allocations");

    return n < OFTEN ||
           n < SEEP_PAGE_LIGHT * seep_get_number(space_of(report, site), "allocations");
}

json_t *seep_page_named_sites(const json_t *report, bool *failed)
{
    json_t *named = json_object();
    size_t i, k;
    json_t *finding, *id;

    json_array_foreach (json_object_get(report, "findings"), i, finding) {
        json_array_foreach (json_object_get(finding, "sites"), k, id) {
            if (json_is_string(id))
                seep_json_set(named, json_string_value(id), json_true(), failed);
        }
    }
    seep_page_name_layout_sites(report, named, failed);
    return named;
}

bool seep_page_is_small(const json_t *report, const json_t *named, const json_t *site)
{
    return seep_page_is_light(report, site) && is_seldom(report, site) &&
           !json_object_get(named, seep_get_text(site, "id", ""));
}
