/* Selects an interpreter's layout, and checks that the interpreter fits it. */
#include "preload/python/pyframe_layout.h"

#include <stddef.h>
#include <string.h>

const struct seep_python_layout *seep_pylayout_find(uint32_t minor)
{
    switch (minor) {
    case 8:
        return &seep_python_layout_38;
    case 9:
        return &seep_python_layout_39;
    case 10:
        return &seep_python_layout_310;
    case 11:
        return &seep_python_layout_311;
    case 12:
        return &seep_python_layout_312;
    case 13:
        return &seep_python_layout_313;
    default:
        return NULL;
    }
}

/* Word `index` of the debug offsets, or UINT32_MAX if it cannot be an offset inside a structure. */
static uint32_t debug_offset(uintptr_t runtime, unsigned index)
{
    uintptr_t value = seep_py_word(runtime + 8u * index);

    return value < (1u << 20) ? (uint32_t)value : UINT32_MAX;
}

static bool debug_has_cookie(uintptr_t runtime)
{
    return memcmp((const void *)runtime, "xdebugpy", 8) == 0 &&
           !seep_python_has_no_gil((const struct seep_python_offsets_head *)runtime);
}

bool seep_pylayout_from_debug(struct seep_python_layout *layout, uintptr_t runtime)
{
    const uint32_t version = (uint32_t)seep_py_word(runtime + 8), minor = version >> 16 & 255;
    const struct seep_pydebug *at = seep_pydebug_find(minor);

    if (!debug_has_cookie(runtime) || version >> 24 != 3 || minor < 14 || !at)
        return false;
    const unsigned frame = at->frame, code = at->code;
    *layout = (struct seep_python_layout){
        .minor = minor,
        .chain = SEEP_PYTHON_CHAIN_CURRENT,
        .lines = SEEP_PYTHON_LINES_LOCATIONS,
        .thread_frame = debug_offset(runtime, at->thread + 4),
        .frame_back = debug_offset(runtime, frame + 1),
        .frame_code = debug_offset(runtime, frame + 2),
        .frame_position = debug_offset(runtime, frame + 3),
        .frame_locals = debug_offset(runtime, frame + 4),
        .frame_owner = debug_offset(runtime, frame + 5),
        .code_file = debug_offset(runtime, code + 1),
        .code_name = debug_offset(runtime, code + 2),
        .code_qualname = debug_offset(runtime, code + 3),
        .code_lines = debug_offset(runtime, code + 4),
        .code_firstline = debug_offset(runtime, code + 5),
        .code_flags = 48, /* not in the table; its offset since 3.11 */
        .code_instructions = debug_offset(runtime, code + 9),
        .text_ascii = debug_offset(runtime, at->text + 3),
        .tuple_items = debug_offset(runtime, at->tuple + 1),
        .runtime_finalizing = debug_offset(runtime, SEEP_PYDEBUG_RUNTIME + 1),
    };
    /* Not among the debug offsets; these positions relative to their neighbours hold since 3.11. */
    layout->code_size = layout->code_instructions;
    layout->code_n_locals = layout->code_firstline + 4;
    layout->code_traceable = layout->code_instructions - 16;
    layout->text_compact = layout->text_ascii + 16;

    bool plausible = debug_offset(runtime, at->object + 1) == SEEP_PY_TYPE &&
                     debug_offset(runtime, at->type + 1) == SEEP_PY_TYPE_NAME &&
                     debug_offset(runtime, at->type + 3) == SEEP_PY_TYPE_FLAGS &&
                     debug_offset(runtime, at->bytes + 2) == SEEP_PY_BYTES_DATA &&
                     debug_offset(runtime, at->text + 1) == SEEP_PY_TEXT_STATE &&
                     debug_offset(runtime, at->text + 2) == SEEP_PY_TEXT_LENGTH;
#define X(field) plausible = plausible && layout->field < 4096;
    SEEP_PYTHON_STACK_FIELDS(X)
#undef X
    return plausible;
}

/* 3.13 carries its offsets too, so a vendor's different build is noticed before it is misread. */
static bool fits_debug_313(const struct seep_python_layout *layout, uintptr_t runtime)
{
    const struct seep_pydebug *at = seep_pydebug_find(13);
    const unsigned frame = at->frame, code = at->code;

    return debug_has_cookie(runtime) && seep_py_word(runtime + 8) >> 16 == 0x030d &&
           debug_offset(runtime, SEEP_PYDEBUG_RUNTIME + 1) == layout->runtime_finalizing &&
           debug_offset(runtime, at->thread + 4) == layout->thread_frame &&
           debug_offset(runtime, frame + 1) == layout->frame_back &&
           debug_offset(runtime, frame + 2) == layout->frame_code &&
           debug_offset(runtime, frame + 3) == layout->frame_position &&
           debug_offset(runtime, frame + 4) == layout->frame_locals &&
           debug_offset(runtime, frame + 5) == layout->frame_owner &&
           debug_offset(runtime, code + 1) == layout->code_file &&
           debug_offset(runtime, code + 2) == layout->code_name &&
           debug_offset(runtime, code + 3) == layout->code_qualname &&
           debug_offset(runtime, code + 4) == layout->code_lines &&
           debug_offset(runtime, code + 5) == layout->code_firstline &&
           debug_offset(runtime, code + 9) == layout->code_instructions;
}

bool seep_pylayout_fits(const struct seep_python_layout *layout, uintptr_t code_type,
                        uintptr_t runtime)
{
    const char *name = (const char *)seep_py_word(code_type + SEEP_PY_TYPE_NAME);

    if (!name || strcmp(name, "code") != 0 ||
        seep_py_word(code_type + SEEP_PY_TYPE_BASIC) != layout->code_size)
        return false;
    return layout->minor != 13 || fits_debug_313(layout, runtime);
}
