# Makes a manual page of a plain text. The text is laid out as man(1) shows it:
#   column 0   a section's name (the first line is "name - purpose")
#   column 4   a paragraph; right above lines at column 8 it is a term and they explain it
#   column 6 and 12   an example, kept as it stands
function escape(s) {
    gsub(/\\/, "\\e", s)
    gsub(/-/, "\\-", s)
    if (s ~ /^[.']/)
        s = "\\&" s
    return s
}
function leave_example() {
    if (example) {
        print ".fi"
        if (example > 6)
            print ".RE"
    }
    example = 0
}
{ lines[NR] = $0 }
END {
    split(lines[1], word, " ")
    name = word[1]
    printf ".TH %s 1 \"\" \"seep %s\" \"seep manual\"\n", toupper(escape(name)), version
    print ".SH NAME"
    print escape(lines[1])
    for (i = 2; i <= NR; i++) {
        match(lines[i], /^ */)
        indent = RLENGTH
        text = escape(substr(lines[i], indent + 1))
        if (text == "") {
            if (example)
                print ""
            blank = 1
            continue
        }
        if (indent != 6 && indent < 12)
            leave_example()
        if (indent == 0) {
            printf ".SH %s\n", text
            synopsis = text == "SYNOPSIS"
        } else if (indent == 6 || indent >= 12) {
            if (!example) {
                print blank && indent < 12 ? ".PP" : ".RS"
                print ".nf"
                example = indent
            }
            print text
        } else if (indent == 4 && lines[i + 1] ~ /^        [^ ]/) {
            print ".TP"
            print ".B " text
        } else if (indent == 8) {
            if (blank)
                print ".IP"
            print text
        } else {
            if (blank || term)
                print ".PP"
            print text
            if (synopsis)
                print ".br"
        }
        term = indent == 8
        blank = 0
    }
    leave_example()
}
