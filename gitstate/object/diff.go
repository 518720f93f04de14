package object

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

// TreeChange is one difference between two trees, as git lists it.
type TreeChange struct {
	session.Change
	OldMode, NewMode string // modeNone where there is nothing
	OldID, NewID     string
}

// Changes lists the differences between two trees, without renames, in the order of git's path names. "" is the empty
// tree.
func (r *Store) Changes(ctx context.Context, from, to session.Tree) ([]session.Change, error) {
	list, err := r.DiffTrees(ctx, from, to)
	return PlainChanges(list), err
}

func PlainChanges(list []TreeChange) []session.Change {
	var changes []session.Change
	for _, c := range list {
		changes = append(changes, c.Change)
	}
	return changes
}

// Lines counts the lines that differ between two trees, by file.
func (r *Store) Lines(ctx context.Context, from, to session.Tree) ([]session.FileLines, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "diff-tree", EverySubmodule, "-r", "-z", "--numstat", "--no-renames",
		"--no-ext-diff", "--no-textconv",
		string(r.OrEmpty(from)), string(r.OrEmpty(to)))
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

// EverySubmodule tells git to compare submodules as all else. Without it git reads submodule.<name>.ignore,
// which an agent can set, in the configuration and the .gitmodules of the work tree, and fails when it cannot
// parse the latter.
const EverySubmodule = "--ignore-submodules=none"

func (r *Store) DiffTrees(ctx context.Context, from, to session.Tree) ([]TreeChange, error) {
	from, to = r.OrEmpty(from), r.OrEmpty(to)
	if from == to {
		return nil, nil
	}
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "diff-tree", EverySubmodule, "-r", "-z", "--raw", "--no-renames", "--full-index",
		"--no-abbrev",
		string(from), string(to))
	if err != nil {
		return nil, err
	}
	return ParseRaw(out)
}

// IndexChanges lists how the files of an index differ from those of another one. What has conflicts, or no
// content, is not there.
func (r *Store) IndexChanges(before, now *Index) (changes []TreeChange) {
	files := func(x *Index) []IndexEntry {
		absent := func(e IndexEntry) bool { return e.Stage != 0 || e.Intended }
		if slices.ContainsFunc(x.Entries, absent) {
			return slices.DeleteFunc(slices.Clone(x.Entries), absent)
		}
		return x.Entries
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
			order = bytes.Compare(was[0].Name, is[0].Name)
		}
		if order == 0 && was[0].Mode == is[0].Mode && bytes.Equal(was[0].ID, is[0].ID) {
			was, is = was[1:], is[1:]
			continue
		}
		c := TreeChange{OldMode: ModeNone, NewMode: ModeNone, OldID: r.Zero(), NewID: r.Zero()}
		if order <= 0 {
			c.Path, c.Status, c.OldMode, c.OldID = string(was[0].Name), "D", fmt.Sprintf("%06o",
				was[0].Mode), hex.EncodeToString(was[0].ID)
			was = was[1:]
		}
		if order >= 0 {
			c.Path, c.NewMode, c.NewID = string(is[0].Name), fmt.Sprintf("%06o", is[0].Mode), hex.EncodeToString(is[0].ID)
			switch {
			case order > 0:
				c.Status = "A"
			case c.OldMode[:3] != c.NewMode[:3]:
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

// OrEmpty turns "" into the empty tree, which git knows without having it.
func (r *Store) OrEmpty(t session.Tree) session.Tree {
	if t != "" {
		return t
	}
	h := r.NewHash()
	h.Write([]byte("tree 0\x00"))
	return session.Tree(fmt.Sprintf("%x", h.Sum(nil)))
}

// ParseRaw reads `--raw -z`: ":<mode> <mode> <id> <id> <status>" and the path, each with its NUL.
func ParseRaw(out []byte) ([]TreeChange, error) {
	fields := gitcmd.SplitZ(out)
	if len(fields)%2 != 0 {
		return nil, fmt.Errorf("git diff-tree: the output ends early")
	}
	changes := make([]TreeChange, 0, len(fields)/2)
	for i := 0; i < len(fields); i += 2 {
		f := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(f) != 5 || len(f[4]) != 1 {
			return nil, fmt.Errorf("git diff-tree: unexpected answer %q", fields[i])
		}
		changes = append(changes, TreeChange{session.Change{Path: fields[i+1], Status: f[4]}, f[0], f[1], f[2], f[3]})
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
func (r *Store) DiffTo(ctx context.Context, from, to string, o DiffOptions, w io.Writer) error {
	argv := append([]string{"git", "-C", r.Git.Root}, gitcmd.Quiet...)
	args := []string{"diff", EverySubmodule, "--no-ext-diff", "--no-textconv", "--color=never"}
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
