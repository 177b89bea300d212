# Completions of forage for bash, printed by `forage completions bash`.
_forage()
{
    local words=() count=0 piece glue='' line
    for piece in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if ((count)) && [[ $glue || $piece =~ ^[:=]+$ ]]; then
            words[count - 1]+=$piece
        else
            words[count++]=$piece
        fi
        glue=''
        [[ $piece =~ ^[:=]+$ ]] && glue=1
    done
    [[ $glue ]] && piece=''
    local before=${words[count - 1]%"$piece"}
    COMPREPLY=()
    while IFS=$'\t' read -r line _; do
        case $line in
            :files | :folders)
                local kind=-f
                [[ $line == :folders ]] && kind=-d
                compopt -o filenames 2>/dev/null
                while read -r line; do
                    COMPREPLY+=("$line")
                done < <(compgen $kind -- "$piece")
                ;;
            *)
                COMPREPLY+=("${line#"$before"}")
                [[ $line == *= ]] && compopt -o nospace 2>/dev/null
                ;;
        esac
    done < <("${COMP_WORDS[0]}" completions line -- "${words[@]}" 2>/dev/null)
}
complete -F _forage forage forage-mcp
