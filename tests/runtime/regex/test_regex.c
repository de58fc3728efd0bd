/* Regular expressions work as libc's do. */
#include "libprof/runtime/regex/regex.h"

#include "tests/suite.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

static bool libc_takes(const char *pattern, regex_t *regex)
{
    return regcomp(regex, pattern, REG_EXTENDED | REG_NOSUB) == 0;
}

static void check_text(const struct seep_regex *ours, regex_t *theirs, const char *pattern,
                       const char *text)
{
    const bool expected = regexec(theirs, text, 0, NULL, 0) == 0;
    ck_assert_msg(seep_regex_matches(ours, text) == expected, "/%s/ of \"%s\": %s", pattern, text,
                  expected ? "matches" : "does not match");
}

static const char *const patterns[] = {
    "step",
    "^step$",
    "^step_[0-9]+$",
    "(train|fit)_step",
    "a*",
    "",
    "a|",
    "()",
    "(a|b)*c",
    "^(ab){2,3}$",
    "a{0}b",
    "a{2}",
    "a{,2}c",
    "a{2,}c",
    "[[:digit:]_-]+x",
    "[]a]b",
    "[^]a]b",
    "[^a-c]",
    "a.c",
    "\\.\\*",
    "\\w+\\s\\W",
    "\\S$",
    "(^a|b$)",
    "x(^a)",
    "(a*)*b",
    "(a|ab)(c|bcd)",
    "a+?",
    "a**b",
    "^$",
    "(a{1,2}){2}c",
    "([ab]|c)+d",
    "Step ?#[0-9]{1,4}",
    "iter(ation)?[ :]",
    "[a\\]b",
    "a$b",
    "((a?){3}b){2}",
    "[[:alpha:]]{3}",
    "a]",
    "a}",
    "x{1,3}{2}y",
};

static const char *const texts[] = {
    "",      "step",  "step_12",  "step_",      "train_step", "my fit_step 3",
    "a",     "b",     "ab",       "abab",       "ababab",     "abababab",
    "aac",   "ac",    "c",        "12_-x",      "]b",         "a.c",
    "abc",   ".*",    "word \t!", " ",          "xa",         "aaab",
    "abcd",  "acbcd", "Step #42", "iteration:", "iter ",      "aabaab",
    "d",     "cd",    "\xc3\xa4", "a]",         "a}",         "xxy",
    "xxxxy", "\\b",
};

TEST(an_expression_says_what_libcs_says, .to = N(patterns))
{
    struct seep_regex ours;
    regex_t theirs;
    ck_assert(libc_takes(patterns[_i], &theirs));
    ck_assert_ptr_null(seep_regex_compile(&ours, patterns[_i]));
    for (size_t t = 0; t < N(texts); t++)
        check_text(&ours, &theirs, patterns[_i], texts[t]);
    regfree(&theirs);
}

static uint64_t state;

static unsigned random_below(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 11) % n;
}

static void random_text(char *text, const char *const *pieces, unsigned n_pieces, unsigned most)
{
    *text = '\0';
    for (unsigned n = random_below(most); n; n--)
        strcat(text, pieces[random_below(n_pieces)]);
}

/* Whatever both take, they read alike; and what is not taken matches nothing. */
TEST(so_it_is_with_expressions_nobody_thought_of, .to = 20)
{
    static const char *const of_patterns[] = {"a", "b", "c",   "(",     ")",    "|",
                                              "*", "+", "?",   ".",     "[ab]", "[^a]",
                                              "^", "$", "{2}", "{1,2}", "{,1}"};
    static const char *const of_texts[] = {"a", "b", "c"};
    unsigned n_taken = 0;
    state = 0x9e3779b97f4a7c15u + (uint64_t)_i;
    for (unsigned i = 0; i < 500; i++) {
        char pattern[64], text[32];
        struct seep_regex ours;
        regex_t theirs;
        random_text(pattern, of_patterns, N(of_patterns), 8);
        const bool taken = libc_takes(pattern, &theirs);
        const char *wrong = seep_regex_compile(&ours, pattern);
        if (!taken && wrong)
            continue;
        ck_assert_msg(taken, "/%s/ is taken, but not by libc", pattern);
        n_taken += !wrong;
        for (unsigned t = 0; t < 40; t++) {
            random_text(text, of_texts, N(of_texts), 10);
            if (wrong)
                ck_assert(!seep_regex_matches(&ours, text));
            else
                check_text(&ours, &theirs, pattern, text);
        }
        regfree(&theirs);
    }
    ck_assert_uint_gt(n_taken, 50);
}

static const struct {
    const char *pattern, *said;
} wrong[] = {
    {"(a", "a ( has no )"},
    {"a)", "a ) has no ("},
    {"[a", "a [ has no ]"},
    {"*a", "nothing to repeat"},
    {"a{3,2}", "{2,3}"},
    {"a{x}", "{2,3}"},
    {"step_\\d+", "a digit is [0-9]"},
    {"a\\", "ends with a backslash"},
    {"[[:digits:]]", "class"},
    {"[b-a]", "range"},
    {"a{256}", "too often"},
    {"(a{200}){200}", "too long"},
};

TEST(what_is_wrong_is_said_and_matches_nothing, .to = N(wrong))
{
    struct seep_regex regex;
    const char *said = seep_regex_compile(&regex, wrong[_i].pattern);
    ck_assert_ptr_nonnull(said);
    ck_assert_msg(strstr(said, wrong[_i].said), "/%s/: %s", wrong[_i].pattern, said);
    ck_assert(!seep_regex_matches(&regex, "a"));
    ck_assert(!seep_regex_matches(&regex, ""));
}

/* Where others go back and try again, this takes a time in proportion to the text. */
TEST(no_text_takes_long)
{
    static char text[20001];
    struct seep_regex regex;
    memset(text, 'a', sizeof(text) - 1);
    ck_assert_ptr_null(seep_regex_compile(&regex, "^(a*)*(a|a)*b$"));
    ck_assert(!seep_regex_matches(&regex, text));
}

TEST(any_bytes_are_an_expression_or_none)
{
    state = 12345;
    for (unsigned i = 0; i < 20000; i++) {
        char pattern[24] = "";
        struct seep_regex regex;
        const unsigned n = random_below(sizeof(pattern) - 1);
        for (unsigned k = 0; k < n; k++)
            pattern[k] = random_below(4) ? "([{}])|*+?\\^$a-:,1."[random_below(19)]
                                         : (char)random_below(256);
        if (!seep_regex_compile(&regex, pattern))
            (void)seep_regex_matches(&regex, pattern);
    }
}

SUITE("regular expressions")
