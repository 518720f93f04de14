package safety

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/proc"
)

// savingAgent gives session one an agent that writes files step1, step2, …, and waits after each until an auto-save
// has it. It ends when its wfs dies. The agent renames complete files with old timestamps into place: git would read
// a file again that is as young as the index, find its blob in the pack of the last auto-save, and keep that pack.
func (f *fixture) savingAgent(steps int, rest ...string) {
	f.t.Helper()
	f.saveEvery("5ms")
	f.write("../agent.sh", fmt.Sprintf(`wait_for() { n=0; until "$@" 2> /dev/null; do n=$((n+1)); [ $n -lt 3000 ] && kill -0 $PPID || exit 1; sleep 0.01; done; } # wfs may be dead before this began
saved() { wait_for git cat-file -e "refs/wfs/one/auto^2:$1"; }
was=$(ls .git/objects/pack/*.idx)
i=0; while [ $i -lt %d ]; do i=$((i+1)); echo "of step $i by $$" > ../new; touch -t 202001010000 ../new; mv ../new step$i; saved step$i; done
%s
`, steps, strings.Join(rest, "\n")))
	f.ok("wfs", "repin", "one", "--agent", "exec sh ../agent.sh")
}

// saveEvery sets the period of auto-saves.
func (f *fixture) saveEvery(period string) {
	f.t.Helper()
	f.write(".wfs/local.yaml", "version: 1\nauto-save: "+period+"\n")
	f.ok("wfs", "trust", "--yes")
}

// agentGone waits until no process of a killed run is alive.
func (f *fixture) agentGone() {
	f.t.Helper()
	for range 6000 {
		found := false
		runs, _ := filepath.Glob(filepath.Join(f.dir, ".git/wfs/sessions/one/runs/one-*"))
		for _, r := range runs {
			found = found || len(proc.Marked("WFS_RUN_ID="+filepath.Base(r))) > 0
		}
		// A child that wfs had forked when it was killed holds wfs's lock until its exec, and has no mark yet.
		held, _, err := durable.Probe(filepath.Join(f.dir, ".git/wfs/sessions/one/driver.lock"))
		if err != nil {
			f.t.Fatal(err)
		}
		if !found && !held {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	f.t.Fatal("something of the killed run lives on")
}

// begins starts wfs in the background. The function that it returns kills wfs with SIGKILL and waits until no process
// of its run is alive.
func (f *fixture) begins(args ...string) (kill func()) {
	f.t.Helper()
	cmd := exec.Command("wfs", args...)
	cmd.Dir, cmd.Env = f.dir, f.env
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	ended := false
	kill = func() {
		if !ended {
			ended = true
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			f.agentGone()
		}
	}
	f.t.Cleanup(kill)
	return kill
}

// until waits until is returns true.
func (f *fixture) until(what string, is func() bool) {
	f.t.Helper()
	for range 6000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	f.t.Fatalf("waited in vain for %s", what)
}

// saved reports whether the newest auto-save of session one holds a file.
func (f *fixture) saved(name string) bool {
	_, exit := f.try(nil, "git", "cat-file", "-e", "refs/wfs/one/auto^2:"+name)
	return exit == 0
}

// tree returns all files of the work tree, ignored ones included, with their contents.
func (f *fixture) tree() string {
	f.t.Helper()
	var all []string
	for _, name := range strings.Split(f.ok("git", "ls-files", "-c", "-o"), "\n") {
		data, err := os.ReadFile(filepath.Join(f.dir, name))
		if err == nil && !strings.HasPrefix(name, ".wfs/") {
			all = append(all, name+"\x00"+string(data))
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "\n")
}

// TestBar07AutoSaveComesBack kills a run, deletes all work of its agent, and restores it from the auto-save.
func TestBar07AutoSaveComesBack(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the processes of a dead run are found on Linux only")
	}
	t.Parallel()
	for _, how := range []struct{ name, first string }{
		{"at once", ""},
		{"after another command had kept what was left", "wfs resume"},
	} {
		t.Run(how.name, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			f.write(".env", "KEY=a secret that is nowhere else\n")
			f.write("staged.txt", "staged\n")
			f.ok("git", "add", "staged.txt")
			f.savingAgent(2, "echo edited > edited.txt", "rm a.txt", "saved_last() { ! git cat-file -e refs/wfs/one/auto^2:a.txt; }", "wait_for saved_last", "wait_for false")
			before := f.blobs()
			index, err := os.ReadFile(filepath.Join(f.dir, ".git/index"))
			if err != nil {
				t.Fatal(err)
			}
			kill := f.begins("run")
			f.until("an auto-save", func() bool { return f.saved("step2") && !f.saved("a.txt") })
			if now, _ := os.ReadFile(filepath.Join(f.dir, ".git/index")); len(index) == 0 || len(now) == 0 {
				t.Error("there is no index")
			}
			kill()
			was := f.tree()
			f.heldOut(".env")
			if s := f.ok("wfs", "status"); !strings.Contains(s, "backup of") || strings.Contains(s, "not in the work tree any more") {
				t.Errorf("status says\n%s", s)
			}
			f.ok("git", "reset", "-q", "--hard")
			f.ok("git", "clean", "-qfd", "-e", ".wfs", "-e", ".env")
			if s := f.ok("wfs", "status"); !strings.Contains(s, "2 of them are not in the work tree any more") || !strings.Contains(s, "next: wfs resume one --backup") {
				t.Errorf("files are lost, and status says\n%s", s)
			}
			if d := f.ok("wfs", "diff", "auto", "--name-only"); !strings.Contains(d, "step1") {
				t.Errorf("wfs diff auto says\n%s", d)
			}
			if how.first != "" {
				f.write("stray.txt", "written since\n")
				f.ok(strings.Fields(how.first)...)
			}
			f.ok("wfs", "resume", "--backup")
			if now := f.tree(); now != was {
				t.Errorf("the files were\n%q\nand are\n%q", was, now)
			}
			f.on("wfs/one")
			f.nothingLost(before)
			f.sound()
			if s := f.ok("wfs", "status"); strings.Contains(s, "auto-save") {
				t.Errorf("what is back is offered still:\n%s", s)
			}
			if out, exit := f.try(nil, "wfs", "resume", "--backup"); exit != exitError || !strings.Contains(out, "older than its latest checkpoint") {
				t.Errorf("a stale one: exit %d: %s", exit, out)
			}
			f.ok("wfs", "undo")
			if f.exists("step1") || f.exists("stray.txt") != (how.first != "") {
				t.Errorf("undone, and there is %q", f.tree())
			}
			f.nothingLost(before)
			f.sound()
		})
	}
}

// TestAutoSaveOfThrownAwayWork has an agent that deletes its own work and continues: the run keeps the deleted work
// and prints the ref.
func TestAutoSaveOfThrownAwayWork(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.savingAgent(3, "rm step1 step2 step3", "echo other > other.txt", "saved other.txt")
	index := f.ok("git", "ls-files", "-s", "--debug")
	f.write("../agent.sh", f.text("../agent.sh")+"git ls-files -s --debug > ../index\n")
	out := f.ok("wfs", "run")
	if !strings.Contains(out, "warning: what was done in 3 files is gone from the work tree; it is kept in refs/wfs/one/rescue/1") {
		t.Errorf("the run says\n%s", out)
	}
	if got := f.ok("git", "show", "refs/wfs/one/rescue/1^2:step3"); !strings.HasPrefix(got, "of step 3 by ") {
		t.Errorf("kept: %q", got)
	}
	if got := strings.TrimSpace(f.text("../index")); got != index {
		t.Errorf("the user's index was\n%s\nand is\n%s", index, got)
	}
	f.branchHolds("wfs/one", "other.txt")
	f.branchLacks("wfs/one", "step1")
	if s := f.ok("wfs", "status"); strings.Contains(s, "backup of") {
		t.Errorf("a stale auto-save is offered:\n%s", s)
	}
	if out := f.ok("wfs", "gc", "--days", "0", "--force"); !strings.Contains(out, "backup of one") || !strings.Contains(out, "backup refs/wfs/one/rescue/1") {
		t.Errorf("gc says\n%s", out)
	}
	if refs := f.ok("git", "for-each-ref", "refs/wfs/one"); strings.Contains(refs, "/auto") || !strings.Contains(refs, "/rescue/1") {
		t.Errorf("gc left\n%s", refs)
	}
	f.sound()
}

// TestAutoSaveOutlivesABlock starts a run while the agent of a killed run is alive and has deleted its work: the
// current files must not replace the saved ones.
func TestAutoSaveOutlivesABlock(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the processes of a dead run are found on Linux only")
	}
	t.Parallel()
	f := plainTemplate.fixture(t)
	// The agent claims to belong to another session: the next run does not end it, and is blocked.
	f.savingAgent(1, "rm step1", "echo gone > ../gone", "WFS_SESSION=other sh -c 'until test -e ../end; do sleep 0.01; done'")
	t.Cleanup(func() { f.write("../end", "") })
	cmd := exec.Command("wfs", "run")
	cmd.Dir, cmd.Env = f.dir, f.env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f.until("the work to be gone", func() bool { return f.exists("../gone") })
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if out, exit := f.try(nil, "wfs", "run"); exit != exitBlocked || !strings.Contains(out, "now gone from the work tree: wfs resume --backup") {
		t.Errorf("exit %d: %s", exit, out)
	}
	f.write("../end", "")
	f.agentGone()
	f.ok("wfs", "resume", "--backup")
	if got := f.text("step1"); !strings.HasPrefix(got, "of step 1 by ") {
		t.Errorf("back is %q", got)
	}
	f.sound()
}

// TestRecoveredEditsAreTheAgents restores files that an interrupted attempt was not allowed to change: the guards of
// the next attempt apply to them as if the agent had continued, and they are not taken for edits by a person.
func TestRecoveredEditsAreTheAgents(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the processes of a dead run are found on Linux only")
	}
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.write(".wfs/workflows/plain.yaml", "version: 1\nname: plain\nstart: WORK\nphases:\n  WORK:\n    run: agent\n"+
		"    guards: {except: [step1]}\n    gates: [{use: tests}]\n    on: {pass: done}\n")
	f.ok("wfs", "trust", "--yes")
	f.ok("wfs", "repin", "one", "--workflow", "plain")
	f.savingAgent(1, "wait_for false")
	kill := f.begins("run")
	f.until("an auto-save", func() bool { return f.saved("step1") })
	kill()
	f.ok("git", "clean", "-qfd", "-e", ".wfs")
	f.ok("wfs", "resume", "--backup")
	f.ok("wfs", "undo")
	f.ok("wfs", "redo")
	f.write("../agent.sh", "echo more > more.txt\n")
	if out, _ := f.try(nil, "wfs", "run", "--max-attempts", "1"); !strings.Contains(out, "phase WORK may not change step1") {
		t.Errorf("what the interrupted attempt did counts as a person's:\n%s", out)
	}
	if log := f.ok("wfs", "log"); !strings.Contains(log, "unjudged, from an interrupted attempt") || strings.Contains(log, "edits found") {
		t.Errorf("the log says\n%s", log)
	}
	f.sound()
}

func (f *fixture) text(name string) string {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(data)
}

// TestConflictIsSaved ends an attempt in the middle of a merge: no branch moves, and the files are saved.
func TestConflictIsSaved(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.saveEvery("1h")
	f.write("../agent.sh", `git() { command git -c user.name=A -c user.email=a@example.com "$@"; }
git switch -q -c theirs; echo theirs > a.txt; git commit -q -a -m theirs
git switch -q wfs/one; echo ours > a.txt; git commit -q -a -m ours
git merge -q theirs; echo more > more.txt
`)
	f.ok("wfs", "repin", "one", "--agent", "sh ../agent.sh")
	out, exit := f.try(nil, "wfs", "run")
	if exit != exitBlocked || !strings.Contains(out, "a merge is in progress") || !strings.Contains(out, "backed up the work tree to refs/wfs/one/auto") {
		t.Fatalf("exit %d: %s", exit, out)
	}
	if got := f.ok("git", "log", "-1", "--format=%s", "wfs/one"); got != "ours" {
		t.Errorf("the branch is at %q", got)
	}
	if text := f.ok("git", "show", "refs/wfs/one/auto^2:a.txt"); !strings.Contains(text, "<<<<<<<") || !f.saved("more.txt") {
		t.Errorf("saved: %s", text)
	}
	if s := f.ok("git", "status", "--porcelain"); !strings.Contains(s, "UU a.txt") && !strings.Contains(s, "AA a.txt") {
		t.Errorf("the merge is not as it was: %s", s)
	}
	f.ok("git", "merge", "--abort")
	os.Remove(filepath.Join(f.dir, "more.txt"))
	f.ok("wfs", "resume", "--backup")
	if !strings.Contains(f.text("a.txt"), "<<<<<<<") || f.text("more.txt") != "more\n" {
		t.Error("the files are not back")
	}
	f.sound()
}
