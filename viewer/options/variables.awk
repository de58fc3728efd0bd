# Makes the names of the variables that options.def gives to options, for all who set and read them: SEEP_VARIABLE_OUT is
# "SEEP_OUT". After tables.awk.
BEGIN {
    print "/* Made from viewer/options/options.def. */"
}
function take_row(macro) {
    if (macro == "OPTION" && field[7] ~ /^SEEP_/)
        printf "#define SEEP_VARIABLE_%s \"%s\"\n", substr(field[7], 6), field[7]
}
