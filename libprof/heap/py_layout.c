#include "libprof/heap/py_layout.h"

/* 3.8, 3.9 and 3.10 differ in little; so do 3.11, 3.12 and 3.13. */
#define FRAME_OBJECTS                                                                              \
    .runtime_interpreters = 32, .interpreter_next = 0, .interpreter_threads = 8,                   \
    .thread_frame = 24, .cframe_frame = SEEP_PY_NO_FIELD, .thread_dict = 152, .frame_code = 32,    \
    .frame_back = 24, .frame_owner = SEEP_PY_NO_FIELD, .frame_dict = 56, .frame_globals = 48,      \
    .frame_object_frame = SEEP_PY_NO_FIELD, .code_n_locals = 28, .code_names = 72,                 \
    .code_frees = 80, .code_cells = 88, .code_stack = 32, .code_file = 104, .code_name = 112,      \
    .code_qualname = 112, .generator_frame = 16, .generator_state = SEEP_PY_NO_FIELD, .values = 0, \
    .text_ascii = 48, .text_compact = 72, .tuple_items = 24, .dict_place = SEEP_DICT_BY_OFFSET

#define OLD_FUNCTION                                                                               \
    .function_closure = 48, .function_globals = 24, .function_code = 16, .function_defaults = 32,  \
    .function_kwdefaults = 40, .function_dict = 72, .function_name = 104

#define NEW_FUNCTION                                                                               \
    .function_closure = 72, .function_globals = 16, .function_code = 48, .function_defaults = 56,  \
    .function_kwdefaults = 64, .function_dict = 88, .function_name = 40

#define SMALL_POOLS .pool_bytes = 4096, .arena_bytes = 256 * 1024
#define LARGE_POOLS .pool_bytes = 16384, .arena_bytes = 1024 * 1024

#define FRAMES_ALONE                                                                               \
    .frame_top = 64, .frame_object_frame = 24, .code_names = 96, .code_cells = SEEP_PY_NO_FIELD,   \
    .code_frees = SEEP_PY_NO_FIELD, .code_file = 112, .code_name = 120, .code_qualname = 128,      \
    .new_keys = true, NEW_FUNCTION, LARGE_POOLS

#define NEWER_FRAMES                                                                               \
    .frame_code = 0, .frame_back = 8, .frame_dict = 40, .frame_globals = 24, .code_n_locals = 72,  \
    .code_stack = 64, .type_keys = 880, .generator_frame = 72, .generator_state = 67,              \
    .text_ascii = 40, .text_compact = 56

static const struct seep_python_layout layouts[] = {
    {.minor = 8,
     FRAME_OBJECTS,
     OLD_FUNCTION,
     SMALL_POOLS,
     .interpreter_modules = 56,
     .frame_top = 72,
     .frame_locals = 360,
     .type_keys = 872},
    {.minor = 9,
     FRAME_OBJECTS,
     OLD_FUNCTION,
     SMALL_POOLS,
     .interpreter_modules = 856,
     .frame_top = 72,
     .frame_locals = 360,
     .type_keys = 864},
    {.minor = 10,
     FRAME_OBJECTS,
     NEW_FUNCTION,
     LARGE_POOLS,
     .interpreter_modules = 856,
     .frame_top = SEEP_PY_NO_FIELD,
     .frame_locals = 352,
     .type_keys = 872},
    {.minor = 11,
     FRAMES_ALONE,
     .runtime_interpreters = 40,
     .interpreter_threads = 16,
     .interpreter_modules = 888,
     .thread_frame = 56,
     .cframe_frame = 8,
     .thread_dict = 128,
     .frame_code = 32,
     .frame_back = 48,
     .frame_owner = 69,
     .frame_locals = 72,
     .tuple_items = 24,
     .frame_dict = 24,
     .frame_globals = 8,
     .code_n_locals = 76,
     .code_stack = 68,
     .type_keys = 872,
     .generator_frame = 80,
     .generator_state = 75,
     .values = 0,
     .text_ascii = 48,
     .text_compact = 72,
     .dict_place = SEEP_DICT_VALUES_FIRST},
    {.minor = 12,
     FRAMES_ALONE,
     NEWER_FRAMES,
     .frame_owner = 70,
     .frame_locals = 72,
     .tuple_items = 24,
     .runtime_interpreters = 40,
     .interpreter_threads = 72,
     .interpreter_modules = 944,
     .thread_frame = 56,
     .cframe_frame = 0,
     .thread_dict = 112,
     .values = 0,
     .dict_place = SEEP_DICT_TAGGED},
    {.minor = 13,
     FRAMES_ALONE,
     NEWER_FRAMES,
     .frame_owner = 70,
     .frame_locals = 72,
     .tuple_items = 24,
     .runtime_interpreters = 632,
     .interpreter_next = 7264,
     .interpreter_threads = 7344,
     .interpreter_modules = 7656,
     .thread_frame = 72,
     .cframe_frame = SEEP_PY_NO_FIELD,
     .thread_dict = 128,
     .values = 8,
     .dict_place = SEEP_DICT_INLINE},
    {.minor = 14,
     FRAMES_ALONE,
     NEWER_FRAMES,
     .frame_owner = 74,
     .frame_locals = 80,
     .tagged = true,
     .tuple_items = 32,
     .runtime_interpreters = 808,
     .interpreter_next = 7272,
     .interpreter_threads = 7344,
     .interpreter_modules = 7688,
     .thread_frame = 72,
     .cframe_frame = SEEP_PY_NO_FIELD,
     .thread_dict = 128,
     .values = 8,
     .dict_place = SEEP_DICT_INLINE},
};

const struct seep_python_layout *seep_python_layout_find(uint32_t version)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (version >> 16 == 0x0300u + layouts[i].minor)
            return &layouts[i];
    return NULL;
}
