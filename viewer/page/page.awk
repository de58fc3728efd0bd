# Cuts page.html at the places of its policy and its data, which the command puts in, and puts in what it takes in: a line
# "<!-- seep: NAME -->" becomes the files that -v NAME="FILE..." lists. -v part=head, middle, tail or look says which of the three
# parts is printed; look is the tail with other scripts.
function wanted() {
    return past == (part == "head" ? 0 : part == "middle" ? 1 : 2) # tail, look
}

/^<!-- seep: (policy|data) -->$/ {
    past++
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
