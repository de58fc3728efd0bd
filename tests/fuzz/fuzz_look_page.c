/* Any bytes as a look document that `seep view` shows: refused with a reason, or all that the page
 * relies on holds. */
#include "libprof/page/page_look.h"

#include <stdlib.h>

static void check_holders(const json_t *holders)
{
    const size_t n = json_array_size(holders);
    size_t i, steps;

    for (i = 0; i < n; i++) {
        const json_t *at = json_array_get(holders, i);
        for (steps = 0; !json_is_null(json_object_get(at, "within")); steps++) {
            if (steps > n)
                abort(); /* holders within each other in a circle */
            at = json_array_get(holders, (size_t)json_integer_value(json_object_get(at, "within")));
            if (!at)
                abort();
        }
    }
}

static void check_page(const json_t *page)
{
    const json_t *look = json_object_get(page, "look"), *tree = json_object_get(look, "tree");
    const json_t *process;
    size_t i;

    if (!json_array_size(json_object_get(look, "looks")))
        abort();
    check_holders(json_object_get(look, "holders"));
    check_holders(json_object_get(tree, "holders"));
    json_array_foreach (json_object_get(tree, "processes"), i, process)
        check_holders(json_object_get(process, "holders"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *document = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    struct seep_error err = {0};
    json_t *page = NULL;

    if (!document)
        return 0;
    const int rc = seep_page_look(document, "look.json", &page, &err);
    if (rc ? !err.text[0] || page : !page)
        abort();
    if (page)
        check_page(page);
    json_decref(page);
    json_decref(document);
    return 0;
}
