package gitstate

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/session"
)

func TestRescueKeepsEverything(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, d := newSession(t)
	r.write("b.txt", "b\n")
	p := r.prepare(d)
	r.publish(p)
	r.write("a.txt", "only in the index\n")
	r.run("add", "a.txt")
	staged := r.run("rev-parse", ":a.txt")
	r.write("a.txt", "only in the file\n")
	r.run("update-ref", "refs/heads/wfs/other", "HEAD")
	s := r.snapshot()
	for _, want := range []string{"refs/wfs/s/rescue/1", "refs/wfs/s/rescue/2"} {
		ref, err := r.Rescue(ctx, testID, "a test", s, at)
		if err != nil || ref != want {
			t.Fatalf("%s, %v; want %s", ref, err, want)
		}
	}
	reachable := r.run("rev-list", "--objects", "refs/wfs/s/rescue/1")
	for _, object := range []string{staged, r.run("hash-object", "a.txt"), string(p.Ledger), string(p.Code)} {
		if !strings.Contains(reachable, object) {
			t.Errorf("%s is not reachable", object)
		}
	}
	if parents := strings.Fields(r.run("log", "-1", "--format=%P", "refs/wfs/s/rescue/1")); len(parents) != 3 ||
		parents[0] != string(p.Ledger) {
		t.Errorf("parents: %s", parents)
	}
	r.run("update-ref", "-d", "refs/wfs/s/rescue/1")
	if ref, err := r.Rescue(ctx, testID, "a test", s, at); err != nil || ref != "refs/wfs/s/rescue/3" {
		t.Errorf("%s, %v: a number was used again", ref, err)
	}
	state, err := r.State(ctx, r.resolve("refs/wfs/s/rescue/3"))
	if err != nil {
		t.Fatal(err)
	}
	if state.Why != "a test" || state.Head != s.Head || state.Tree != s.Tree || state.Index != s.Index ||
		state.Refs[refs.BranchRef(testID)] != p.Code || state.Refs["refs/heads/wfs/other"] != p.Code ||
		state.Refs[refs.LedgerRef(testID)] != p.Ledger {
		t.Errorf("%+v", state)
	}
	r.fsck()
}

func TestRescueWithoutALedgerAndWithADamagedRef(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write("b.txt", "b\n")
	s := r.snapshot()
	if err := os.MkdirAll(r.Git.GitDir+"/refs/heads/wfs", 0o755); err != nil {
		t.Fatal(err)
	}
	mustWrite(r, r.Git.GitDir+"/refs/heads/wfs/damaged", "")
	ref, err := r.Rescue(context.Background(), testID, "a test", s, at)
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(r.Git.GitDir + "/refs/heads/wfs/damaged")
	if parents := strings.Fields(r.run("log", "-1", "--format=%P", ref)); len(parents) != 1 {
		t.Errorf("parents: %s", parents)
	}
	if got := r.files(ref + "^"); got != "100644 a.txt\n100644 b.txt" {
		t.Errorf("rescue holds\n%s", got)
	}
	if parts, err := r.RescuedParts(context.Background(), ref); err != nil || len(parts) != 1 || parts[0].At != ref+"^1" {
		t.Errorf("its files are in %v, %v", parts, err)
	}
	if parts, err := r.RescuedParts(context.Background(), ref+"0"); err != nil || len(parts) != 0 {
		t.Errorf("parts of a rescue that is not there: %v, %v", parts, err)
	}
}

func TestOperationLog(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	if ops, err := r.Refs.Ops(ctx); err != nil || len(ops) != 0 {
		t.Fatalf("%v %v", ops, err)
	}
	rescue, err := r.Rescue(ctx, testID, "a test", r.snapshot(), at)
	if err != nil {
		t.Fatal(err)
	}
	state := r.resolve(rescue)
	log := func(op session.Op, want int64) {
		t.Helper()
		if n, err := r.Refs.LogOp(ctx, op); err != nil || n != want {
			t.Fatalf("number %d, %v; want %d", n, err, want)
		}
	}
	a, b := session.Commit(strings.Repeat("a", 40)), session.Commit(strings.Repeat("b", 40))
	log(session.Op{Kind: "switch", Session: testID, Summary: "one", Ledger: a, At: at,
		Turn: session.Turn{Rescue: rescue}}, 1)
	log(session.Op{Kind: "resume", Session: testID, Summary: "two", Ledger: b, At: at}, 2)
	log(session.Op{Kind: "switch", Session: testID, Summary: "one", Ledger: a, At: at + 1}, 1)
	r.run("update-ref", "-d", rescue)
	ops, err := r.Refs.Ops(ctx)
	if err != nil || len(ops) != 2 || ops[0].Number != 2 || ops[0].Summary != "two" || ops[1].Number != 1 ||
		ops[1].Ledger != a || ops[1].Turn.Rescue != rescue {
		t.Errorf("%+v %v", ops, err)
	}
	if !strings.Contains(r.run("rev-list", "refs/wfs-ops/main"), string(state)) {
		t.Error("the rescue is not reachable from the log")
	}

	dir := r.home + "/side"
	r.run("worktree", "add", "-q", "-b", "side", dir)
	r.open(dir)
	if ops, err := r.Refs.Ops(ctx); err != nil || len(ops) != 0 {
		t.Errorf("another work tree sees %v, %v", ops, err)
	}
	log(session.Op{Kind: "switch", Session: testID, Summary: "there", Ledger: a, At: at}, 1)
	r.fsck()
}
