package gitstate

import (
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// notSeen makes the index say that a file, which has changed, was read in the second in which it was written now, at other
// nanoseconds: what is left when a file is written twice in a second, with as many bytes, and read in between. git compares
// seconds, unless it is built otherwise.
func (r *testRepo) notSeen(file string) {
	r.t.Helper()
	data, err := os.ReadFile(r.indexPath())
	r.must(err)
	f, ok := lookAt(r.path(file))
	x := r.parsed(data)
	if !ok || x == nil {
		notHere(r.t, "nothing is told of files here")
	}
	e, _ := find(x.entries, 0, file)
	for i, n := range []uint32{f.changed, f.changedNano, f.modified, f.modifiedNano} {
		if i%2 == 1 {
			n = (n + 1) % uint32(time.Second)
		}
		binary.BigEndian.PutUint32(e.stat[4*i:], n)
	}
	binary.BigEndian.PutUint32(e.stat[20:], f.inode)
	sum := sha1.Sum(data[:len(data)-sha1.Size])
	copy(data[len(data)-sha1.Size:], sum[:])
	r.must(os.WriteFile(r.indexPath(), data, 0o644))
	later := time.Unix(int64(f.modified)+2, 0)
	r.must(os.Chtimes(r.indexPath(), later, later))
}

// An edit that git lets pass, because it compares times by seconds, is in the next snapshot and checkpoint.
func TestReread(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]func(r *testRepo){
		"told of few":  func(*testRepo) {},
		"split index":  func(*testRepo) {},
		"sparse index": func(*testRepo) {},
		"looks at all": func(r *testRepo) { r.write("intended", "x"); r.run("add", "-N", "intended") },
		"many are new": func(r *testRepo) {
			for i := range maxChanged + 1 {
				r.write(fmt.Sprint("new", i), "new")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := newSession(t)
			r.write("a", "version 1")
			r.write("other", "other")
			r.write("d/x", "x")
			r.run("add", "-A")
			r.run("commit", "-q", "-m", "tracked")
			r.write("a", "version 2")
			more(r)
			r.notSeen("a")
			later := mustStat(t, r.indexPath()).ModTime()
			switch name {
			case "split index":
				r.run("update-index", "--split-index")
			case "sparse index":
				r.run("sparse-checkout", "init", "--cone", "--sparse-index")
			}
			r.must(os.Chtimes(r.indexPath(), later, later))
			r.open(r.root)
			for what, tree := range map[string]string{"a snapshot": string(r.snapshot().Tree), "a checkpoint": string(r.prepare(r.draft("")).Tree)} {
				if got := r.run("cat-file", "blob", tree+":a"); strings.TrimSpace(got) != "version 2" {
					t.Errorf("%s holds %q", what, got)
				}
			}
		})
	}
}
