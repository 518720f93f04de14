package cmd

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace/check"
)

type exportJSON struct {
	Version int        `json:"version"`
	Session session.ID `json:"session"`
	File    string     `json:"file"`
	Bytes   int64      `json:"bytes"`
	Refs    []string   `json:"refs"`
}

type exportVerb struct {
	*app
	file  string
	thin  bool
	story bool // only story.json
}

func (a *exportVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "export [SESSION]", Short: "one file with a whole session, for another clone or to read",
		Long: `Export writes a .tar.gz with three files: session.bundle, a git bundle with the session's branch,
history and backups; story.json, the session and everything that happened, for programs and people without git;
and README.txt, the plain git commands that bring it into another clone. A bundle alone could not hold the
events since the latest checkpoint.

With --story it writes only story.json, to standard output or to the file of -o. Its fields are in
docs/formats.md; docs/views.py shows what other tools can make of it.

The bundle has the whole history below the session; with --thin it leaves out what the session was made from,
which the other clone must have then. An existing file is not overwritten. Without -o the file is put beside the
work tree: in it, it would become part of the next checkpoint.`,
		Example: "  wfs export csv-export\n  wfs export csv-export -o /tmp/csv-export.tar.gz\n  wfs export csv-export --story -o story.json\n  wfs export csv-export --thin -o - | ssh host 'cat > csv-export.tar.gz'",
		Args:    upTo(1),
		RunE:    with(a.run),
	}
	c.Flags().StringVarP(&a.file, "output", "o", "", "`file` to write, - for standard output")
	c.Flags().BoolVar(&a.story, "story", false, "write only the session and its history, as JSON")
	c.Flags().BoolVar(&a.thin, "thin", false, "leave out the commits that the session is based on")
	return c
}

func (a *exportVerb) run(ctx context.Context, args []string) error {
	id, err := a.OpenNamed(ctx, first(args))
	if err != nil {
		return err
	}
	file := a.file
	if a.story && a.thin {
		return usage("wfs export "+string(id)+" --story", "--story has no bundle, and --thin is about the bundle")
	}
	if a.story && (file == "" || file == "-") {
		_, err := a.write(ctx, id, a.env.Stdout)
		return err
	}
	if file == "-" {
		if a.json || a.env.StdoutTTY {
			return usage("wfs export "+string(id)+" -o FILE",
				"refusing to write an archive to a terminal or beside JSON")
		}
		_, err := a.write(ctx, id, a.env.Stdout)
		return err
	}
	if file == "" {
		file = filepath.Join(filepath.Dir(a.Repo.Root()), string(id)+".wfs.tar.gz")
	}
	file = a.env.Abs(file)
	if dir := filepath.Dir(file); !isDir(dir) {
		return usage("mkdir -p "+shellWord(dir), "there is no directory %s", dir)
	}
	j := exportJSON{Version: jsonVersion, Session: id, File: file}
	j.Bytes, err = newFile(file, func(w io.Writer) (err error) {
		j.Refs, err = a.write(ctx, id, w)
		return err
	})
	if errors.Is(err, fs.ErrExist) {
		return usage("wfs export "+string(id)+" -o ANOTHER-FILE", "%s already exists and is not overwritten", file)
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(j)
	}
	a.out("%s (%s)", file, check.Bytes(j.Bytes))
	if a.story {
		return nil
	}
	a.out("to read it, or to use it in another clone: tar xzf %s; see its README.txt", filepath.Base(file))
	return nil
}

// newFile creates a file with all of its content, or not at all. It returns fs.ErrExist if a file of that name exists.
func newFile(path string, write func(io.Writer) error) (size int64, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return 0, err
	}
	err = write(f)
	if err == nil {
		size, err = f.Seek(0, io.SeekCurrent)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(path)
	}
	return size, err
}

// write writes an archive of the session, or only its story. It returns the refs in the archive.
func (a *exportVerb) write(ctx context.Context, id session.ID, w io.Writer) ([]string, error) {
	v, err := a.View(ctx, id)
	if err != nil {
		return nil, err
	}
	s := &v.Session
	story, err := a.storyOf(ctx, v)
	if err != nil {
		return nil, err
	}
	if a.story {
		_, err := w.Write(story)
		return []string{}, err
	}
	own, err := a.Repo.OwnRefs(ctx, id)
	if err != nil {
		return nil, err
	}
	refs := sortedKeys(own)
	bundle, err := os.CreateTemp("", "wfs-bundle-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(bundle.Name())
	defer bundle.Close()
	without := session.Commit("")
	if a.thin {
		without = s.Base
	}
	if err := a.Repo.Bundle(ctx, refs, without, bundle); err != nil {
		return nil, err
	}
	size, err := bundle.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = bundle.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, err
	}
	zipped := gzip.NewWriter(w)
	archive := tar.NewWriter(zipped)
	readme := exportReadme(s, a.thin)
	for _, f := range []struct {
		name string
		size int64
		text io.Reader
	}{
		{"README.txt", int64(len(readme)), strings.NewReader(readme)}, {"story.json", int64(len(story)),
			bytes.NewReader(story)},
		{"session.bundle", size, bundle},
	} {
		h := &tar.Header{Name: string(id) + "/" + f.name, Mode: 0o644, Size: f.size,
			ModTime: a.env.Now().Truncate(time.Second), Format: tar.FormatPAX}
		if err := archive.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := io.Copy(archive, f.text); err != nil {
			return nil, err
		}
	}
	return refs, errors.Join(archive.Close(), zipped.Close())
}

func exportReadme(s *session.Session, thin bool) string {
	needs := "any clone of the project, or an empty repository"
	if thin {
		needs = "a clone of the project that has the commit " + string(s.Base)
	}
	return fmt.Sprintf(`%[2]s: %[3]s

story.json      the session and everything that happened in it
session.bundle  its branch, its history and its backups, for git

To have it in %[4]s, type there:

    git fetch /PATH/TO/%[1]s/session.bundle 'refs/heads/wfs/%[1]s:refs/heads/wfs/%[1]s' 'refs/wfs/%[1]s/*:refs/wfs/%[1]s/*'
    wfs show %[1]s
    wfs trust %[1]s     before it can run anything there
    wfs resume %[1]s

What happened since checkpoint %[5]d was made is in story.json alone.
`, s.ID, s.ID, s.Headline(), needs, s.NextNumber()-1)
}
