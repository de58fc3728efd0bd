# Reads tables of rows SEEP_NAME(field, "text " "joined", …), as the compiler does. Of each row `field[1]`, … are set and
# take_row("NAME") is called, which the script after this one defines; names["NAME"] are the names of that table's
# rows so far, as words ("host mmap shm"): of each the first word in quotes, or else the first field.

# The rest of a row, from its first field on.
function read_row(text, macro,    n, name, part) {
    for (n in field)
        delete field[n]
    n = 1
    while (text != "") {
        if (match(text, /^"([^"\\]|\\.)*"/)) {
            part = unescape(substr(text, 2, RLENGTH - 2))
            if (name == "" && part !~ / /)
                name = part
            field[n] = field[n] part
        } else if (match(text, /^,/))
            n++
        else if (match(text, /^[^", \t\n]+/))
            field[n] = field[n] substr(text, 1, RLENGTH)
        else
            match(text, /^[ \t\n]+/)
        text = substr(text, RLENGTH + 1)
    }
    names[macro] = names[macro] (names[macro] ? " " : "") (name == "" ? field[1] : name)
    take_row(macro)
}

function unescape(text) {
    gsub(/\\"/, "\"", text)
    gsub(/\\\\/, "\\", text)
    return text
}

# In a text "@NAME@" stands for the names of that table's rows, "@NAME or@" too, with that word before the last.
function expand(text, between,    place, word, list, n, i, all) {
    while (match(text, /@[A-Z_]+( [a-z]+)?@/)) {
        split(substr(text, RSTART + 1, RLENGTH - 2), place, " ")
        word = place[2] == "" ? between : " " place[2] " "
        n = split(names[place[1]], list, " ")
        if (!n) {
            print "nothing is called " place[1] ": " text > "/dev/stderr"
            exit 1
        }
        all = list[1]
        for (i = 2; i <= n; i++)
            all = all (i < n ? between : word) list[i]
        text = substr(text, 1, RSTART - 1) all substr(text, RSTART + RLENGTH)
    }
    return text
}

FILENAME ~ /\.def$/ && /^SEEP_[A-Z_]+\(/ {
    if (macro != "") {
        print FILENAME ":" FNR ": the row above does not end its line" > "/dev/stderr"
        exit 1
    }
    split($0, opened, "(")
    macro = substr(opened[1], 6)
    row = ""
    $0 = substr($0, length(opened[1]) + 2)
}
FILENAME ~ /\.def$/ && macro != "" {
    row = row $0 "\n"
    if (/\)$/) {
        sub(/\)\n$/, "", row)
        read_row(row, macro)
        macro = ""
    }
}
FILENAME ~ /\.def$/ { next }
