# Fills the line @TABLES@ of completion.bash with what its functions ask, after tables.awk and the tables.
function take_row(macro,    n, list, i, name, dash) {
    if (macro == "COMMAND")
        words_of[field[1]] = field[2]
    if (macro != "OPTION")
        return
    n = split(field[2], list, " ")
    dash = field[3] == "0" ? "" : "-" substr(field[3], 2, 1)
    for (i = 1; i <= n; i++) {
        options[list[i]] = options[list[i]] (dash ? dash " " : "") "--" field[4] " "
        if (field[5] == "NULL" || field[5] ~ /^\[/)
            continue
        add_value(list[i] " --" field[4])
        if (dash)
            add_value(list[i] " " dash)
    }
}
function add_value(option) {
    values[++n_values] = option
    arguments[n_values] = field[5]
    suggestions[n_values] = field[6]
}
# FILE and DIR as they are; else words, which may be none.
function offer(argument, suggested,    list, n, i, words) {
    if (suggested == "NULL" && argument !~ /[|@]/)
        return argument ~ /^(FILE|DIR)$/ ? argument : ""
    if (suggested != "NULL")
        n = split(suggested, list, " ")
    else
        n = split(argument, list, "|")
    for (i = 1; i <= n; i++) {
        if (list[i] !~ /^[A-Z]/)
            words = words (words ? " " : "") expand_each(list[i])
    }
    return words
}
# "@NAME@=0" is a word for each name; a number that is left open (device:N) is 0.
function expand_each(word,    part, list, n, i, words) {
    if (split(word, part, "@") != 3)
        return word
    n = split(expand("@" part[2] "@", " "), list, " ")
    for (i = 1; i <= n; i++) {
        sub(/:N$/, ":0", list[i])
        words = words (words ? " " : "") part[1] list[i] part[3]
    }
    return words
}
$0 != "@TABLES@" {
    print
    next
}
{
    n = split(names["COMMAND"], command, " ")
    print "_seep_commands=\"" names["COMMAND"] "\""
    print "declare -gA _seep_words_of=("
    for (i = 1; i <= n; i++)
        printf "    [%s]=%s\n", command[i], words_of[command[i]]
    print ")\ndeclare -gA _seep_options=("
    for (i = 1; i <= n; i++) {
        sub(/ $/, "", options[command[i]])
        printf "    [%s]=\"%s\"\n", command[i], options[command[i]]
    }
    print ")\ndeclare -gA _seep_values=("
    for (i = 1; i <= n_values; i++)
        printf "    [\"%s\"]=\"%s\"\n", values[i], offer(arguments[i], suggestions[i])
    print ")"
}
