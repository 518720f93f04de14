package process

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/workflows"
)

// versions are files below the home directory in which version managers store the chosen versions of programs.
var versions = []string{".pyenv/version", ".tool-versions", ".rustup/settings.toml", ".nvm/alias/default",
	".rbenv/version", ".sdkmanrc"}

// Tools returns a text for each program that a command names, and for each file in versions. The texts change when a
// program is updated, so compare them to notice an update. env is the command's environment.
func Tools(env []string, c workflows.Command) []string {
	var list []string
	words := slices.Clone(c.Argv)
	if c.Shell != "" {
		words = strings.FieldsFunc(c.Shell, func(r rune) bool { return strings.ContainsRune(" \t\n;|&(){}<>`$=\"'", r) })
	}
	for _, w := range words {
		if tool := program(w, Value(env, "PATH")); tool != "" {
			list = append(list, tool)
		}
	}
	home := Value(env, "HOME")
	for _, v := range versions {
		if tool, _ := tool(filepath.Join(home, filepath.FromSlash(v))); home != "" && tool != "" {
			list = append(list, tool)
		}
	}
	return list
}

// program returns the text for the program that a word of a command names; "" if it names none.
func program(word, path string) string {
	if strings.ContainsRune(word, '/') {
		return ""
	}
	for _, dir := range filepath.SplitList(path) {
		if t, mode := tool(filepath.Join(dir, word)); mode&0o111 != 0 {
			return t
		}
	}
	return ""
}

// tool returns a text that changes when a file changes: its path, size and time. It is "" if there is no such file.
func tool(file string) (id string, mode fs.FileMode) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", 0
	}
	info, err := os.Stat(real)
	if err != nil || info.IsDir() {
		return "", 0
	}
	return fmt.Sprint(real, " ", info.Size(), " ", info.ModTime().UnixNano()), info.Mode()
}

// Value returns the value of a variable in an environment; "" if it is not set.
func Value(env []string, name string) string {
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
