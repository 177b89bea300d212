# Completions of forage for fish, printed by `forage completions fish`.
function __forage_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] completions line -- $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path (string replace -r -- '^--[^=]*=' '' "$current")
            case :folders
                __fish_complete_directories (string replace -r -- '^--[^=]*=' '' "$current")
            case '*'
                echo $line
        end
    end
end
complete -c forage -f -a '(__forage_complete)'
complete -c forage-mcp -f -a '(__forage_complete)'
