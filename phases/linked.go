package phases

import (
	"bytes"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/tamper"
	"github.com/wfs-dev/wfs/session"
)

// maxLinks bounds how many links are followed one after the other, as systems do it.
const maxLinks = 40

// follow is where a link of a tree leads to, "" when that is not within the tree.
func follow(links map[string]string, name string) string {
	for range maxLinks {
		at, end := name, ""
		for at != "." && links[at] == "" {
			end = path.Join(path.Base(at), end)
			at = path.Dir(at)
		}
		if at == "." {
			return name
		}
		text := links[at]
		if name = path.Join(path.Dir(at), text, end); path.IsAbs(text) || name == "." || name == ".." || strings.HasPrefix(name, "../") {
			return ""
		}
	}
	return ""
}

// linked are the files that changed and that are tests, or what these read, by a link of the frozen tree; it names them as
// the link does, and maps that name to the file's own. What was there before the session, and is no test by the link's own
// name, is the code's.
func (j *Judge) linked(ctx context.Context, r session.JudgeRequest, changes []session.Change, links map[string]string) ([]tamper.File, map[string]string, error) {
	var files []tamper.File
	own := map[string]string{}
	for _, link := range slices.Sorted(maps.Keys(links)) {
		to := follow(links, link)
		itself := slices.ContainsFunc(changes, func(c session.Change) bool { return c.Path == link }) // it is read on both sides
		for _, c := range changes {
			rest, ok := strings.CutPrefix(c.Path, to)
			name := link + rest
			if to == "" || !ok || rest != "" && rest[0] != '/' || rest == "" && itself || tamper.AboutTests(c.Path) || !tamper.AboutTests(name) {
				continue
			}
			f := tamper.File{Path: name}
			var err error
			if c.Status != "A" {
				if f.Before, err = j.side(ctx, r.Frozen, c.Path); err != nil {
					return nil, nil, err
				}
			}
			if !tamper.IsTest(name) {
				if r.Baseline.Tree == "" {
					continue
				}
				was, err := j.Show(ctx, r.Baseline.Tree, link)
				if err != nil || string(was) == links[link] {
					if err != nil {
						return nil, nil, err
					}
					continue
				}
				text, err := j.Show(ctx, r.Baseline.Tree, c.Path)
				if err != nil {
					return nil, nil, err
				}
				if text != nil && bytes.Equal(text, f.Before) {
					continue
				}
			}
			if c.Status != "D" {
				if f.After, err = j.side(ctx, r.Tree, c.Path); err != nil {
					return nil, nil, err
				}
			}
			files, own[name] = append(files, f), c.Path
		}
	}
	return files, own, nil
}

// behind is the text that a link of a tree leads to, or that of the file that stands there by now.
func (j *Judge) behind(ctx context.Context, tree session.Tree, name string) ([]byte, error) {
	data, err := j.side(ctx, tree, name)
	for n := 0; n < maxLinks && err == nil && len(data) > 0 && len(data) < 1024 && bytes.IndexByte(data, '\n') < 0; n++ {
		name = path.Join(path.Dir(name), string(data))
		next, err := j.Show(ctx, tree, name)
		if err != nil || next == nil {
			return data, err
		}
		data = next
	}
	return data, err
}
