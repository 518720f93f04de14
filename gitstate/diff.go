package gitstate

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/session"
)

// treeChange is one difference between two trees, as git lists it.
type treeChange struct {
	session.Change
	oldMode, newMode string // modeNone where there is nothing
	oldID, newID     string
}

// Changes lists the differences between two trees, without renames, in the order of git's path names. "" is the empty
// tree.
func (r *Repo) Changes(ctx context.Context, from, to session.Tree) ([]session.Change, error) {
	list, err := r.diffTrees(ctx, from, to)
	return plainChanges(list), err
}

func plainChanges(list []treeChange) []session.Change {
	var changes []session.Change
	for _, c := range list {
		changes = append(changes, c.Change)
	}
	return changes
}

// Lines counts the lines that differ between two trees, by file.
func (r *Repo) Lines(ctx context.Context, from, to session.Tree) ([]session.FileLines, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "diff-tree", everySubmodule, "-r", "-z", "--numstat", "--no-renames",
		"--no-ext-diff", "--no-textconv",
		string(r.orEmpty(from)), string(r.orEmpty(to)))
	if err != nil {
		return nil, err
	}
	var files []session.FileLines
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		fields := strings.SplitN(line, "\t", 3)
		if len(fields) != 3 {
			continue
		}
		f := session.FileLines{Path: fields[2], Binary: fields[0] == "-"}
		f.Added, _ = strconv.Atoi(fields[0])
		f.Removed, _ = strconv.Atoi(fields[1])
		files = append(files, f)
	}
	return files, nil
}

// everySubmodule tells git to compare submodules as all else. Without it git reads submodule.<name>.ignore,
// which an agent can set, in the configuration and the .gitmodules of the work tree, and fails when it cannot
// parse the latter.
const everySubmodule = "--ignore-submodules=none"

func (r *Repo) diffTrees(ctx context.Context, from, to session.Tree) ([]treeChange, error) {
	from, to = r.orEmpty(from), r.orEmpty(to)
	if from == to {
		return nil, nil
	}
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "diff-tree", everySubmodule, "-r", "-z", "--raw", "--no-renames", "--full-index",
		"--no-abbrev",
		string(from), string(to))
	if err != nil {
		return nil, err
	}
	return parseRaw(out)
}

// indexChanges lists how the files of an index differ from those of another one. What has conflicts, or no
// content, is not there.
func (r *Repo) indexChanges(before, now *index) (changes []treeChange) {
	files := func(x *index) []indexEntry {
		absent := func(e indexEntry) bool { return e.stage != 0 || e.intended }
		if slices.ContainsFunc(x.entries, absent) {
			return slices.DeleteFunc(slices.Clone(x.entries), absent)
		}
		return x.entries
	}
	was, is := files(before), files(now)
	for len(was) > 0 || len(is) > 0 {
		order := 0
		switch {
		case len(was) == 0:
			order = 1
		case len(is) == 0:
			order = -1
		default:
			order = bytes.Compare(was[0].name, is[0].name)
		}
		if order == 0 && was[0].mode == is[0].mode && bytes.Equal(was[0].id, is[0].id) {
			was, is = was[1:], is[1:]
			continue
		}
		c := treeChange{oldMode: modeNone, newMode: modeNone, oldID: r.zero(), newID: r.zero()}
		if order <= 0 {
			c.Path, c.Status, c.oldMode, c.oldID = string(was[0].name), "D", fmt.Sprintf("%06o",
				was[0].mode), hex.EncodeToString(was[0].id)
			was = was[1:]
		}
		if order >= 0 {
			c.Path, c.newMode, c.newID = string(is[0].name), fmt.Sprintf("%06o", is[0].mode), hex.EncodeToString(is[0].id)
			switch {
			case order > 0:
				c.Status = "A"
			case c.oldMode[:3] != c.newMode[:3]:
				c.Status = "T"
			default:
				c.Status = "M"
			}
			is = is[1:]
		}
		changes = append(changes, c)
	}
	return changes
}

// orEmpty turns "" into the empty tree, which git knows without having it.
func (r *Repo) orEmpty(t session.Tree) session.Tree {
	if t != "" {
		return t
	}
	h := r.newHash()
	h.Write([]byte("tree 0\x00"))
	return session.Tree(fmt.Sprintf("%x", h.Sum(nil)))
}

// parseRaw reads `--raw -z`: ":<mode> <mode> <id> <id> <status>" and the path, each with its NUL.
func parseRaw(out []byte) ([]treeChange, error) {
	fields := gitcmd.SplitZ(out)
	if len(fields)%2 != 0 {
		return nil, fmt.Errorf("git diff-tree: the output ends early")
	}
	changes := make([]treeChange, 0, len(fields)/2)
	for i := 0; i < len(fields); i += 2 {
		f := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(f) != 5 || len(f[4]) != 1 {
			return nil, fmt.Errorf("git diff-tree: unexpected answer %q", fields[i])
		}
		changes = append(changes, treeChange{session.Change{Path: fields[i+1], Status: f[4]}, f[0], f[1], f[2], f[3]})
	}
	return changes, nil
}

// DiffOptions say how a difference is shown.
type DiffOptions struct {
	Stat     bool // the files and how much changed in each, instead of the lines
	NameOnly bool // the files only
	Color    bool // with the user's colours
}

// DiffTo writes the difference between two commits or trees for people to read. It runs no external diff program and
// no text conversion.
func (r *Repo) DiffTo(ctx context.Context, from, to string, o DiffOptions, w io.Writer) error {
	argv := append([]string{"git", "-C", r.Git.Root}, gitcmd.Quiet...)
	args := []string{"diff", everySubmodule, "--no-ext-diff", "--no-textconv", "--color=never"}
	if o.Color {
		args[len(args)-1] = "--color=always"
	}
	if o.Stat {
		args = append(args, "--stat")
	}
	if o.NameOnly {
		args = append(args, "--name-only")
	}
	args = append(args, "--end-of-options", from, to, "--")
	env := append(r.Git.Env[:len(r.Git.Env):len(r.Git.Env)], "GIT_OPTIONAL_LOCKS=0")
	var stderr bytes.Buffer
	exit, err := proc.Stream(ctx, proc.Cmd{Argv: append(argv, args...), Env: env}, w, &stderr)
	if err != nil {
		return gitcmd.NotStarted(err)
	}
	if exit != 0 {
		return &gitcmd.GitError{Args: args, Exit: exit, Stderr: stderr.String()}
	}
	return nil
}
