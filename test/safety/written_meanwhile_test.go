package safety

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// during returns an environment in which a shell command runs whenever wfs passes a point, as if a user typed it then.
func during(point, command string) []string {
	return []string{"WFS_FAILPOINT=" + point, "WFS_FAILPOINT_DO=" + command}
}

// okWhile runs a command that must succeed, while a shell command runs at a point.
func (f *fixture) okWhile(point, command string, args ...string) string {
	f.t.Helper()
	out, exit := f.try(during(point, command), append([]string{"wfs"}, args...)...)
	if exit != exitOK {
		f.t.Fatalf("wfs %s: exit %d: %s", strings.Join(args, " "), exit, out)
	}
	return out
}

// meddles switches from session one to session two while a command runs right before files are moved, so many times.
// In the command, $n is the number of its earlier runs.
func (f *fixture) meddles(times int, command string) (string, int) {
	f.t.Helper()
	return f.meddlesAt("move/files", times, command)
}

func (f *fixture) meddlesAt(point string, times int, command string) (string, int) {
	f.t.Helper()
	return f.meddlesIn(point, times, command, "switch", "two")
}

func (f *fixture) meddlesIn(point string, times int, command string, args ...string) (string, int) {
	f.t.Helper()
	return f.try(during(point, fmt.Sprintf(`n=$(cat ../meddled 2> /dev/null || echo 0)
[ $n -lt %d ] || exit 0
echo $((n+1)) > ../meddled
%s
find . -path ./.git -prune -o -type f -print0 | xargs -0 git hash-object --no-filters >> ../meanwhile`, times, command)), append([]string{"wfs"}, args...)...)
}

// withMeanwhile adds the contents that the work tree had after each run of the meddling command.
func (f *fixture) withMeanwhile(before map[string]string) {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(f.dir, "../meanwhile"))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, id := range strings.Fields(string(data)) {
		before[id] = "work tree, for a moment"
	}
}

// Files that are written between the snapshot of a move and its file changes are kept like all others, and the move
// continues. They may be written before wfs checks the files once more, or after that, when git checks them.
func TestWrittenToInTheMiddleOfAMove(t *testing.T) {
	for name, write := range map[string]string{
		"a file that goes is edited":                    "echo edited in between $n > first.txt",
		"a file appears where one comes":                "echo appeared in between $n > of-two.txt",
		"a directory appears there":                     "rm -f of-two.txt; mkdir -p of-two.txt; echo appeared in between $n > of-two.txt/x",
		"a file goes by itself":                         "rm -f first.txt",
		"a file that has nothing to do with it appears": "echo beside $n > beside.txt",
	} {
		for _, point := range []string{"move/files", "move/planned"} {
			t.Run(name+", "+point, func(t *testing.T) {
				t.Parallel()
				f := plainTemplate.fixture(t)
				f.dirty()
				before := f.blobs()
				out, exit := f.meddlesAt(point, 2, write)
				if exit != exitOK {
					t.Fatalf("exit %d: %s", exit, out)
				}
				f.withMeanwhile(before)
				f.nothingLost(before)
				f.sound()
				f.on("wfs/two")
				if !f.exists("of-two.txt") || f.exists("first.txt") {
					t.Error("the work tree is not two's")
				}
			})
		}
	}
}

// If the files keep changing, the command fails, and the next one continues.
func TestWrittenToWithoutEndInTheMiddleOfAMove(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.dirty()
	before := f.blobs()
	out, exit := f.meddles(100, "echo edited in between $n > first.txt")
	if exit != exitError || !strings.Contains(out, "first.txt") {
		t.Errorf("exit %d: %s", exit, out)
	}
	f.withMeanwhile(before)
	f.nothingLost(before)
	f.ok("wfs", "switch", "two")
	f.nothingLost(before)
	onTwo(f)
	f.sound()
}

// If a user moves HEAD in the middle of a move, HEAD stays there.
func TestHeadMovedInTheMiddleOfAMove(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.dirty()
	before := f.blobs()
	out, exit := f.meddles(1, "echo edited in between > first.txt; git symbolic-ref HEAD refs/heads/side")
	if exit != exitError || !strings.Contains(out, "HEAD was moved by another process") {
		t.Errorf("exit %d: %s", exit, out)
	}
	f.nothingLost(before)
	f.on("side")
	f.happened("two", "move_started dropped")
}

// A user's commit on a session's branch that no checkpoint has adopted yet stays reachable when the branch is moved
// back.
func TestCommitsByHandOutliveAMove(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		t.Run(fmt.Sprintf("elsewhere=%t", elsewhere), func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			f.write("by-hand.txt", "by hand\n")
			f.ok("git", "add", "-A")
			f.ok("git", "commit", "-q", "-m", "by hand")
			if elsewhere {
				f.ok("git", "switch", "-q", "main")
			}
			before := f.blobs()
			f.ok("wfs", "resume", "one@0")
			f.nothingLost(before)
			f.ok("wfs", "checkpoint")
			f.nothingLost(before)
			f.ok("wfs", "undo")
			f.nothingLost(before)
			f.ok("wfs", "switch", "main")
			f.ok("wfs", "switch", "one")
			f.branchHolds("wfs/one", "by-hand.txt")
		})
	}
}
