package safety

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// small runs a shell script in a copy of the repository on a file system of its own, mounted with options such as
// size=64m. It skips the test where mounting is not allowed.
func (f *fixture) small(options, script string) (string, int) {
	f.t.Helper()
	const mounted = `mount -t tmpfs -o "$0" none "$1" && shift && `
	dir := f.t.TempDir()
	if out, err := exec.Command("unshare", "-rm", "sh", "-c", mounted+"true", options, dir).CombinedOutput(); err != nil {
		notHere(f.t, fmt.Sprintf("no file system of its own: %v: %s", err, out))
	}
	all := `set -e; mount -t tmpfs -o "$0" none "$1"; cp -a "$2" "$1/repo"; cd "$1/repo"; ` + script
	return f.try(nil, "unshare", "-rm", "sh", "-c", all, options, dir, f.dir)
}

// TestDoctorLittleSpace checks that doctor names an almost full file system before any command fails.
func TestDoctorLittleSpace(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	for options, says := range map[string]string{
		"size=100m":                "are left on this file system; a checkpoint may fail, without losing anything. Type: wfs gc",
		"size=1g,nr_inodes=2000":   "more files can be made on this file system; a checkpoint may fail, without losing anything. Type: git gc",
		"size=1g,nr_inodes=100000": "",
	} {
		out, exit := f.small(options, "wfs doctor")
		if exit != exitOK || says != "" && !strings.Contains(out, says) || says == "" && strings.Contains(out, "on this file system") {
			t.Errorf("%s: exit %d: %s", options, exit, out)
		}
	}
}

// TestBar09FullDisk fills a real disk, by bytes and by files: the checkpoint fails and gives the reason, nothing is
// lost or half-made, sessions are readable, and once there is space again the same command succeeds.
func TestBar09FullDisk(t *testing.T) {
	t.Parallel()
	for options, fill := range map[string]string{
		"size=24m":                `dd if=/dev/zero of=../full bs=4k 2> /dev/null || true`,
		"size=256m,nr_inodes=900": `mkdir ../full; (cd ../full; seq 1000 | xargs touch 2> /dev/null || true)`,
	} {
		t.Run(options, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			f.write("untracked.txt", strings.Repeat("something that is nowhere else\n", 1000))
			out, exit := f.small(options, `
wfs trust --yes > ../said; wfs trust one --yes > ../said
before=$(git for-each-ref)
`+fill+`
! wfs checkpoint 2>&1 || exit 11
test "$before" = "$(git for-each-ref)" || exit 12
wfs status || exit 13
wfs doctor || exit 14
rm -rf ../full
wfs checkpoint || exit 15
git cat-file -e wfs/one:untracked.txt || exit 16
git fsck --full --strict || exit 17
test -z "$(git status --porcelain)" || exit 18
test -z "$(find .git -name '*.lock' -size +0 -path '*/refs/*')" || exit 19
`)
			if exit != 0 {
				t.Fatalf("exit %d: %s", exit, out)
			}
			testkit.Holds(t, out, "no space left on device", "on this file system")
		})
	}
}

// TestFullDiskMove fills a real disk before a resume, completely or so far that the files of the move do not fit: one
// line reports the full disk, everything is as before, and once there is space the same command works.
func TestFullDiskMove(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	out, exit := f.small("size=32m", `
wfs trust --yes > ../said; wfs trust one --yes > ../said
dd if=/dev/urandom of=big.bin bs=1k count=4000 2> ../said
wfs checkpoint -m big > ../said 2>&1; rm big.bin; wfs checkpoint -m small > ../said 2>&1
state() { git for-each-ref; git status --porcelain; cat .git/HEAD; git ls-files -s; find . -name .git -prune -o -type f -exec cksum {} +; }
before=$(state)
for left in 0 1 2; do
	dd if=/dev/zero of=../full bs=4k 2> /dev/null || true
	truncate -s -${left}m ../full
	if said=$(wfs resume one@3 2>&1); then echo "$left MB were enough"; exit 11; fi
	echo "$left: $said"
	test "$(echo "$said" | grep -c 'disk is full')" = 1 || exit 12
	test "$(echo "$said" | wc -l)" = 2 || exit 13
	rm ../full
	test "$before" = "$(state)" || { state; exit 14; }
	wfs doctor || exit 15
done
wfs resume one@3 || exit 16
test -s big.bin || exit 17
wfs undo || exit 18
test ! -e big.bin || exit 19
git fsck --full --strict || exit 20
`)
	if exit != 0 {
		t.Fatalf("exit %d: %s", exit, out)
	}
}
