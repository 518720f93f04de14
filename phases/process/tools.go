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
	note := func(file string) bool {
		real, err := filepath.EvalSymlinks(file)
		if err != nil {
			return false
		}
		info, err := os.Stat(real)
		if err != nil || info.IsDir() {
			return false
		}
		list = append(list, fmt.Sprint(real, " ", info.Size(), " ", info.ModTime().UnixNano()))
		return true
	}
	value := func(name string) string {
		at := slices.IndexFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		if at < 0 {
			return ""
		}
		return env[at][len(name)+1:]
	}
	words := slices.Clone(c.Argv)
	if c.Shell != "" {
		words = strings.FieldsFunc(c.Shell, func(r rune) bool { return strings.ContainsRune(" \t\n;|&(){}<>`$=\"'", r) })
	}
	for _, w := range words {
		if strings.ContainsRune(w, '/') {
			continue
		}
		for _, dir := range filepath.SplitList(value("PATH")) {
			file := filepath.Join(dir, w)
			info, err := os.Stat(file)
			if err == nil && !info.IsDir() && info.Mode()&fs.FileMode(0o111) != 0 && note(file) {
				break
			}
		}
	}
	if home := value("HOME"); home != "" {
		for _, v := range versions {
			note(filepath.Join(home, filepath.FromSlash(v)))
		}
	}
	return list
}
