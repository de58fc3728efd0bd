#include "libprof/export/pickle.h"

#include <string.h>

/* The opcodes, named as in Lib/pickle.py. */
enum {
    PROTO = 0x80,
    STOP = '.',
    MARK = '(',
    EMPTY_DICT = '}',
    SETITEMS = 'u',
    EMPTY_LIST = ']',
    APPENDS = 'e',
    BINUNICODE = 'X',
    BININT = 'J',
    LONG1 = 0x8a,
    NEWTRUE = 0x88,
    NEWFALSE = 0x89,
    TUPLE2 = 0x86,
    LONG_BINPUT = 'r',
    LONG_BINGET = 'j',
    PROTOCOL = 2,
};

static void put_bytes(FILE *out, uint64_t n, int bytes)
{
    for (int i = 0; i < bytes; i++)
        fputc((int)(n >> (8 * i) & 0xff), out);
}

void seep_pickle_begin(FILE *out)
{
    fputc(PROTO, out);
    fputc(PROTOCOL, out);
}

void seep_pickle_end(FILE *out)
{
    fputc(STOP, out);
}

void seep_pickle_dict(FILE *out)
{
    fputc(EMPTY_DICT, out);
    fputc(MARK, out);
}

void seep_pickle_dict_end(FILE *out)
{
    fputc(SETITEMS, out);
}

void seep_pickle_list(FILE *out)
{
    fputc(EMPTY_LIST, out);
    fputc(MARK, out);
}

void seep_pickle_list_more(FILE *out)
{
    fputc(APPENDS, out);
    fputc(MARK, out);
}

void seep_pickle_list_end(FILE *out)
{
    fputc(APPENDS, out);
}

void seep_pickle_text(FILE *out, const char *text)
{
    const size_t n = strlen(text);

    fputc(BINUNICODE, out);
    put_bytes(out, n, 4);
    fwrite(text, 1, n, out);
}

void seep_pickle_int(FILE *out, int64_t n)
{
    if (n == (int32_t)n) {
        fputc(BININT, out);
        put_bytes(out, (uint64_t)n, 4);
    } else {
        fputc(LONG1, out);
        fputc(8, out);
        put_bytes(out, (uint64_t)n, 8);
    }
}

void seep_pickle_bool(FILE *out, bool b)
{
    fputc(b ? NEWTRUE : NEWFALSE, out);
}

void seep_pickle_pair(FILE *out, int64_t a, int64_t b)
{
    seep_pickle_int(out, a);
    seep_pickle_int(out, b);
    fputc(TUPLE2, out);
}

void seep_pickle_item_text(FILE *out, const char *key, const char *text)
{
    seep_pickle_text(out, key);
    seep_pickle_text(out, text);
}

void seep_pickle_item_int(FILE *out, const char *key, int64_t n)
{
    seep_pickle_text(out, key);
    seep_pickle_int(out, n);
}

void seep_pickle_remember(FILE *out, uint32_t number)
{
    fputc(LONG_BINPUT, out);
    put_bytes(out, number, 4);
}

void seep_pickle_again(FILE *out, uint32_t number)
{
    fputc(LONG_BINGET, out);
    put_bytes(out, number, 4);
}
