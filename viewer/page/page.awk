# Cuts page.html at the place of its data, and puts in what it takes in: a line "<!-- seep: NAME -->" becomes the files
# that -v NAME="FILE..." lists; "<!-- seep: data -->" is the cut. -v part=head or tail says which part is printed.
function wanted() {
    return past == (part == "tail")
}

/^<!-- seep: data -->$/ {
    past = 1
    next
}

/^<!-- seep: [a-z0-9]+ -->$/ {
    n = split($3 == "css" ? css : $3 == "d3" ? d3 : js, files, " ")
    for (i = 1; wanted() && i <= n; i++) {
        while ((got = (getline line <files[i])) > 0)
            print line
        if (got < 0) {
            printf "page.awk: %s cannot be read\n", files[i] >"/dev/stderr"
            exit 1
        }
    }
    next
}

wanted()
