# bash completion for seep

_seep_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

_seep_folders() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -d -- "$1")
}

_seep_words() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

# The options of `run` and `doctor` end where the job's command begins: from there on it completes itself.
_seep_job() {
    local word=$1 i=2
    while ((i < COMP_CWORD)); do
        case ${COMP_WORDS[i]} in
        --)
            ((i++))
            break
            ;;
        -o | --output | --sample | --max-profile) ((i += 2)) ;;
        -*) ((i++)) ;;
        *) break ;;
        esac
    done
    if ((i < COMP_CWORD)) && declare -F _command_offset >/dev/null; then
        _command_offset "$i"
    elif ((i <= COMP_CWORD)) && [[ $word != -* || ${COMP_WORDS[COMP_CWORD - 1]} == -- ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -c -- "$word"; compgen -f -- "$word")
    else
        return 1
    fi
}

_seep() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local commands="run report doctor help version"

    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _seep_words "$commands --help --version" "$word"
        return
    fi
    case ${COMP_WORDS[1]} in
    run)
        case $before in
        -o | --output) _seep_folders "$word" ;;
        --sample) _seep_words "64KiB 512KiB 1MiB" "$word" ;;
        --max-profile) _seep_words "64MiB 256MiB 1GiB" "$word" ;;
        *)
            _seep_job "$word" ||
                _seep_words "-o --output -q --quiet --no-report --sample --max-profile \
                    --python-allocators -h --help --" "$word"
            ;;
        esac
        ;;
    report)
        case $before in
        --format) _seep_words "text json" "$word" ;;
        -o | --output) _seep_files "$word" ;;
        *)
            if [[ $word == -* ]]; then
                _seep_words "--format -o --output --all -h --help" "$word"
            else
                _seep_folders "$word"
            fi
            ;;
        esac
        ;;
    doctor) _seep_job "$word" || _seep_words "-h --help --" "$word" ;;
    help) _seep_words "$commands" "$word" ;;
    esac
}

complete -F _seep seep
