package safety

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// doctor's statements about a state.
const (
	saysWell   = iota // nothing, and all commands work
	saysWarns         // findings, but none that blocks
	saysBlocks        // something blocks: a command is refused, and the printed commands repair it
)

// TestDoctorClaims checks that doctor's statements about a state agree with real commands there.
func TestDoctorClaims(t *testing.T) {
	t.Parallel()
	const old = `touch -d '1 hour ago' `
	for _, c := range []struct {
		name, make string
		says       int
		words      string // the command to type, if doctor describes it in words only
	}{
		{"healthy", `:`, saysWell, ""},
		{"after moves", `wfs resume one@1; wfs undo; wfs switch main; wfs undo`, saysWell, ""},
		{"a work tree was removed", `wfs new five --worktree --workflow plain --agent true; wfs delete --worktree five`, saysWell, ""},
		{"a work tree was deleted", `wfs new five --worktree --workflow plain --agent true; rm -rf ../repo-five`, saysWarns, ""},
		{"a work tree was set aside", `wfs new five --worktree --workflow plain --agent true; git -C ../repo-five switch -q --detach
			git worktree move ../repo-five ../repo-five.wfs-kept-1`, saysWell, ""},
		{"hooks that refuse", `printf '#!/bin/sh\nexit 1\n' > .git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit
			cp .git/hooks/pre-commit .git/hooks/post-checkout; cp .git/hooks/pre-commit .git/hooks/reference-transaction`, saysWell, ""},
		{"on no branch", `git switch -q --detach`, saysWarns, "git switch -q wfs/one"},
		{"lock of a branch", `: > .git/refs/heads/wfs/one.lock; ` + old + `.git/refs/heads/wfs/one.lock`, saysBlocks, ""},
		{"young lock that nobody holds", `: > .git/refs/heads/wfs/one.lock`, saysBlocks, ""},
		{"lock of the index", `: > .git/index.lock; ` + old + `.git/index.lock`, saysBlocks, ""},
		{"lock of packed refs", `: > .git/packed-refs.lock; ` + old + `.git/packed-refs.lock`, saysBlocks, ""},
		{"lock of a user's branch", `: > .git/refs/heads/side.lock; ` + old + `.git/refs/heads/side.lock`, saysWarns, ""},
		{"lock of the configuration", `: > .git/config.lock; ` + old + `.git/config.lock`, saysWarns, ""},
		{"a merge", `git rev-parse side > .git/MERGE_HEAD`, saysBlocks, `git merge --abort`},
		{"damaged index", `echo x > .git/index`, saysBlocks, `mv .git/index ../index && git reset -q`},
		{"damaged branch", `echo x > .git/refs/heads/wfs/one`, saysBlocks, ""},
		{"damaged ledger", `echo x > .git/refs/wfs/two/ledger`, saysBlocks, ""},
		{"deleted branch", `git update-ref -d refs/heads/wfs/two`, saysBlocks, ""},
		{"operation log that is rubbish", `git update-ref refs/wfs-ops/main main`, saysWarns, ""},
		{"configuration that cannot be read", `echo 'version: [' > .wfs/config.yaml`, saysBlocks, `git checkout -q .wfs`},
		{"FIFO for one's excludes", `mkfifo ../excludes; git config core.excludesFile "$PWD/../excludes"`, saysBlocks, `rm ../excludes`},
		{"huge index", `dd if=/dev/zero of=.git/index bs=1 count=1 seek=3G`, saysBlocks, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			testkit.Sample(t)
			f := plainTemplate.fixture(t)
			f.ok("sh", "-c", "{ "+c.make+"\n} > ../said 2>&1")
			report, exit := f.try(nil, "timeout", "-s", "KILL", "60", "wfs", "doctor", "--json")
			var said struct {
				Findings []struct{ Level, Next string }
				Hint     string // if doctor could not check
			}
			if err := json.Unmarshal([]byte(report), &said); err != nil {
				t.Fatalf("exit %d: %s", exit, report)
			}
			got, next := saysWell, []string{said.Hint}
			switch {
			case exit != exitOK:
				got = saysBlocks
			case len(said.Findings) > 0:
				got = saysWarns
			}
			if got != c.says {
				t.Fatalf("doctor, exit %d: %s", exit, report)
			}
			if got == saysBlocks {
				if refused := f.refused(); refused == "" {
					t.Fatalf("doctor says that something blocks, and every command works: %s", report)
				}
				for _, d := range said.Findings {
					if d.Level == "blocks" {
						next = append(next, d.Next)
					}
				}
			}
			if c.words != "" {
				next = []string{c.words}
			}
			for _, line := range next {
				f.ok("sh", "-c", line)
			}
			if refused := f.refused(); refused != "" {
				t.Errorf("doctor says: %s; typed: %q; but %s", report, next, refused)
			}
		})
	}
}

// refused runs the commands of a usual day, and returns the output of the first that fails.
func (f *fixture) refused() string {
	for _, line := range []string{"resume one", "checkpoint", "resume one@1", "undo", "run one", "switch main",
		"new three --workflow plain --agent true", "resume two", "resume one", "delete two --force", "undo", "new four --worktree --workflow plain --agent true", "status", "list"} {
		if out, exit := f.try(nil, append([]string{"timeout", "-s", "KILL", "30", "wfs"}, strings.Fields(line)...)...); exit != exitOK {
			return line + ": " + out
		}
	}
	return ""
}
