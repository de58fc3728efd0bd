#include "libprof/heap/py_layout.h"

#include <stddef.h>

const struct seep_python_layout *seep_python_layout_find(uint32_t version)
{
    static const struct seep_python_layout *const layouts[] = {
        &seep_python_layout_38,  &seep_python_layout_39,  &seep_python_layout_310,
        &seep_python_layout_311, &seep_python_layout_312, &seep_python_layout_313,
        &seep_python_layout_314,
    };

    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (version >> 16 == 0x0300u + layouts[i]->minor)
            return layouts[i];
    return NULL;
}
