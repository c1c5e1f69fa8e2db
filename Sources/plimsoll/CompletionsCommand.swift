import ArgumentParser

struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Prints a script with which a shell completes commands, options, files and names.",
        discussion: """
            The script goes where the shell looks for it; it takes effect in the next shell.

              bash   ~/.local/share/bash-completion/completions/plimsoll
              zsh    _plimsoll in a folder of fpath
              fish   ~/.config/fish/completions/plimsoll.fish

            A shell then completes scenario files, policies, folders of runs, the apps of the scenario or run that the \
            command names, metrics, and the keys of --set and --vary.

            EXAMPLES
              plimsoll completions bash > plimsoll.bash
              plimsoll completions zsh > _plimsoll
              plimsoll completions fish > plimsoll.fish
            """)

    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash
        case zsh
        case fish
    }

    @Argument(help: "The shell.")
    var shell: Shell

    func run() throws {
        try reporting {
            let script: String
            switch shell {
            case .bash: script = Plimsoll.completionScript(for: .bash) + CompletionsCommand.stay
            case .zsh: script = CompletionsCommand.staying(Plimsoll.completionScript(for: .zsh))
            case .fish: script = Plimsoll.completionScript(for: .fish)
            }
            Terminal.say(script)
            return .success
        }
    }

    /// Keeps bash from adding a space after a word that the user continues: a key up to its dot or equals sign.
    private static let stay = """


        _plimsoll_and_stay() {
            # `plimsoll sweep` without a command of its own is `plimsoll sweep run`.
            if [[ ${COMP_WORDS[1]} == sweep && $COMP_CWORD -ge 2 && ! ${COMP_WORDS[2]} =~ ^(run|merge)$ ]]; then
                local words=()
                [[ $COMP_CWORD -eq 2 ]] && _plimsoll "$@" && words=("${COMPREPLY[@]}")
                local -a COMP_WORDS=("${COMP_WORDS[@]:0:2}" run "${COMP_WORDS[@]:2}")
                local -i COMP_CWORD=$((COMP_CWORD + 1)) COMP_POINT=$((COMP_POINT + 4))
                local COMP_LINE="${COMP_LINE/ sweep / sweep run }"
                COMPREPLY=()
                _plimsoll "$@"
                COMPREPLY+=("${words[@]}")
            else
                _plimsoll "$@"
            fi
            # More follows the dot of a key and its equals sign, which bash would quote as in a file name.
            if [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} == *[=.] ]]; then
                compopt -o nospace +o filenames
            fi
        }
        complete -o filenames -F _plimsoll_and_stay plimsoll
        """

    /// Keeps zsh from adding a space after a word that the user continues.
    private static func staying(_ script: String) -> String {
        script.replacing(
            "_describe -V '' non_empty_completions --",
            with: """
                local -ar open_completions=("${(M)non_empty_completions[@]:#*[=./]}")
                    [[ ${#open_completions} -gt 0 ]] && compadd -Q -S '' -- "${open_completions[@]}"
                    local -ar whole_completions=("${non_empty_completions[@]:#*[=./]}")
                    _describe -V '' whole_completions --
                """)
    }
}
