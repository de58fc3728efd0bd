#include "libprof/source/name_use.h"

#include <string.h>

enum { MAX_CHAIN = 16, MAX_NAME = 256 };

#define READS_ONE_OF(in, i, words) reads_one_of(in, i, words, sizeof(words) / sizeof *(words))

static bool reads_one_of(const struct seep_in_statement *in, size_t i, const char *const *words,
                         size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (seep_in_reads(in, i, words[k]))
            return true;
    return false;
}

static const struct seep_token *token_of(const struct seep_in_statement *in, size_t i)
{
    return &in->tokens->list[i];
}

/* A new container without content, as its call begins. */
static bool is_empty_call(const struct seep_in_statement *in, size_t i)
{
    static const char *const kinds[] = {"list",  "dict",        "set",     "tuple",    "deque",
                                        "Queue", "OrderedDict", "Counter", "bytearray"};

    if (seep_in_reads(in, i, "defaultdict") || seep_in_reads(in, i, "SimpleQueue"))
        return true;
    return READS_ONE_OF(in, i, kinds) && seep_in_reads(in, i + 1, "(") &&
           (seep_in_reads(in, i + 2, ")") || seep_in_reads(in, i + 3, "="));
}

/* None, 0, [], {"a": []}, deque(maxlen=n), [[] for _ in range(n)]: these keep nothing. */
static bool is_empty(const struct seep_in_statement *in, size_t from)
{
    static const char *const plain[] = {"None",  "True", "False", "collections", "queue", "range",
                                        "for",   "in",   "_",     "float",       "int",   "if",
                                        "field", "else", "inf",   "nan"};

    for (size_t i = from; i < in->to; i++) {
        if (token_of(in, i)->kind != SEEP_TOKEN_NAME)
            continue;
        if (is_empty_call(in, i))
            return true;
        if (!READS_ONE_OF(in, i, plain))
            return false;
    }
    return true;
}

struct seep_in_statement seep_in_statement(const struct seep_tokens *tokens, size_t first,
                                           size_t to)
{
    struct seep_in_statement in = {.tokens = tokens, .first = first, .to = to};

    for (size_t i = first; i < to; i++)
        if (!token_of(&in, i)->depth && seep_in_reads(&in, i, "="))
            in.equals = i;
    in.empty = in.equals && is_empty(&in, in.equals + 1);
    return in;
}

bool seep_in_names(const struct seep_in_statement *in, size_t i, const char *name, bool dotted)
{
    return token_of(in, i)->kind == SEEP_TOKEN_NAME && seep_in_reads(in, i, name) &&
           seep_in_dotted(in, i) == dotted;
}

/* The token after the bracket that closes the one at `i`. */
static size_t behind_bracket(const struct seep_in_statement *in, size_t i)
{
    const uint16_t depth = token_of(in, i)->depth;

    for (i++; i < in->to && token_of(in, i)->depth > depth; i++)
        ;
    return i < in->to ? i + 1 : in->to;
}

static bool is_augmented(const struct seep_in_statement *in, size_t i)
{
    static const char *const words[] = {"+=", "|=", "@=", "*=", "-=", "&=", "^="};

    return READS_ONE_OF(in, i, words) && !token_of(in, i)->depth;
}

static bool is_put_method(const struct seep_in_statement *in, size_t i)
{
    static const char *const words[] = {"append", "appendleft", "extend", "extendleft",
                                        "insert", "add",        "update", "setdefault",
                                        "put",    "put_nowait", "push"};

    return seep_in_reads(in, i, ".") && READS_ONE_OF(in, i + 1, words) &&
           seep_in_reads(in, i + 2, "(");
}

/* put(None) ends a queue, count.update(1): nothing in the bracket at `i` takes memory. */
static bool puts_constants(const struct seep_in_statement *in, size_t i)
{
    static const char *const plain[] = {"None", "True", "False", ",", "-"};
    const uint16_t depth = token_of(in, i)->depth;
    size_t n = 0;

    for (i++; i < in->to && token_of(in, i)->depth > depth; i++, n++)
        if (token_of(in, i)->kind != SEEP_TOKEN_NUMBER &&
            token_of(in, i)->kind != SEEP_TOKEN_STRING && !READS_ONE_OF(in, i, plain))
            return false;
    return n > 0;
}

/* heappush(self.heap, item): the name at `i`, which ends before `end`, is the first argument. */
static bool is_put_function(const struct seep_in_statement *in, size_t i, size_t end,
                            const char *const *functions)
{
    size_t from = i, n = 0;

    while (from > in->first && i - from < MAX_CHAIN &&
           (seep_in_dotted(in, from) || seep_in_reads(in, from, ".")))
        from--;
    while (functions[n])
        n++;
    return from >= in->first + 2 && seep_in_reads(in, from - 1, "(") &&
           seep_in_reads(in, end, ",") && reads_one_of(in, from - 2, functions, n);
}

/* Whether the name that ends before `end` is a target of "=". */
static bool is_target(const struct seep_in_statement *in, size_t i, size_t end)
{
    return end <= in->equals && !token_of(in, i)->depth &&
           (seep_in_reads(in, end, "=") || seep_in_reads(in, end, ",") ||
            seep_in_reads(in, end, ":"));
}

/* for i, (a, b) in … */
static bool is_loop_variable(const struct seep_in_statement *in, size_t i)
{
    if (!seep_in_reads(in, in->first, "for") || i - in->first > MAX_CHAIN)
        return false;
    while (i > in->first && !seep_in_reads(in, i, "in"))
        i--;
    return i == in->first;
}

bool seep_in_binds(const struct seep_in_statement *in, size_t i)
{
    return is_target(in, i, i + 1) || is_augmented(in, i + 1) || is_loop_variable(in, i) ||
           (i > in->first && seep_in_reads(in, i - 1, "as"));
}

/* Whether the right side joins its parts: a + b, torch.cat([a, b]). */
static bool is_joined(const struct seep_in_statement *in)
{
    static const char *const words[] = {"+",      "cat",    "concat", "concatenate", "stack",
                                        "vstack", "hstack", "append", "union",       "chain"};

    for (size_t i = in->equals + 1; i < in->to; i++)
        if (READS_ONE_OF(in, i, words))
            return true;
    return false;
}

/* x = torch.cat([x, new]), and not x = sorted(x)[:9] */
static bool joins(const struct seep_in_statement *in, size_t i)
{
    char name[MAX_NAME];
    const struct seep_token *t = token_of(in, i);

    if (t->n >= sizeof name || !is_joined(in))
        return false;
    memcpy(name, in->tokens->text + t->at, t->n);
    name[t->n] = '\0';
    for (size_t k = in->equals + 1; k < in->to; k++)
        if (seep_in_names(in, k, name, seep_in_dotted(in, i)))
            return true;
    return false;
}

bool seep_in_copies(const struct seep_in_statement *in)
{
    static const char *const words[] = {"clone", "copy", "deepcopy"};

    for (size_t i = in->first; i < in->to; i++) {
        const bool number = seep_in_reads(in, i, "item") && !token_of(in, i)->depth;
        if ((number || READS_ONE_OF(in, i, words)) && seep_in_reads(in, i + 1, "("))
            return true;
    }
    return false;
}

enum seep_store_how seep_name_use_at(const struct seep_in_statement *in, size_t i)
{
    static const char *const more[] = {"heappush", "insort", "insort_left", "insort_right", NULL};
    static const char *const instead[] = {"heappushpop", "heapreplace", NULL};
    size_t end = i + 1;

    while (seep_in_reads(in, end, "[")) /* what lies in it: a dict of lists */
        end = behind_bracket(in, end);
    if (is_put_method(in, end))
        return puts_constants(in, end + 2) ? SEEP_STORES_NOTHING : SEEP_STORES_MORE;
    if (is_put_function(in, i, end, more))
        return SEEP_STORES_MORE;
    if (is_put_function(in, i, end, instead))
        return SEEP_STORES_ENTRY;
    if (is_augmented(in, end))
        return is_empty(in, end + 1) ? SEEP_STORES_NOTHING : SEEP_STORES_MORE;
    if (!is_target(in, i, end) || in->empty)
        return SEEP_STORES_NOTHING;
    if (end > i + 1)
        return SEEP_STORES_ENTRY;
    return joins(in, i) ? SEEP_STORES_MORE : SEEP_STORES_WHOLE;
}

/* "self.outs" up to the name at `i`, and nothing before it from `first` on. */
static bool is_whole_chain(const struct seep_in_statement *in, size_t first, size_t i)
{
    for (size_t k = first; k < i; k++)
        if ((i - k) % 2 ? !seep_in_reads(in, k, ".") : token_of(in, k)->kind != SEEP_TOKEN_NAME)
            return false;
    return i >= first;
}

/* The token after the name at `i`, and after what takes something out of its content. */
static size_t behind_entries(const struct seep_in_statement *in, size_t i)
{
    static const char *const words[] = {"get", "setdefault", "items", "values"};

    for (i++; i < in->to;) {
        const bool calls = seep_in_reads(in, i, ".") && READS_ONE_OF(in, i + 1, words) &&
                           seep_in_reads(in, i + 2, "(");
        if (!calls && !seep_in_reads(in, i, "["))
            break;
        i = behind_bracket(in, calls ? i + 2 : i);
    }
    return i;
}

bool seep_in_aliases(const struct seep_in_statement *in, size_t i, size_t *from, size_t *to)
{
    size_t end = in->to;

    if (seep_in_reads(in, in->first, "for")) {
        *from = in->first + 1;
        for (*to = *from; *to < i && !seep_in_reads(in, *to, "in"); ++*to)
            ;
        end -= seep_in_reads(in, end - 1, ":");
    } else {
        *from = in->first;
        *to = in->equals;
        if (*to != *from + 1 || token_of(in, *from)->kind != SEEP_TOKEN_NAME)
            return false;
    }
    return i > *to && is_whole_chain(in, *to + 1, i) && behind_entries(in, i) == end;
}
