#include "libprof/report_read/shortage_view.h"

#include "libprof/base/text.h"
#include "libprof/report_read/report_view.h"

const json_t *seep_get_shortage_line(const json_t *finding, size_t i)
{
    return json_array_get(json_object_get(json_object_get(finding, "shortage"), "lines"), i);
}

char *seep_get_shortage_words(const json_t *line)
{
    const double kept = seep_get_number(line, "kept_bytes"),
                 made = seep_get_number(line, "step_bytes");
    char one[SEEP_SIZE_TEXT], other[SEEP_SIZE_TEXT];

    seep_text_size(kept, one);
    seep_text_size(made, other);
    if (!(made > 0))
        return seep_text_format("%s kept from before", one);
    if (!(kept > 0))
        return seep_text_format("at most %s made in the step", other);
    return seep_text_format("%s kept from before, at most %s more made in the step", one, other);
}
