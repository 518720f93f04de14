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

// versions are files below the home directory that say which version of a program a word means.
var versions = []string{".pyenv/version", ".tool-versions", ".rustup/settings.toml", ".nvm/alias/default",
	".rbenv/version", ".sdkmanrc"}

// Tools are the programs that a command names, as they are now: a new version of one is another tool. env is the
// environment that it runs in.
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

// program is the program that a word means, "" for none.
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

// tool tells a file from others, and from itself before it was changed; "" for none.
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

// Value is that of a variable in an environment, "" for none.
func Value(env []string, name string) string {
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
