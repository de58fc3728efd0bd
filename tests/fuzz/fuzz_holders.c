/* Any bytes as a snapshot of who holds what: reads it beside a valid one, merges both, and asks
 * about a finding's frame. */
#include "libprof/who/merge/holders_merge.h"
#include "libprof/who/merge/kept_by.h"

#include <stdlib.h>
#include <string.h>

static const char right[] =
    "{\"format\": \"seep-holders\", \"version\": 1, \"pid\": 12, \"process\": 0, \"step\": 8,"
    " \"complete\": true, \"lines\": [{\"frame\": {\"kind\": \"python\", \"function\": \"load\","
    " \"file\": \"/home/user/train.py\", \"line\": 45}, \"blocks\": 8, \"bytes\": 800,"
    " \"state\": \"held\", \"explained_bytes\": 800, \"paths\": [{\"text\": \"local 'loader'\","
    " \"root\": {\"kind\": \"local\", \"name\": \"loader\"}, \"hops\": [], \"blocks\": 8,"
    " \"bytes\": 800, \"sole_bytes\": 800, \"holder\": {\"hop\": 0, \"type\": \"dict\","
    " \"name\": \"Annotations.by_name\", \"length\": 8, \"bound\": null}}]}],"
    " \"small_objects\": {\"blocks\": 90, \"bytes\": 4000, \"holders\": [{\"text\":"
    " \"local 'log'\", \"root\": {\"kind\": \"local\", \"name\": \"log\"}, \"hops\": [],"
    " \"blocks\": 80, \"bytes\": 3000, \"sole_bytes\": 3000, \"holder\": {\"hop\": 0,"
    " \"type\": \"list\", \"name\": \"main.log\", \"length\": 80, \"bound\": null}, \"table\":"
    " {\"kind\": \"python\", \"file\": \"/home/user/train.py\", \"line\": 46}}]}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seep_holders_files files = {0};
    struct seep_holders merged = {0};

    int rc = seep_holders_add(&files, 0, "holders-12-8.json", right, sizeof right - 1);
    if (!rc)
        rc = seep_holders_add(&files, 0, "holders-12-64.json", (const char *)data, size);
    if (!rc && files.n < 2 && !files.n_said)
        abort(); /* a refusal says why */
    if (!rc)
        rc = seep_holders_merge(&files, &merged);
    json_t *its = rc ? NULL : json_object_get(merged.of_frame, "/home/user/train.py:45");
    if (!rc && !json_is_object(its))
        abort(); /* what the right one says is not lost */
    if (!rc && seep_kept_by_of(its).length > SIZE_MAX / 2)
        abort();
    const struct seep_small_rise *small = &merged.small;
    if (!rc && small->answer &&
        (!small->bytes || small->from_step > small->to_step ||
         seep_kept_by_of_small(small).length > SIZE_MAX / 2))
        abort();
    seep_holders_fini(&merged);
    seep_holders_files_fini(&files);
    return 0;
}
