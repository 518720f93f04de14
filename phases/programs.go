package phases

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/workflows"
)

// versions are files below the home directory that say which version of a program a word means.
var versions = []string{".pyenv/version", ".tool-versions", ".rustup/settings.toml", ".nvm/alias/default", ".rbenv/version", ".sdkmanrc"}

// Tools are the programs that a command names, as they are now, as far as that can be told.
func Tools(env []string, c workflows.Command) []string {
	list, _ := (&Judge{Env: env, Root: "/"}).programs(workflows.Gate{Run: c})
	return list
}

// programs are the files that words of a gate's command stand for, as they are now: programs, and what lies outside of the
// directory that it runs in. It is false when the result depends on what nobody looks at: a directory elsewhere, or what git
// says of more than the tree.
func (j *Judge) programs(g workflows.Gate) (list []string, known bool) {
	env := map[string]string{}
	for _, e := range j.Env {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	env["PWD"] = j.Root
	home := env["HOME"]
	words, known := commandWords(g.Run, env)
	if !known {
		return nil, false
	}
	// note adds a file, and reports whether there is one.
	note := func(file string) bool {
		real, err := filepath.EvalSymlinks(file)
		if err != nil {
			return false
		}
		info, err := os.Stat(real)
		if err != nil || info.IsDir() {
			return false
		}
		s := stampFor(info)
		list = append(list, fmt.Sprint(real, " ", s.size, " ", s.written.UnixNano(), " ", s.file))
		return true
	}
	moves := slices.ContainsFunc(words, func(w string) bool { return w == "cd" || w == "pushd" || w == "-C" })
	for i, w := range words {
		if home != "" && (w == "~" || strings.HasPrefix(w, "~/")) {
			w = home + w[1:]
		}
		clean := path.Clean(filepath.ToSlash(w))
		up := clean == ".." || strings.HasPrefix(clean, "../")
		switch {
		case w == "":
			continue
		case ofGit(clean, words[i+1:]), up && moves, strings.HasPrefix(w, "~") && strings.ContainsRune(w, '/'):
			return nil, false
		case up, filepath.IsAbs(w):
			if !up && (inside(w, j.Root) || slices.Contains(scratch, clean)) {
				continue
			}
			if up {
				w = filepath.Join(j.Root, filepath.FromSlash(w))
			}
			if info, err := os.Stat(w); err == nil && info.IsDir() {
				return nil, false
			}
			note(w)
			continue
		case strings.ContainsRune(w, '/'):
			continue // it is in the tree, or beside it
		}
		for _, dir := range filepath.SplitList(env["PATH"]) {
			file := filepath.Join(dir, w)
			if info, err := os.Stat(file); err == nil && !info.IsDir() && info.Mode()&fs.FileMode(0o111) != 0 && note(file) {
				break
			}
		}
	}
	for _, v := range versions {
		if home = cmp.Or(j.home, home); home != "" {
			note(filepath.Join(home, filepath.FromSlash(v)))
		}
	}
	return list, true
}

// scratch are directories that commands name to write to them.
var scratch = []string{"/", "/tmp", "/var/tmp", "/dev"}

// commandWords are the words of a command, with the values of variables. It is false when a path among them is not known.
func commandWords(c workflows.Command, env map[string]string) (words []string, known bool) {
	text := strings.Join(c.Argv, "\n")
	if words = slices.Clone(c.Argv); c.Shell != "" {
		words, text = []string{"sh"}, c.Shell
	}
	text = os.Expand(strings.ReplaceAll(text, "\x00", ""), func(name string) string {
		if value, ok := env[name]; ok {
			return value
		}
		if strings.ContainsRune(name, '/') { // ${NAME:-/what/else}
			return "\x00/"
		}
		return "\x00"
	})
	if pathUnknown(text) {
		return nil, false
	}
	text = strings.NewReplacer(`"`, "", "'", "").Replace(text)
	split := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n;|&(){}<>`$=\x00", r) })
	return append(words, split...), true
}

// pathUnknown reports whether a command's text has a path that begins with what another command prints or with a variable
// that nobody knows, here a NUL, and that is not written to.
func pathUnknown(text string) bool {
	for i := 0; i < len(text); i++ {
		end := i + 1
		switch {
		case text[i] == 0:
		case strings.HasPrefix(text[i:], "$("):
			for open := 0; end < len(text); end++ {
				if text[end] == '(' {
					open++
				} else if text[end] == ')' {
					if open--; open == 0 {
						end++
						break
					}
				}
			}
		case text[i] == '`':
			n := strings.IndexByte(text[end:], '`')
			if n < 0 {
				return false
			}
			end += n + 1
		default:
			continue
		}
		if strings.HasPrefix(strings.TrimLeft(text[end:], `"'`), "/") && !strings.HasSuffix(strings.TrimRight(text[:i], ` "'`), ">") {
			return true
		}
		if text[i] == '`' {
			i = end - 1
		}
	}
	return false
}

// ofGit reports whether a word names git, or its own files, and next are not a command of its that looks at the tree alone.
// What else it says is another thing with each commit.
func ofGit(word string, next []string) bool {
	if program := strings.TrimSuffix(path.Base(word), ".exe"); !strings.ContainsRune(word, '/') || path.IsAbs(word) {
		switch {
		case strings.HasPrefix(program, "git-"):
			return true
		case program != "git":
		case len(next) > 1 && next[0] == "rev-parse":
			return next[1] != "--show-toplevel" && next[1] != "--show-cdup"
		default:
			return len(next) == 0 || next[0] != "ls-files" && next[0] != "grep"
		}
	}
	return strings.Contains("/"+word+"/", "/.git/")
}

// inside reports whether a path is a directory or lies below it.
func inside(file, dir string) bool {
	rel, err := filepath.Rel(dir, file)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}
