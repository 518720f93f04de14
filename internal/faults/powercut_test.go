//go:build linux && amd64

package faults

import (
	"os"
	"path/filepath"
	"testing"
)

// cut replays calls on a directory with a file "old", and returns the remaining files as "name=content" texts.
func cut(t *testing.T, m Model, calls ...Call) map[string]string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := ReadDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		if err := d.Apply(c); err != nil {
			t.Fatal(err)
		}
	}
	out := t.TempDir()
	if err := d.Cut(m, out); err != nil {
		t.Fatal(err)
	}
	left := map[string]string{}
	files, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, _ := os.ReadFile(filepath.Join(out, f.Name()))
		left[f.Name()] = string(data)
	}
	return left
}

func TestPowerCut(t *testing.T) {
	t.Parallel()
	create, write := Call{Kind: Create, Path: "new"}, Call{Kind: Write, Path: "new", Data: []byte("data")}
	sync := Call{Kind: Sync, Path: "new"}
	for name, c := range map[string]struct {
		calls   []Call
		content map[string]string // after content is lost
		names   map[string]string // after names are lost as well
	}{
		"nothing":  {nil, map[string]string{"old": "old"}, map[string]string{"old": "old"}},
		"unsynced": {[]Call{create, write}, map[string]string{"old": "old", "new": ""}, map[string]string{"old": "old"}},
		"synced":   {[]Call{create, write, sync}, map[string]string{"old": "old", "new": "data"}, map[string]string{"old": "old", "new": "data"}},
		"renamed over": {[]Call{create, write, {Kind: Rename, Path: "new", To: "old"}},
			map[string]string{"old": ""}, map[string]string{"old": "old"}},
		"synced and renamed over": {[]Call{create, write, sync, {Kind: Rename, Path: "new", To: "old"}},
			map[string]string{"old": "data"}, map[string]string{"old": "old", "new": "data"}},
		"and the directory synced": {[]Call{create, write, sync, {Kind: Rename, Path: "new", To: "old"}, {Kind: Sync, Path: "."}},
			map[string]string{"old": "data"}, map[string]string{"old": "data"}},
		"removed": {[]Call{{Kind: Remove, Path: "old"}}, map[string]string{}, map[string]string{"old": "old"}},
		"written out, and another synced": {[]Call{create, write, {Kind: WriteOut, Path: "new"}, {Kind: Create, Path: "x"}, {Kind: Sync, Path: "x"}},
			map[string]string{"old": "old", "new": "data", "x": ""}, map[string]string{"old": "old", "new": "data", "x": ""}},
		"appended": {[]Call{{Kind: Write, Path: "old", Offset: 3, Data: []byte("er")}, {Kind: Sync, Path: "old"}, {Kind: Write, Path: "old", Offset: 5, Data: []byte("!")}},
			map[string]string{"old": "older"}, map[string]string{"old": "older"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for m, want := range map[Model]map[string]string{ContentLost: c.content, NamesLost: c.names} {
				got := cut(t, m, c.calls...)
				if len(got) != len(want) {
					t.Errorf("%s: %v, want %v", m, got, want)
				}
				for k, v := range want {
					if g, ok := got[k]; !ok || g != v {
						t.Errorf("%s: %v, want %v", m, got, want)
					}
				}
			}
		})
	}
}
