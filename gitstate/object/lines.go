package object

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/session"
)

// Lines returns the numbers of lines that were added and removed between two trees, by file, for each pair of trees. It
// starts one process for all of them.
func (r *Store) Lines(ctx context.Context, pairs ...session.TreePair) ([][]session.FileLines, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	heads := make([]string, len(pairs))
	for i, p := range pairs {
		heads[i] = string(r.OrEmpty(p.From)) + " " + string(r.OrEmpty(p.To)) + "\n"
	}
	rest, err := r.Git.Run(ctx, gitcmd.Opts{Stdin: []byte(strings.Join(heads, ""))}, "diff-tree", EverySubmodule,
		"--stdin", "-r", "-z", "--raw", "--numstat", "--no-renames", "--full-index", "--no-abbrev", "--no-ext-diff",
		"--no-textconv")
	if err != nil {
		return nil, err
	}
	diffs := make([][]session.FileLines, len(pairs))
	for i, head := range heads {
		var ok bool
		if rest, ok = bytes.CutPrefix(rest, []byte(head)); !ok {
			return nil, fmt.Errorf("git diff-tree: no answer for %q", head)
		}
		end := len(rest)
		if i+1 < len(heads) {
			for end = 0; end < len(rest) && !bytes.HasPrefix(rest[end:], []byte(heads[i+1])); {
				_, after, _ := bytes.Cut(rest[end:], []byte{0})
				end = len(rest) - len(after)
			}
		}
		if diffs[i], err = parseDiffs(rest[:end]); err != nil {
			return nil, err
		}
		rest = rest[end:]
	}
	return diffs, nil
}

// parseDiffs parses git's output for `--raw --numstat -z`: all records of the one kind, then those of the other.
func parseDiffs(out []byte) ([]session.FileLines, error) {
	raw := 0
	for raw < len(out) && out[raw] == ':' {
		for range 2 { // the record and its path
			_, after, _ := bytes.Cut(out[raw:], []byte{0})
			raw = len(out) - len(after)
		}
	}
	changes, err := ParseRaw(out[:raw])
	if err != nil {
		return nil, err
	}
	files := ParseLines(out[raw:])
	if len(files) != len(changes) {
		return nil, fmt.Errorf("git diff-tree: %d changes, and lines of %d", len(changes), len(files))
	}
	for i := range files {
		files[i].Status = changes[i].Status
	}
	return files, nil
}

// ParseLines parses git's output for `--numstat -z --no-renames`.
func ParseLines(out []byte) (files []session.FileLines) {
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
	return files
}
