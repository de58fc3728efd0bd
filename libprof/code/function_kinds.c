#include "libprof/code/function_kinds.h"

#include "libprof/code/code_origin.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The length of a name without its parameters: up to the parenthesis that matches the last closing
 * one. */
static size_t name_length(const char *text)
{
    const char *close = strrchr(text, ')');
    const size_t all = strlen(text);
    int depth = 0;

    if (all > 3 && strcmp(text + all - 3, "...") == 0)
        return strcspn(text, "<("); /* the end is not known */

    for (const char *at = close; at && at > text; at--) {
        depth += *at == ')' ? 1 : *at == '(' ? -1 : 0;
        if (depth == 0)
            return (size_t)(at - text);
    }
    size_t n = strcspn(text, "."); /* .constprop.0, .part.1 */
    return n ? n : strlen(text);
}

/* +1 for a closing bracket, −1 for an opening one: names are read from the end. */
static int bracket(char c)
{
    return c == '>' || c == ')' || c == '}' ? 1 : c == '<' || c == '(' || c == '{' ? -1 : 0;
}

static bool is_operator(const char *name, size_t i, size_t n)
{
    return i + 8 < n && memcmp(name + i, "operator", 8) == 0 && name[i + 8] != '_' &&
           !isalnum((unsigned char)name[i + 8]) &&
           (i == 0 || name[i - 1] == ' ' || name[i - 1] == ':');
}

/* The length of a name without its last template arguments: "pool" of "pool<float>". */
static size_t without_arguments(const char *name, size_t n)
{
    int angles = 0, others = 0;
    size_t i = n;

    if (!n || name[n - 1] != '>')
        return n;
    while (i-- > 0) {
        bool angle = name[i] == '<' || name[i] == '>';
        others += angle ? 0 : bracket(name[i]);
        angles += angle && !others ? bracket(name[i]) : 0;
        if (!angles)
            break;
    }
    if (angles || !i || (i >= 8 && is_operator(name, i - 8, n)))
        return n; /* operator>, operator->, operator<=> */
    while (i > 1 && name[i - 1] == ' ')
        i--; /* operator< <int> */
    return i;
}

/* The offset at which the name of an operator begins; n if it is none. Operators need care: their
 * signs look like brackets, and their words (new, a target type) like a type and a name. */
static size_t operator_at(const char *name, size_t n)
{
    size_t signs = n;
    int depth = 0;

    while (signs && strchr("<>=!+-*/%^&|~,()[]", name[signs - 1]))
        signs--;
    if (signs >= 8 && is_operator(name, signs - 8, n))
        return signs - 8;
    for (size_t i = n; i-- > 0;) {
        depth += bracket(name[i]);
        if (depth == 0 && is_operator(name, i, n))
            return i;
    }
    return n;
}

/* The offset of the last part of name[0, n): what follows the last `separator` (a space, or the
 * colon of a qualified name), ignoring any inside brackets. */
static size_t last_part(const char *name, size_t n, char separator)
{
    int depth = 0;

    for (size_t i = operator_at(name, n); i-- > 0;) {
        if (depth == 0 && name[i] == separator)
            return i + 1;
        depth += bracket(name[i]);
    }
    return 0;
}

void seep_native_name_set(struct seep_native_name *name, const struct seep_symbol *symbol)
{
    const char *text = symbol->function ? symbol->function : "";
    size_t n = without_arguments(text, name_length(text));
    /* For templates, the return type precedes the name. */
    size_t start = last_part(text, n, ' ');

    text += start;
    n -= start;
    if (n >= sizeof name->qualname)
        n = sizeof name->qualname - 1;
    memcpy(name->qualname, text, n);
    name->qualname[n] = 0;
    strcpy(name->function, name->qualname + last_part(name->qualname, n, ':'));
    name->file = symbol->file ? symbol->file : "";
}

static bool is_own_native(struct seep_origins *origins, const struct seep_dict_frame *f)
{
    return f->kind == SEEP_FRAME_NATIVE && !f->pseudo &&
           seep_origin_of(origins, f) == SEEP_ORIGIN_USER;
}

enum { ASKING = 32 }; /* frames of a library beyond the runtime that may wrap an allocator */

/* Where a thread runs no code of Python's or of the user's, what asked for memory is to be looked
 * at: notes the innermost frames of the stack if it is such. Symbols of libraries may be many. Where
 * the runtime asks for itself, as for a thread's first frame, the innermost is its line: without
 * names all of a library is one line. */
static void note_asking(const struct seep_dictionary *d, struct seep_origins *origins,
                        uint32_t stack, bool *wanted)
{
    uint32_t asking[ASKING], innermost = 0;
    size_t n = 0;

    for (uint32_t s = stack; s; s = d->stacks[s].parent) {
        const struct seep_dict_frame *f = &d->frames[d->stacks[s].frame];
        if (f->kind == SEEP_FRAME_PYTHON || is_own_native(origins, f))
            return;
        if (f->pseudo || !f->source)
            continue;
        innermost = innermost ? innermost : d->stacks[s].frame;
        if (n < ASKING &&
            !seep_native_passes_on(seep_dictionary_text(d, d->modules[f->source].path)))
            asking[n++] = d->stacks[s].frame;
    }
    if (!n && innermost)
        asking[n++] = innermost;
    while (n)
        wanted[asking[--n]] = true;
}

/* Which frames are to have names: the user's native ones, and those that asked. */
static int choose_frames(const struct seep_dictionary *d, struct seep_origins *origins,
                         bool *wanted)
{
    bool *has_callee = calloc(d->n_stacks, 1);

    if (!has_callee)
        return -SEEP_ENOMEM;
    for (size_t i = 1; i < d->n_stacks; i++)
        has_callee[d->stacks[i].parent] = true;
    for (uint32_t i = 1; i < d->n_stacks; i++)
        if (!has_callee[i])
            note_asking(d, origins, i, wanted);
    for (uint32_t i = 1; i < d->n_frames; i++)
        wanted[i] |= is_own_native(origins, &d->frames[i]);
    free(has_callee);
    return 0;
}

static int look_up_names(const struct seep_dictionary *d, const bool *wanted,
                         struct seep_symbols *symbols)
{
    uint32_t *frames = malloc(d->n_frames * sizeof *frames);
    size_t n = 0;

    if (!frames)
        return -SEEP_ENOMEM;
    for (uint32_t i = 1; i < d->n_frames; i++) {
        if (wanted[i])
            frames[n++] = i;
    }
    int rc = seep_symbols_resolve(symbols, frames, n);
    free(frames);
    return rc;
}

/* `library`: the path of a library's file, of which it only counts whether it allocates for others;
 * NULL: of the user's own. */
static void set_native(struct seep_function_kinds *kinds, const struct seep_part_rules *rules,
                       const struct seep_symbols *symbols, uint32_t frame, const char *library)
{
    const uint16_t allocator = 1u << SEEP_FUNCTION_ALLOCATOR;
    const struct seep_symbol *all;
    size_t n = seep_symbols_get(symbols, frame, &all), named_by = SIZE_MAX;
    uint16_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        struct seep_native_name name;
        seep_native_name_set(&name, &all[i]);
        struct seep_rule_frame asked = {library ? library : name.file, name.function, name.qualname,
                                        !library};
        uint16_t its = seep_part_rules_kinds_of(rules, &asked);
        its &= library ? allocator : UINT16_MAX;
        if (!(its & allocator) && named_by == SIZE_MAX)
            named_by = i;
        sum |= its;
    }
    /* An allocator inlined into a function counts as a part of that function. */
    kinds->of_frame[frame] = (uint16_t)(named_by == SIZE_MAX ? sum : sum & ~allocator);
    kinds->named_by[frame] = named_by < UINT8_MAX ? (uint8_t)named_by : 0;
}

const struct seep_symbol *seep_function_kinds_symbol(const struct seep_function_kinds *kinds,
                                                     const struct seep_symbols *symbols,
                                                     uint32_t frame)
{
    const struct seep_symbol *all;
    size_t at = kinds->named_by[frame];

    return seep_symbols_get(symbols, frame, &all) > at ? &all[at] : NULL;
}

int seep_function_kinds_init(struct seep_function_kinds *kinds, const struct seep_dictionary *d,
                             const struct seep_part_rules *rules, struct seep_symbols *symbols)
{
    struct seep_origins origins;
    bool *wanted = calloc(d->n_frames, 1);
    int rc = seep_origins_init(&origins, d);

    *kinds = (struct seep_function_kinds){.of_frame = calloc(d->n_frames, sizeof(uint16_t)),
                                          .named_by = calloc(d->n_frames, 1)};
    if (!rc && (!wanted || !kinds->of_frame || !kinds->named_by))
        rc = -SEEP_ENOMEM;
    if (!rc)
        rc = choose_frames(d, &origins, wanted);
    if (!rc)
        rc = look_up_names(d, wanted, symbols);
    for (uint32_t i = 1; i < d->n_frames && !rc; i++) {
        const struct seep_dict_frame *f = &d->frames[i];
        if (f->kind == SEEP_FRAME_PYTHON) {
            struct seep_rule_frame asked = {.file = seep_dictionary_text(d, f->source),
                                            .function = seep_dictionary_text(d, f->function),
                                            .qualname = seep_dictionary_text(d, f->qualname),
                                            .own = seep_origin_of(&origins, f) == SEEP_ORIGIN_USER};
            kinds->of_frame[i] = (uint16_t)(seep_part_rules_kinds_of(rules, &asked) &
                                            ~(1u << SEEP_FUNCTION_ALLOCATOR));
        } else if (wanted[i]) {
            set_native(kinds, rules, symbols, i,
                       is_own_native(&origins, f)
                           ? NULL
                           : seep_dictionary_text(d, d->modules[f->source].path));
        }
    }
    free(wanted);
    seep_origins_fini(&origins);
    return rc;
}

void seep_function_kinds_fini(struct seep_function_kinds *kinds)
{
    free(kinds->of_frame);
    free(kinds->named_by);
    *kinds = (struct seep_function_kinds){0};
}

bool *seep_function_kinds_marks(const struct seep_function_kinds *kinds, size_t n_frames,
                                enum seep_function_kind kind)
{
    bool *marks = calloc(n_frames, sizeof *marks);

    for (uint32_t i = 0; marks && i < n_frames; i++)
        marks[i] = seep_function_kinds_is(kinds, i, kind);
    return marks;
}
