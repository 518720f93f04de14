package refs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/testkit"
	"github.com/wfs-dev/wfs/session"
)

// testID is the session of the tests.
const testID session.ID = "s"

// logged appends an operation to the log of the work tree and returns its number.
func (r *testRepo) logged(summary string) int64 {
	r.T.Helper()
	n, err := r.Refs.LogOp(context.Background(), session.Op{Kind: "rename", Session: testID, Summary: summary, Ledger: session.Commit(fmt.Sprintf("%040x", len(summary)*7919)), At: at})
	if err != nil {
		r.T.Fatal(err)
	}
	return n
}

// TestRubbishInPlaceOfTheOperationLog: a file or ref in the place of the operation log is reported and kept, and does
// not block commands.
func TestRubbishInPlaceOfTheOperationLog(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const ref = "refs/wfs-ops/main"
	for name, rubbish := range map[string]func(r *testRepo) (kept string){
		"a commit of the user's": func(r *testRepo) string { r.Run("update-ref", ref, "HEAD"); return r.Run("rev-parse", "HEAD") },
		"a tree":                 func(r *testRepo) string { r.Run("update-ref", ref, "HEAD^{tree}"); return "" },
		"a blob":                 func(r *testRepo) string { r.Run("update-ref", ref, "HEAD:a.txt"); return "" },
		"a damaged file": func(r *testRepo) string {
			testkit.Write(r.T, "", filepath.Join(r.Git.GitDir, ref), "rubbish\n")
			return ""
		},
		"a large file": func(r *testRepo) string {
			testkit.Write(r.T, "", filepath.Join(r.Git.GitDir, ref), strings.Repeat("x", 1<<14))
			return ""
		},
		"an empty file": func(r *testRepo) string { testkit.Write(r.T, "", filepath.Join(r.Git.GitDir, ref), ""); return "" },
		"an object that does not exist": func(r *testRepo) string {
			testkit.Write(r.T, "", filepath.Join(r.Git.GitDir, ref), strings.Repeat("1", 40)+"\n")
			return ""
		},
		"a symbolic ref to a branch": func(r *testRepo) string { r.Run("symbolic-ref", ref, "refs/heads/main"); return "" },
		"a symbolic ref to nothing":  func(r *testRepo) string { r.Run("symbolic-ref", ref, "refs/heads/nothing"); return "" },
		"an op.json that is none": func(r *testRepo) string {
			testkit.Write(r.T, r.Home, "op.json", `{"version":1,"number":"one"}`)
			blob := r.Run("hash-object", "-w", r.Home+"/op.json")
			r.Run("update-index", "--add", "--cacheinfo", "100644,"+blob+",op.json")
			c := r.Run("commit-tree", "-m", "rubbish", r.Run("write-tree"))
			r.Run("update-ref", ref, c)
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.logged("before") // so that the directory exists
			main := r.Run("rev-parse", "refs/heads/main")
			kept := rubbish(r)
			if ops, _, err := r.Refs.OpLog(ctx, "main"); err != nil || len(ops) > 0 {
				t.Errorf("read: %v %v", ops, err)
			}
			if n := r.logged("after"); n != 1 {
				t.Errorf("number %d", n)
			}
			ops, damage, err := r.Refs.OpLog(ctx, "main")
			if err != nil || damage != nil || len(ops) != 1 || ops[0].Summary != "after" {
				t.Errorf("%v %v %v", ops, damage, err)
			}
			if r.Refs.SetAside() == "" {
				t.Error("nothing is said")
			}
			if kept != "" && !strings.Contains(r.Run("rev-list", "--objects", ref), kept) {
				t.Errorf("%s is not kept", kept)
			}
			if now := r.Run("rev-parse", "refs/heads/main"); now != main {
				t.Errorf("main was moved to %s", now)
			}
			r.Fsck()
		})
	}
}

func TestOperationLogOfANewerVersionIsLeftAlone(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	testkit.Write(r.T, r.Home, "op.json", `{"version":99,"number":1}`)
	blob := r.Run("hash-object", "-w", r.Home+"/op.json")
	r.Run("update-index", "--add", "--cacheinfo", "100644,"+blob+",op.json")
	tip := r.Run("commit-tree", "-m", "newer", r.Run("write-tree"))
	r.Run("update-ref", "refs/wfs-ops/main", tip)
	if _, err := r.Refs.LogOp(context.Background(), session.Op{Kind: "rename", Ledger: "x", At: at}); !errors.Is(err, session.ErrNewer) {
		t.Errorf("%v", err)
	}
	if now := r.Run("rev-parse", "refs/wfs-ops/main"); now != tip {
		t.Errorf("moved to %s", now)
	}
}

// TestOperationLogIsCut lets a log grow past its limit: it is replaced by one with the newest entries, which keep their
// numbers and rescues, and with an older one whose changes are not restored to main yet.
func TestOperationLogIsCut(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	rescue, state := "refs/wfs/s/rescue/1", session.Commit(r.Run("commit-tree", "-m", "state", "HEAD^{tree}"))
	r.Run("update-ref", rescue, string(state))
	var l OpLog
	for n := int64(maxOps); n > 0; n-- {
		l.Ops, l.Rescues = append(l.Ops, session.Op{Number: n, Kind: "switch", Session: testID, Summary: fmt.Sprint(n), Ledger: session.Commit(fmt.Sprintf("%040x", n)), At: at}), append(l.Rescues, state)
	}
	leave := session.Turn{HeadOld: "refs/heads/main", HeadNew: BranchRef(testID), Rescue: rescue, TreeOld: "a", IndexOld: "a"}
	number := func(n int64) *session.Op { return &l.Ops[maxOps-n] }
	number(3).Turn, number(9).Turn = leave, leave
	number(5).Turn = session.Turn{HeadOld: BranchRef(testID), HeadNew: "refs/heads/main", Tree: "a", Index: "a"}
	ident, err := r.Git.Answers.Identity(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var objects []object.Object
	root, tip := r.Refs.rootOfOps(nil, ident, at, "")
	objects = append(objects, root...)
	for i := len(l.Ops) - 1; i >= 0; i-- {
		entry, err := r.Refs.opEntry(l.Ops[i], tip, l.Rescues[i], ident)
		if err != nil {
			t.Fatal(err)
		}
		objects, tip = append(objects, entry...), session.Commit(entry[len(entry)-1].ID)
	}
	if err := r.Objects.WriteObjects(ctx, objects...); err != nil {
		t.Fatal(err)
	}
	r.Run("update-ref", "refs/wfs-ops/main", string(tip))
	r.Run("update-ref", "-d", rescue)

	if n := r.logged("one more"); n != maxOps+1 {
		t.Errorf("number %d", n)
	}
	ops, damage, err := r.Refs.OpLog(ctx, "main")
	if err != nil || damage != nil || len(ops) != keptOps+2 || ops[0].Summary != "one more" || ops[keptOps].Number != maxOps-keptOps+1 || ops[keptOps+1].Number != 9 {
		t.Errorf("%d operations, %v %v", len(ops), damage, err)
	}
	if !strings.Contains(r.Run("rev-list", "refs/wfs-ops/main"), string(state)) {
		t.Error("the rescue is not reachable any more")
	}
	r.Fsck()
}

// FuzzReadOp: an entry of the log is either rejected or valid.
func FuzzReadOp(f *testing.F) {
	f.Add([]byte(`{"version":1,"number":3,"kind":"switch","session":"a","summary":"s","turn":{"refs":[{"ref":"refs/heads/x"}]}}`))
	f.Add([]byte(`{"version":2,"number":1}`))
	f.Add([]byte(`{"version":1,"number":-1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		op, err := readOp("x", object.Found{Kind: "blob", Data: data})
		if err != nil {
			return
		}
		if op.Number < 1 {
			t.Fatalf("operation %d", op.Number)
		}
		if _, err := json.Marshal(op); err != nil {
			t.Fatal(err)
		}
	})
}
