package durable

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// names lists a directory.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func TestWriteFileReplaces(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(string, []byte, fs.FileMode) error{"durable": WriteFile, "cache": WriteCache} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "state")
			for _, text := range []string{"a long first text", "short", ""} {
				if err := write(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				got, err := ReadFile(path, 100)
				if err != nil || string(got) != text {
					t.Fatalf("read %q, %v; want %q", got, err, text)
				}
			}
			if got := names(t, filepath.Dir(path)); got != "state" {
				t.Fatalf("left behind: %s", got)
			}
		})
	}
}

func TestWriteFileLeavesNothingOnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "state", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(filepath.Join(dir, "state"), []byte("x"), 0o600); err == nil {
		t.Fatal("replaced a directory")
	}
	if got := names(t, dir); got != "state" {
		t.Fatalf("left behind: %s", got)
	}
	if err := WriteFile(filepath.Join(dir, "absent", "state"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("without a directory: %v", err)
	}
}

func TestReadersSeeOldOrNew(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	texts := [2][]byte{bytes.Repeat([]byte("a"), 100_000), bytes.Repeat([]byte("b"), 50_000)}
	if err := WriteCache(path, texts[0], 0o600); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				if err := WriteCache(path, texts[i%2], 0o600); err != nil {
					t.Error(err)
				}
			}
		}
	})
	for range 300 {
		got, err := ReadFile(path, 1<<20)
		if err != nil || !bytes.Equal(got, texts[0]) && !bytes.Equal(got, texts[1]) {
			t.Errorf("read %d bytes, %v", len(got), err)
			break
		}
	}
	close(stop)
	writer.Wait()
}

func TestReadFileLimit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state")
	if err := WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path, 4); !errors.Is(err, ErrTooLarge) {
		t.Fatalf("limit 4: %v", err)
	}
	if got, err := ReadFile(path, 5); err != nil || string(got) != "12345" {
		t.Fatalf("limit 5: %q, %v", got, err)
	}
	if _, err := ReadFile(filepath.Dir(path), 5); !errors.Is(err, ErrNotRegular) {
		t.Fatalf("a directory: %v", err)
	}
	if _, err := ReadFile(path+"-absent", 5); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("nothing: %v", err)
	}
}

func TestMkdirAll(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := filepath.Join(top, "a", "b", "c")
	var done sync.WaitGroup
	for range 8 {
		done.Go(func() {
			if err := MkdirAll(dir); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Fatal(err)
	}
	file := filepath.Join(top, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := MkdirAll(file); !errors.Is(err, ErrNotPrivate) {
		t.Fatalf("a file in its place: %v", err)
	}
	if err := MkdirAll(filepath.Join(file, "below")); err == nil {
		t.Fatal("made a directory below a file")
	}
}

func TestAppend(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	for _, text := range []string{"one\n", "two\n"} {
		a, err := OpenAppend(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Append([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := ReadFile(path, 100); err != nil || string(got) != "one\ntwo\n" {
		t.Fatalf("%q, %v", got, err)
	}
	if err := Truncate(path, 4); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadFile(path, 100); err != nil || string(got) != "one\n" {
		t.Fatalf("%q, %v", got, err)
	}
	if err := SyncFile(path); err != nil {
		t.Fatal(err)
	}
}

func TestAppendNoticesThatItsFileIsGone(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(string) error{
		"deleted":  os.Remove,
		"replaced": func(p string) error { return WriteFile(p, []byte("other"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "journal")
			a, err := OpenAppend(path)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			if err := spoil(path); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := a.Append([]byte("lost\n")); !errors.Is(err, ErrReplaced) {
					t.Fatalf("Append = %v, want ErrReplaced", err)
				}
			}
		})
	}
}
