package holdout

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadAndEncode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"b_test.go": "b", "a/deep/x": "", ".git/config": "no", "a/__pycache__/y": "no", ".wfs/config.yaml": "no"})
	if err := os.Chmod(filepath.Join(dir, "b_test.go"), 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := Pack{{Path: "a/deep/x", Data: []byte{}}, {Path: "b_test.go", Exec: true, Data: []byte("b")}}
	if !reflect.DeepEqual(p, want) {
		t.Fatalf("%+v, want %+v", p, want)
	}
	data, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(data)
	if err != nil || !reflect.DeepEqual(back, p) || back.Digest() != p.Digest() {
		t.Fatalf("came back as %+v: %v", back, err)
	}
	for name, other := range map[string]Pack{
		"another text": {want[0], {Path: "b_test.go", Exec: true, Data: []byte("c")}},
		"another name": {want[0], {Path: "c_test.go", Exec: true, Data: []byte("b")}},
		"another mode": {want[0], {Path: "b_test.go", Data: []byte("b")}},
		"a file less":  {want[1]},
	} {
		if other.Digest() == p.Digest() {
			t.Errorf("%s has the same digest", name)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := ReadDir(dir); err == nil || !strings.Contains(err.Error(), "no file") {
		t.Errorf("an empty directory: %v", err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	if _, err := ReadDir(dir); err == nil || !strings.Contains(err.Error(), "link is not a regular file") {
		t.Errorf("a link: %v", err)
	}
	for _, p := range []Pack{nil, {{Path: "../x"}}, {{Path: "/x"}}, {{Path: "a//b"}}, {{Path: "b"}, {Path: "a"}}, {{Path: "a"}, {Path: "a"}}} {
		data, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(data); err == nil {
			t.Errorf("%+v was taken", p)
		}
	}
}

// TestLay: hold-out files go to their paths, and nowhere else, even if an agent has put something in their way.
func TestLay(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"sub_test.go": "the agent's", "file": "a file where a directory is wanted", "is/a/dir": "x", "kept": "kept"})
	write(t, out, map[string]string{"untouched": "as it was"})
	for link, to := range map[string]string{"tests": out, "linked": filepath.Join(out, "untouched")} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	p := Pack{{Path: "file/x", Data: []byte("1")}, {Path: "is/a", Exec: true, Data: []byte("2")}, {Path: "linked", Data: []byte("3")}, {Path: "sub_test.go", Data: []byte("4")}, {Path: "tests/y", Data: []byte("5")}}
	if err := p.Lay(dir); err != nil {
		t.Fatal(err)
	}
	for _, f := range append(p, File{Path: "kept", Data: []byte("kept")}) {
		text, err := os.ReadFile(filepath.Join(dir, f.Path))
		if err != nil || string(text) != string(f.Data) {
			t.Errorf("%s is %q: %v", f.Path, text, err)
		}
	}
	there, err := os.ReadDir(out)
	if err != nil || len(there) != 1 {
		t.Errorf("outside there is %v: %v", there, err)
	}
	if text, _ := os.ReadFile(filepath.Join(out, "untouched")); string(text) != "as it was" {
		t.Errorf("a file outside is %q", text)
	}
}

func FuzzDecode(f *testing.F) {
	data, err := Pack{{Path: "a", Data: []byte("x")}, {Path: "b/c", Exec: true}}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Decode(data)
		if err != nil {
			return
		}
		again, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Decode(again); err != nil || back.Digest() != p.Digest() {
			t.Fatalf("it came back otherwise: %v", err)
		}
	})
}
