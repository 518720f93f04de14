package corpus

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// frozen is a repository of the corpus, with its whole home, and the later results of the binary that made it.
type frozen struct {
	Name   string
	Files  []file
	Before []string // contents that must never get lost, by blob id
	Damage bool     `json:",omitempty"`
	Killed string   `json:",omitempty"` // the step
	Road   []taken
}

// file is a file, a link or a directory of a frozen home.
type file struct {
	Path string
	Mode fs.FileMode
	Link string `json:",omitempty"`
	// Content is the number of a content in the archive.
	Content int `json:",omitempty"`
}

// taken is a command that was typed there, and the state after it.
type taken struct {
	Command string
	Exit    int
	Where   picture
}

// homePlaceholder replaces the path of a home in the files that git and wfs keep there.
const homePlaceholder = "/HOME-OF-THE-CORPUS"

// pool has contents by their numbers.
type pool struct {
	list    [][]byte
	numbers map[string]int
}

func (p *pool) add(data []byte) int {
	if n, known := p.numbers[string(data)]; known {
		return n
	}
	if p.numbers == nil {
		p.numbers = map[string]int{}
	}
	p.numbers[string(data)] = len(p.list)
	p.list = append(p.list, data)
	return len(p.list) - 1
}

// freeze reads everything below a home.
func freeze(t *testing.T, home string, contents *pool) (files []file) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == home {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		f := file{Path: path[len(home)+1:], Mode: info.Mode()}
		switch {
		case d.IsDir():
		case f.Mode&fs.ModeSymlink != 0:
			f.Link, err = os.Readlink(path)
			f.Link = strings.ReplaceAll(f.Link, home, homePlaceholder)
		case f.Mode.IsRegular():
			var data []byte
			data, err = os.ReadFile(path)
			f.Content = contents.add(bytes.ReplaceAll(data, []byte(home), []byte(homePlaceholder)))
		default:
			return nil
		}
		files = append(files, f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// thaw makes the home again, at another path.
func (r *frozen) thaw(t *testing.T, home string, content func(number int) []byte) {
	t.Helper()
	dirs := []file{{Mode: fs.ModeDir | 0o700}}
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Files {
		path := filepath.Join(home, f.Path)
		var err error
		switch {
		case f.Mode.IsDir():
			dirs = append(dirs, f)
			err = os.MkdirAll(path, 0o700)
		case f.Link != "":
			err = os.Symlink(strings.ReplaceAll(f.Link, homePlaceholder, home), path)
		default:
			data := bytes.ReplaceAll(content(f.Content), []byte(homePlaceholder), []byte(home))
			if err = os.WriteFile(path, data, 0o600); err == nil {
				err = os.Chmod(path, f.Mode.Perm())
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range slices.Backward(dirs) {
		if err := os.Chmod(filepath.Join(home, f.Path), f.Mode.Perm()); err != nil {
			t.Fatal(err)
		}
	}
}

const archivePath = "testdata/repositories.zip"

// pack writes the corpus: one file for each repository, and one for each content.
func pack(t *testing.T, all []*frozen, contents *pool) {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	add := func(name string, data []byte) {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, r := range all {
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		add(fmt.Sprintf("repository/%04d", i), data)
	}
	for i, data := range contents.list {
		add(fmt.Sprintf("content/%d", i), data)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("testdata", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(archivePath, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// unpack reads the corpus.
func unpack(t *testing.T) (all []*frozen, content func(number int) []byte) {
	t.Helper()
	r, err := zip.OpenReader(archivePath)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	contents := map[string]*zip.File{}
	read := func(f *zip.File) []byte {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		data, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for _, f := range r.File {
		if sum, ok := strings.CutPrefix(f.Name, "content/"); ok {
			contents[sum] = f
			continue
		}
		one := &frozen{}
		if err := json.Unmarshal(read(f), one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all, func(number int) []byte { return read(contents[strconv.Itoa(number)]) }
}
