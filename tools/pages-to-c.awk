# Makes a C table of the pages: seep-run.txt becomes the page "run", seep.txt the page "seep".
BEGIN {
    print "#include \"viewer/help_pages.h\"\n"
    print "const struct seep_help_page seep_help_pages[] = {"
}
FNR == 1 {
    if (NR > 1)
        print "     },"
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\.txt$/, "", name)
    sub(/^seep-/, "", name)
    printf "    {\"%s\",\n", name
}
{
    gsub(/\\/, "\\\\")
    gsub(/"/, "\\\"")
    printf "     \"%s\\n\"\n", $0
}
END {
    if (NR > 0)
        print "     },"
    print "    {0, 0},\n};"
}
