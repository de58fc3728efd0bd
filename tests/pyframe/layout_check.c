/* Compiled against one CPython's headers: holds what stacks need of
 * libprof/format/python_layout.h against its structures. Prints what differs; with an argument, the
 * row for the table. Exit status 0: all equal. */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <frameobject.h>
#include <stddef.h>
#include <stdio.h>

#if PY_VERSION_HEX >= 0x030B0000
#include <internal/pycore_code.h>
#include <internal/pycore_frame.h>
#endif
#if PY_VERSION_HEX >= 0x030E0000
#include <internal/pycore_debug_offsets.h>
#include <internal/pycore_interpframe_structs.h>
#endif
#if PY_VERSION_HEX >= 0x03090000
#include <internal/pycore_runtime.h>
#else
#include <internal/pycore_pystate.h>
#endif

#include "preload/python/pyframe_layout.h"

#if PY_VERSION_HEX < 0x030B0000
typedef PyFrameObject frame_type;
#define FRAME_CODE     f_code
#define FRAME_BACK     f_back
#define FRAME_POSITION f_lasti
#define FRAME_LOCALS   f_localsplus
#else
typedef _PyInterpreterFrame frame_type;
#define FRAME_BACK   previous
#define FRAME_LOCALS localsplus
#if PY_VERSION_HEX < 0x030D0000
#define FRAME_CODE     f_code
#define FRAME_POSITION prev_instr
#else
#define FRAME_CODE     f_executable
#define FRAME_POSITION instr_ptr
#endif
#endif

static const struct seep_python_layout actual = {
    .minor = PY_MINOR_VERSION,
#if PY_VERSION_HEX < 0x030B0000
    .chain = SEEP_PYTHON_CHAIN_OBJECTS,
    .thread_frame = offsetof(PyThreadState, frame),
    .code_size = sizeof(PyCodeObject),
    .code_n_locals = offsetof(PyCodeObject, co_nlocals),
    .code_moved = offsetof(PyCodeObject, co_cell2arg),
#elif PY_VERSION_HEX < 0x030D0000
    .chain = SEEP_PYTHON_CHAIN_CFRAME,
    .thread_frame = offsetof(PyThreadState, cframe),
    .cframe_frame = offsetof(_PyCFrame, current_frame),
#if PY_VERSION_HEX < 0x030C0000
    .frame_entry = offsetof(frame_type, is_entry),
#endif
#else
    .chain = SEEP_PYTHON_CHAIN_CURRENT,
    .thread_frame = offsetof(PyThreadState, current_frame),
#endif
#if PY_VERSION_HEX >= 0x030B0000
    .frame_owner = offsetof(frame_type, owner),
    .code_size = offsetof(PyCodeObject, co_code_adaptive),
    .code_n_locals = offsetof(PyCodeObject, co_nlocalsplus),
    .code_qualname = offsetof(PyCodeObject, co_qualname),
    .code_traceable = offsetof(PyCodeObject, _co_firsttraceable),
    .code_instructions = offsetof(PyCodeObject, co_code_adaptive),
    .lines = SEEP_PYTHON_LINES_LOCATIONS,
    .code_lines = offsetof(PyCodeObject, co_linetable),
#elif PY_VERSION_HEX >= 0x030A0000
    .lines = SEEP_PYTHON_LINES_RANGES,
    .code_lines = offsetof(PyCodeObject, co_linetable),
#else
    .lines = SEEP_PYTHON_LINES_LNOTAB,
    .code_lines = offsetof(PyCodeObject, co_lnotab),
#endif
    .frame_code = offsetof(frame_type, FRAME_CODE),
    .frame_back = offsetof(frame_type, FRAME_BACK),
    .frame_position = offsetof(frame_type, FRAME_POSITION),
    .frame_locals = offsetof(frame_type, FRAME_LOCALS),
    .code_flags = offsetof(PyCodeObject, co_flags),
    .code_firstline = offsetof(PyCodeObject, co_firstlineno),
    .code_file = offsetof(PyCodeObject, co_filename),
    .code_name = offsetof(PyCodeObject, co_name),
    .text_ascii = sizeof(PyASCIIObject),
    .text_compact = sizeof(PyCompactUnicodeObject),
    .tuple_items = offsetof(PyTupleObject, ob_item),
#if PY_VERSION_HEX >= 0x03090000
    .runtime_finalizing = offsetof(_PyRuntimeState, _finalizing),
#else
    .runtime_finalizing = offsetof(_PyRuntimeState, finalizing),
#endif
#if PY_VERSION_HEX >= 0x030F0000
    .runtime_tss = 0, /* it is thread-local data */
#elif PY_VERSION_HEX >= 0x030C0000
    .runtime_tss = offsetof(_PyRuntimeState, autoTSSkey),
#else
    .runtime_tss = offsetof(_PyRuntimeState, gilstate.autoTSSkey),
#endif
};

/* What the code takes for granted in every version. */
_Static_assert(offsetof(PyObject, ob_type) == SEEP_PY_TYPE, "ob_type");
_Static_assert(offsetof(PyVarObject, ob_size) == SEEP_PY_SIZE, "ob_size");
_Static_assert(offsetof(PyTypeObject, tp_name) == SEEP_PY_TYPE_NAME, "tp_name");
_Static_assert(offsetof(PyTypeObject, tp_basicsize) == SEEP_PY_TYPE_BASIC, "tp_basicsize");
_Static_assert(offsetof(PyTypeObject, tp_flags) == SEEP_PY_TYPE_FLAGS, "tp_flags");
_Static_assert(Py_TPFLAGS_READY == SEEP_PY_READY, "Py_TPFLAGS_READY");
_Static_assert(offsetof(PyBytesObject, ob_sval) == SEEP_PY_BYTES_DATA, "ob_sval");
_Static_assert(offsetof(PyCellObject, ob_ref) == SEEP_PY_CELL_CONTENT, "ob_ref");
_Static_assert(offsetof(PyASCIIObject, length) == SEEP_PY_TEXT_LENGTH, "length");
_Static_assert(offsetof(PyASCIIObject, state) == SEEP_PY_TEXT_STATE, "state");
_Static_assert(sizeof(_Py_CODEUNIT) == 2, "code units");
#if PY_VERSION_HEX >= 0x030B0000
_Static_assert(FRAME_OWNED_BY_FRAME_OBJECT < SEEP_PY_OWNER_SHIM, "owner");
_Static_assert(FRAME_OWNED_BY_GENERATOR == SEEP_PY_OWNER_GENERATOR, "owner");
#endif
#if PY_VERSION_HEX >= 0x030E0000
_Static_assert(FRAME_OWNED_BY_INTERPRETER >= SEEP_PY_OWNER_SHIM, "owner");
#elif PY_VERSION_HEX >= 0x030C0000
_Static_assert(FRAME_OWNED_BY_CSTACK >= SEEP_PY_OWNER_SHIM, "owner");
#endif

/* The layout for this version: of the table, or what is read of an interpreter's own offsets. */
#if PY_VERSION_HEX >= 0x030E0000
static const struct seep_python_layout *layout_here(void)
{
    static const _Py_DebugOffsets offsets = _Py_DebugOffsets_INIT("xdebugpy");
    static struct seep_python_layout layout;

    if (!seep_pylayout_from_debug(&layout, (uintptr_t)&offsets))
        return NULL;
    layout.runtime_tss = actual.runtime_tss; /* is not needed, and not in there */
    return &layout;
}
#else
static const struct seep_python_layout *layout_here(void)
{
    return seep_pylayout_find(PY_MINOR_VERSION);
}
#endif
#if PY_VERSION_HEX >= 0x030D0000
static bool has_debug_places(void)
{
    const struct seep_pydebug *at = seep_pydebug_find(PY_MINOR_VERSION);

    return at && offsetof(_Py_DebugOffsets, thread_state) == 8 * at->thread &&
           offsetof(_Py_DebugOffsets, interpreter_frame) == 8 * at->frame &&
           offsetof(_Py_DebugOffsets, code_object) == 8 * at->code;
}
#else
#define has_debug_places() true
#endif

/* The text's state is a bit field: its bits are found by setting them. */
static unsigned state_bits(unsigned kind, unsigned compact, unsigned ascii)
{
    PyASCIIObject text = {0};
    unsigned bits;
    text.state.kind = kind & 7;
    text.state.compact = compact & 1;
    text.state.ascii = ascii & 1;
    memcpy(&bits, &text.state, sizeof(bits));
    return bits;
}

int main(int argc, char **argv)
{
    const struct seep_python_layout *ours = layout_here();
    int wrong = 0;

    (void)argv;
    if (argc > 1) {
        printf("    .minor = %u, .chain = %d, .lines = %d,\n", actual.minor, (int)actual.chain,
               (int)actual.lines);
#define X(field)                                                                                   \
    if (actual.field)                                                                              \
        printf("    ." #field " = %u,\n", actual.field);
        SEEP_PYTHON_STACK_FIELDS(X)
#undef X
        return 0;
    }
    if (!ours || !has_debug_places()) {
        printf("no layout for this version\n");
        return 1;
    }
#define X(field)                                                                                   \
    if (ours->field != actual.field) {                                                             \
        printf("%s is %u in %s, %u here\n", #field, actual.field, PY_VERSION, ours->field);        \
        wrong = 1;                                                                                 \
    }
    X(minor)
    SEEP_PYTHON_STACK_FIELDS(X)
#undef X
    wrong |= ours->chain != actual.chain || ours->lines != actual.lines;
    if (state_bits(4, 1, 1) !=
        (4u << SEEP_PY_TEXT_KIND_SHIFT | SEEP_PY_TEXT_COMPACT | SEEP_PY_TEXT_ASCII)) {
        printf("the bits of a text's state differ in %s\n", PY_VERSION);
        wrong = 1;
    }
    return wrong;
}
