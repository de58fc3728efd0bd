# Fills a page from tables, after tables.awk: a line
#   @OPTIONS@       becomes the options of the page's command,
#   @EACH NAME@     a term and its text for each row of a table: its name and its last field;
# and in other lines, and in the tables' texts, @NAME@ becomes the names of the rows.
BEGIN {
    WIDTH = 112
}
function take_row(macro,    name) {
    if (macro == "OPTION") {
        options[++n_options] = field[2]
        heads[n_options] = (field[3] != "0" ? "-" substr(field[3], 2, 1) value(field[5]) ", " : "") "--" field[4] \
            value(field[5]) (field[7] != "NULL" ? "  [" field[7] "]" : "")
        texts[n_options] = field[8]
        return
    }
    name = names[macro]
    sub(/.* /, "", name)
    for (last = 1; (last + 1) in field;)
        last++
    terms[macro] = terms[macro] name "\n" field[last] "\n"
}
function value(argument) {
    return argument == "NULL" ? "" : " " argument
}
# As lines that begin with `indent`, and the first of them with `first`.
function put(first, indent, text,    words, n, i, line) {
    n = split(text, words, " ")
    line = first words[1]
    for (i = 2; i <= n; i++) {
        if (length(line) + 1 + length(words[i]) > WIDTH) {
            print line
            line = indent words[i]
        } else
            line = line " " words[i]
    }
    print line
}
function put_term(term, text) {
    print "    " term
    put("        ", "        ", expand(text, ", "))
}
FNR == 1 {
    command = FILENAME
    gsub(/.*\/(seep-)?|\.txt$/, "", command)
}
$0 == "@OPTIONS@" {
    for (i = 1; i <= n_options; i++) {
        if (index(" " options[i] " ", " " command " "))
            put_term(expand(heads[i], "|"), texts[i])
    }
    next
}
/^@EACH [A-Z_]+@$/ {
    n = split(terms[substr($2, 1, length($2) - 1)], each, "\n")
    for (i = 1; i < n; i += 2)
        put_term(each[i], each[i + 1])
    next
}
/@[A-Z_]+( [a-z]+)?@/ {
    $0 = expand($0, ", ")
    match($0, /^ */)
    indent = substr($0, 1, RLENGTH)
    if (length($0) > WIDTH)
        put(indent, indent, substr($0, RLENGTH + 1))
    else
        print
    next
}
{ print }
