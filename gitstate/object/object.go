package object

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

// Store reads and writes the objects of a repository.
type Store struct {
	Format
	Git *gitcmd.Git
	*Packs
	*History
	reader reader // reads objects without git
}

// New returns the store of a repository.
func New(git *gitcmd.Git) *Store {
	format := Format(git.Format)
	return &Store{Format: format, Git: git, Packs: &Packs{Format: format, Git: git},
		History: &History{Git: git}}
}

// Object is a git object that wfs itself encodes, so that it can store several objects at once.
type Object struct {
	Kind string // "blob", "tree" or "commit"
	ID   string
	Data []byte
}

// OnceEach returns the objects without repetitions.
func OnceEach(objects []Object) []Object {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(objects), func(o Object) bool {
		defer func() { seen[o.ID] = true }()
		return seen[o.ID]
	})
}

const ModeFile = "100644"

// Found is one answer of `git cat-file --batch`. Its id is "" if there is no such object.
type Found struct {
	id, Kind string
	Data     []byte
}

// Lookup reads objects by name in one git process, and returns an answer for each name. A name must not contain line
// feeds.
func (r *Store) Lookup(ctx context.Context, names ...string) ([]Found, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{Stdin: []byte(strings.Join(names, "\n") + "\n")}, "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	answers := make([]Found, 0, len(names))
	for range names {
		head, rest, ok := bytes.Cut(out, []byte("\n"))
		if !ok {
			return nil, fmt.Errorf("git cat-file: the output ends early")
		}
		f := strings.Fields(string(head))
		if n := len(f); n > 0 && (f[n-1] == "missing" || f[n-1] == "ambiguous") {
			answers, out = append(answers, Found{}), rest
			continue
		}
		if len(f) != 3 {
			return nil, fmt.Errorf("git cat-file: unexpected answer %q", head)
		}
		size, err := strconv.Atoi(f[2])
		if err != nil || size+1 > len(rest) {
			return nil, fmt.Errorf("git cat-file: unexpected answer %q", head)
		}
		answers, out = append(answers, Found{f[0], f[1], rest[:size]}), rest[size+1:]
	}
	return answers, nil
}
