/* How a node of the heap is reached from another one: a kind, what is needed to name it, and how
 * far it is believed. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_LABEL_H
#define SEEP_LIBPROF_WHO_GRAPH_LABEL_H

#include <stdint.h>

enum seep_label_kind {
    SEEP_LABEL_NONE,
    SEEP_LABEL_ATTRIBUTE, /* address of the name, a str */
    SEEP_LABEL_MEMBER,    /* address of the name, a C string of the type's */
    SEEP_LABEL_KNOWN,     /* index of a field of CPython or a library (py_fields.h) */
    SEEP_LABEL_WORD,      /* index in seep_label_words */
    SEEP_LABEL_KEY,       /* address of the key */
    SEEP_LABEL_ENTRY,     /* the same, of a str: an attribute's name if the dict has attributes */
    SEEP_LABEL_INDEX,     /* the index */
    SEEP_LABEL_LOCAL,     /* address of the variable's name, a str */
    SEEP_LABEL_TEMPORARY, /* on a frame's stack */
    SEEP_LABEL_OFFSET,    /* bytes into the node */
    SEEP_LABEL_ADDRESS,   /* of the word, in data of a program or library, or on a stack */
    SEEP_LABEL_HIDDEN,    /* not shown: the user sees both as one */
    SEEP_LABEL_MODULE,    /* address of the name, a str */
};

typedef uint64_t seep_label;

static inline seep_label seep_label_of(enum seep_label_kind kind, uint64_t value)
{
    return (uint64_t)kind << 56 | (value & UINT64_C(0xffffffffffffff));
}

static inline enum seep_label_kind seep_label_kind(seep_label label)
{
    return (enum seep_label_kind)(label >> 56);
}

static inline uint64_t seep_label_value(seep_label label)
{
    return label & UINT64_C(0xffffffffffffff);
}

/* What else is known of an edge. */
enum seep_edge_mark {
    SEEP_EDGE_EXACT = 1,     /* certainly a reference, not a word that looks like one */
    SEEP_EDGE_OBJECT = 2,    /* such a word, to where an object begins */
    SEEP_EDGE_INNER = 4,     /* to the inside of a block of C's: believed only where the block is
                              * otherwise lost */
    SEEP_EDGE_DEEP = 8,      /* from far inside a large block, as above */
    SEEP_EDGE_BORROWED = 16, /* to memory that somebody else owns */
};

/* Words for labels of kind SEEP_LABEL_WORD. */
enum seep_label_word {
    SEEP_WORD_KEY,
    SEEP_WORD_ELEMENT,
    SEEP_WORD_CLOSURE,
    SEEP_WORD_DEFAULTS,
    SEEP_WORD_KWDEFAULTS,
    SEEP_WORD_CODE,
    SEEP_WORD_GLOBALS,
    SEEP_WORD_BUILTINS,
    SEEP_WORD_FUNCTION,
    SEEP_WORD_BASES,
    SEEP_WORD_CLASS,
    SEEP_WORD_STATE,
    SEEP_WORD_CALLBACK,
    SEEP_WORD_DATA,
    SEEP_WORD_MODULES,
    SEEP_WORD_THREAD,
    SEEP_WORD_CACHE,
};
const char *seep_label_word_text(enum seep_label_word word);

#endif
