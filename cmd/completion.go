package cmd

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/workflows/spelling"
)

var shells = []string{"bash", "zsh", "fish"}

type completionJSON struct {
	Version int    `json:"version"`
	Shell   string `json:"shell"`
	Script  string `json:"script"`
}

type completionVerb struct{ *app }

func (a *completionVerb) command() *cobra.Command {
	return &cobra.Command{
		Use: "completion SHELL", Short: "shell completion for commands, sessions and checkpoints",
		Long: `Completion prints a script for bash, zsh or fish. With it the shell completes commands and flags, and
what is in the repository: sessions, checkpoints (also auth@4), branches, workflows, phases.

To have it in every new shell:

  bash        echo 'source <(wfs completion bash)' >> ~/.bashrc
  zsh         wfs completion zsh > "${fpath[1]}/_wfs"
              (compinit must be loaded: autoload -U compinit; compinit, in ~/.zshrc)
  fish        wfs completion fish > ~/.config/fish/completions/wfs.fish`,
		Example: "  wfs completion bash\n  wfs completion fish > ~/.config/fish/completions/wfs.fish",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && slices.Contains(shells, args[0]) {
				return nil
			}
			e := usage("wfs completion --help",
				"completion needs the name of a shell: %s", strings.Join(shells, ", "))
			if near := spelling.Suggest(first(args), shells); near != "" {
				e.Hint = "wfs completion " + near
			}
			return e
		},
		RunE: func(c *cobra.Command, args []string) error {
			script, err := completionScript(c.Root(), args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.answer(completionJSON{jsonVersion, args[0], script})
			}
			_, err = fmt.Fprint(a.env.Stdout, script)
			return err
		},
	}
}

func completionScript(root *cobra.Command, shell string) (string, error) {
	var b bytes.Buffer
	var err error
	switch shell {
	case "bash":
		err = root.GenBashCompletionV2(&b, true)
		return bashAddresses.Replace(b.String()), err
	case "zsh":
		err = root.GenZshCompletion(&b)
	case "fish":
		err = root.GenFishCompletion(&b, true)
	}
	return b.String(), err
}

// bashAddresses changes the generated bash script in two ways. It completes auth@4 as one word, although bash splits
// words at @. And the script works without the package bash-completion, whose functions it would otherwise need.
var bashAddresses = strings.NewReplacer(
	"-n =: ||", "-n =:@ ||",
	`__wfs_handle_special_char "$cur" =`, `__wfs_handle_special_char "$cur" =
    if [[ $cur == *@* && $COMP_WORDBREAKS == *@* ]]; then
        local at
        for at in ${!COMPREPLY[*]}; do COMPREPLY[at]=${COMPREPLY[at]#"${cur%@*}"}; done
    fi`,
	`    _get_comp_words_by_ref "$@" cur prev words cword
`, `    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    local line=${COMP_LINE:0:COMP_POINT}
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    cword=$((${#words[@]} - 1))
    cur=${words[cword]}
    prev=${words[cword > 0 ? cword - 1 : 0]}
`,
	"_filedir -d", `COMPREPLY=($(compgen -d -- "$cur"))`,
)
