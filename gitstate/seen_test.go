package gitstate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/session"
)

// A directory that is not read again must not let anything in that a look would have found.
func TestSeenDirectories(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	for i := range 3 {
		r.write(fmt.Sprintf("d%d/deep/tracked", i), "x")
	}
	r.run("add", "-A")
	r.run("commit", "-q", "-m", "tracked")
	ctx := context.Background()
	look := func() []string {
		t.Helper()
		x, _, err := r.readParsed(ctx, r.indexPath())
		if err != nil || x == nil {
			t.Fatal(err)
		}
		return r.look(x, nil, session.Guard{}).suspects
	}
	if _, ok := stampOf(r.root); !ok {
		t.Skip("this system does not tell when a directory changed")
	}
	// As if everything had been there for long: the sums of names are kept, and the times are those of now.
	if found := look(); len(found) > 0 {
		t.Fatal(found)
	}
	seen := map[string]seenDir{}
	x, _, _ := r.readParsed(ctx, r.indexPath())
	for todo := []trackedDir{{entries: x.entries}}; len(todo) > 0; {
		d := todo[0]
		below, names := d.children()
		stamp, _ := stampOf(filepath.Join(r.root, d.prefix))
		seen[d.prefix] = seenDir{stamp, names}
		todo = append(todo[1:], below...)
	}
	r.keepSeen(seen)
	if got := r.seenDirs(); len(got) != len(seen) || got["d1/deep/"] != seen["d1/deep/"] {
		t.Fatalf("%v was kept as %v", seen, got)
	}
	key := r.path("d1/deep/id_rsa")
	if err := os.WriteFile(key, []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Whoever sets the time of the directory back is found out by its change time.
	long := time.Unix(1_000_000_000, 0)
	if err := os.Chtimes(filepath.Dir(key), long, long); err != nil {
		t.Fatal(err)
	}
	if found := look(); len(found) != 1 || found[0] != "d1/deep/id_rsa" {
		t.Errorf("found %v", found)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	// What git does not track any more is found though its directory is as it was.
	r.write("d2/deep/.env", "x")
	r.run("add", "-f", "d2/deep/.env")
	x, _, _ = r.readParsed(ctx, r.indexPath())
	stamp, _ := stampOf(r.path("d2/deep"))
	for _, d := range []string{"", "d2/"} {
		s, _ := stampOf(filepath.Join(r.root, d))
		_, names := trackedDir{prefix: d, entries: entriesBelow(x, d)}.children()
		seen[d] = seenDir{s, names}
	}
	_, names := trackedDir{prefix: "d2/deep/", entries: entriesBelow(x, "d2/deep/")}.children()
	seen["d2/deep/"] = seenDir{stamp, names}
	r.keepSeen(seen)
	if found := look(); len(found) > 0 {
		t.Fatalf("tracked, and found: %v", found)
	}
	r.run("rm", "-q", "--cached", "d2/deep/.env")
	if found := look(); len(found) != 1 || found[0] != "d2/deep/.env" {
		t.Errorf("found %v", found)
	}
}

func entriesBelow(x *index, prefix string) []indexEntry {
	var list []indexEntry
	for _, e := range x.entries {
		if len(e.name) > len(prefix) && string(e.name[:len(prefix)]) == prefix {
			list = append(list, e)
		}
	}
	return list
}
