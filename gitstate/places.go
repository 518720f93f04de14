package gitstate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/wfs-dev/wfs/internal/safetext"
)

// Git opens whatever is where it keeps refs, and follows links: a FIFO there, or a link to /, keeps it for ever, and
// everybody who waits for it. So what is there is looked at before it is opened, here or by git.

// Obstacle is something where git keeps refs that git would wait for, or walk through without end.
type Obstacle struct {
	Path string
	Ref  string // that should be there, or a directory of refs; "" for packed-refs
	What string // "a FIFO", "a link to a directory"
}

func (o Obstacle) Error() string { return fmt.Sprintf("%s is %s", o.Path, o.What) }

// Unwrap makes it a damaged ref.
func (o Obstacle) Unwrap() error { return ErrBrokenRef }

// oddity says what is in the place of a file, or of a directory: "" for either, and for nothing.
func oddity(file string) string {
	info, err := os.Lstat(file)
	if errors.Is(err, syscall.ELOOP) {
		return "a link that leads in a circle" // above it
	}
	if err != nil {
		return ""
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return kindOf(info.Mode())
	}
	to, err := os.Stat(file)
	switch {
	case absent(err):
		return "" // git says so itself
	case err != nil:
		return "a link that leads in a circle"
	case to.IsDir():
		return "a link to a directory"
	}
	if kind := kindOf(to.Mode()); kind != "" {
		return "a link to " + kind
	}
	return ""
}

// kindOf names what is neither a file nor a directory.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular(), mode.IsDir():
		return ""
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "no file"
}

// notFile is oddity for what has to be a file.
func notFile(file string) string {
	info, err := os.Stat(file)
	if err == nil && info.Mode().IsRegular() {
		return ""
	}
	if what := oddity(file); what != "" || err != nil {
		return what
	}
	return "a directory"
}

// Obstacles looks at every place of a ref. Links to directories count below refs of ours, and elsewhere where they do not
// lead to refs: `git new-workdir` makes such links to those of another repository.
func (r *Repo) Obstacles() []Obstacle {
	var found []Obstacle
	if packed := filepath.Join(r.commonDir, "packed-refs"); notFile(packed) != "" {
		found = append(found, Obstacle{Path: packed, What: notFile(packed)})
	}
	for _, dir := range slices.Compact([]string{r.commonDir, r.gitDir}) {
		found = append(found, obstaclesBelow(dir, "refs")...)
	}
	return found
}

// obstaclesBelow looks at what is in a directory of refs.
func obstaclesBelow(gitDir, name string) []Obstacle {
	dir := filepath.Join(gitDir, filepath.FromSlash(name))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // gone by now, or what git says of it
	}
	var found []Obstacle
	for _, e := range entries {
		if e.Type().IsRegular() {
			continue
		}
		file, below := filepath.Join(dir, e.Name()), name+"/"+e.Name()
		if e.IsDir() {
			found = append(found, obstaclesBelow(gitDir, below)...)
		} else if what := oddity(file); what != "" && (isOurs(below) || !toRefs(file)) {
			found = append(found, Obstacle{Path: file, Ref: below, What: what})
		}
	}
	return found
}

// isOurs reports whether a ref, or a directory of refs, is one of ours.
func isOurs(name string) bool {
	for _, prefix := range []string{branchPrefix, refsPrefix, opsPrefix, deletedPrefix} {
		if strings.HasPrefix(name+"/", prefix) {
			return true
		}
	}
	return false
}

// toRefs reports whether a link leads to a directory of refs, and not back to where it is.
func toRefs(link string) bool {
	to, err := filepath.EvalSymlinks(link)
	if err != nil {
		return false
	}
	info, err := os.Stat(to)
	from, fromErr := filepath.EvalSymlinks(filepath.Dir(link))
	sep := string(filepath.Separator)
	return err == nil && fromErr == nil && info.IsDir() && strings.Contains(to+sep, sep+"refs"+sep) && !strings.HasPrefix(from+sep, to+sep)
}

// readsRules are the commands of git's that open rules in the work tree.
var readsRules = strings.Fields("add ls-files status check-ignore check-attr diff-files diff-index hash-object")

// passable reports, as an Obstacle, what a git command would not come back from.
func (r *Repo) passable(args []string) error {
	if r.commonDir == "" {
		return nil
	}
	if slices.ContainsFunc(args, func(a string) bool { return slices.Contains(readsRules, a) }) {
		if err := rulesIn(r.root, r.root); err != nil {
			return err
		}
	}
	walked := walkedRefs(args)
	if len(walked) == 0 {
		return nil
	}
	for _, o := range r.Obstacles() {
		for _, dir := range walked {
			// On its way down to a directory git reads every file that is beside it, or above.
			if o.Ref == "" || strings.HasPrefix(o.Ref+"/", dir+"/") || strings.HasPrefix(dir+"/", path.Dir(o.Ref)+"/") {
				return o
			}
		}
	}
	return nil
}

// rulesIn reports, as an *UnusableError, what git would wait for where rules may be, in one directory of a work tree.
func rulesIn(top, dir string) error {
	for _, name := range []string{".gitignore", ".gitattributes"} {
		file := filepath.Join(dir, name)
		if info, err := os.Lstat(file); err == nil && info.Mode()&fs.ModeSymlink == 0 && kindOf(info.Mode()) != "" { // git follows no link here
			return &UnusableError{Dir: top, Said: fmt.Sprintf("%s is %s", file, kindOf(info.Mode())), Hint: "rm " + safetext.ShellWord(file)}
		}
	}
	return nil
}

// walkedRefs are the directories of refs that a git command goes through.
func walkedRefs(args []string) []string {
	if len(args) == 0 {
		return nil
	}
	switch args[0] {
	case "bundle", "worktree":
		return []string{"refs"}
	case "rev-list", "for-each-ref":
	default:
		return nil
	}
	var dirs []string
	for _, arg := range args[1:] {
		switch {
		case arg == "--all", arg == "--glob=refs/*":
			return []string{"refs"}
		case arg == "--branches":
			dirs = append(dirs, "refs/heads")
		case arg == "--tags":
			dirs = append(dirs, "refs/tags")
		case arg == "--remotes":
			dirs = append(dirs, "refs/remotes")
		case args[0] == "for-each-ref" && strings.HasPrefix(arg, "refs/"):
			dirs = append(dirs, strings.TrimSuffix(arg, "/"))
		}
	}
	if args[0] == "for-each-ref" && len(dirs) == 0 {
		return []string{"refs"}
	}
	return dirs
}

// notOpened reports, as an *UnusableError, what git would wait for, or read until the memory is full, in its own directory:
// it reads HEAD first, and its configuration.
func notOpened(dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		git := filepath.Join(at, ".git")
		if info, err := os.Stat(git); err == nil {
			if err := rulesIn(dir, at); err != nil {
				return err
			}
			if info.Mode().IsRegular() {
				if git = linkTo(git); git == "" {
					return nil
				}
			}
			if err := unopened(dir, git); err != nil {
				return err
			}
			common, err := readFile(filepath.Join(git, "commondir")) // of a linked work tree's
			if to := filepath.FromSlash(strings.TrimSpace(string(common))); err == nil && to != "" {
				if !filepath.IsAbs(to) {
					to = filepath.Join(git, to)
				}
				if err := unopened(dir, to); err != nil {
					return err
				}
				git = to
			}
			others, _ := os.ReadDir(filepath.Join(git, "worktrees"))
			for _, d := range others {
				if err := unopened(dir, filepath.Join(git, "worktrees", d.Name()), "HEAD", "commondir", "gitdir"); err != nil {
					return err
				}
			}
			return nil
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// linkTo is the git directory that the .git file of a work tree names, "" when it names none.
func linkTo(file string) string {
	text, err := readFile(file)
	to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
	if err != nil || !ok {
		return ""
	}
	if to = filepath.FromSlash(strings.TrimSpace(to)); !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(file), to)
	}
	return to
}

// unopened looks at the files in one git directory, or only at some.
func unopened(dir, git string, only ...string) error {
	for _, m := range mostOf {
		name, file := m.name, filepath.Join(git, filepath.FromSlash(m.name))
		if len(only) > 0 && !slices.Contains(only, name) {
			continue
		}
		if to, err := os.Readlink(file); err == nil && name == "HEAD" && strings.HasPrefix(to, "refs/") {
			continue // how git once made a symbolic ref
		}
		what := notFile(file)
		if info, err := os.Stat(file); what == "" && err == nil && info.Size() > m.most {
			what = fmt.Sprintf("%d bytes long, and the limit is %d", info.Size(), m.most)
		}
		if what != "" {
			hint := fmt.Sprintf("mv %s %s.aside", file, file)
			switch name {
			case "HEAD": // without one git takes it for no repository
				hint += " && echo ref: refs/heads/BRANCH > " + file
			case "index":
				hint += " && git reset"
			}
			return &UnusableError{Dir: dir, Said: fmt.Sprintf("%s is %s", file, what), Hint: hint}
		}
	}
	return nil
}
