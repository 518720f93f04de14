package safety

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// strayer is one row: an agent's use of git, and the outcome.
type strayer struct {
	name  string
	does  string   // shell, in the work tree, run by the agent
	exit  int      // of wfs run
	says  []string // texts in the output of run
	then  string   // shell that a person types, following the hint
	again int      // exit code of the next wfs run
	lost  bool     // the git directory was deleted, and everything is lost
}

// TestBar19Agents lets agents use git themselves, and damage the repository with it. wfs adopts or refuses each
// change and notices it before the next step; every checkpoint stays. wfs reports each of the user's refs that the
// agent moved, and keeps its old value alive.
func TestBar19Agents(t *testing.T) {
	t.Parallel()
	const blocked = exitBlocked
	rows := []strayer{
		// On the session's branch.
		{name: "commit", does: `echo w > w.txt; git add w.txt; git commit -q -m mine`, says: []string{"not made by wfs"}},
		{name: "commit --amend", does: `echo w > w.txt; git add w.txt; git commit -q --amend -m mine`, says: []string{"not made by wfs"}},
		{name: "rebase", does: `GIT_SEQUENCE_EDITOR='sed -i 2s/^pick/fixup/' git rebase -q -i HEAD~2; echo w > w.txt`, says: []string{"not made by wfs"}},
		{name: "reset --hard HEAD~2", does: `git reset -q --hard HEAD~2; echo w > w.txt`, says: []string{"the branch was reset to checkpoint 0"}},
		{name: "reset --soft", does: `git reset -q --soft HEAD~2; echo w > w.txt`, says: []string{"the branch was reset to checkpoint 0"}},
		{name: "an orphan in place of the branch", does: `git checkout -q --orphan x; git commit -q -m root; git branch -f wfs/one; git checkout -q wfs/one; echo w > w.txt`, says: []string{"not made by wfs", "x was made"}},
		{name: "empty index", does: `rm .git/index; echo w > w.txt`},
		{name: "rm -r --cached", does: `git rm -q -r --cached .; echo w > w.txt`},
		{name: "assume-unchanged", does: `git update-index --assume-unchanged a.txt; echo hidden >> a.txt; echo w > w.txt`,
			says: []string{"put back, because it shapes what git makes of files: the mark that hid a.txt from git"},
			then: `git show wfs/one:a.txt | grep -qx hidden`},
		{name: "gc --prune=now", does: `echo w > w.txt; git reflog expire --expire=now --all; git gc -q --prune=now`},
		{name: "repack and prune", does: `echo w > w.txt; git repack -adq; git prune --expire=now; git pack-refs --all`},
		{name: "stash", does: `echo w > w.txt; echo edited >> a.txt; git stash -q -u; echo w2 > w2.txt`, says: []string{"refs/stash was moved"}},
		{name: "pop of the user's stash", does: `git stash drop -q; echo w > w.txt`, says: []string{"refs/stash was deleted"}},
		{name: "clean -fdx", does: `git clean -qfdx -e keep.ignored; echo w > w.txt`},
		{name: "add -f of what is ignored", does: `echo s > s.ignored; git add -f s.ignored; echo w > w.txt`},
		{name: "a lock left behind", does: `echo w > w.txt; git config --file .git/refs/heads/wfs/one.lock a.b c; rm -f .git/refs/heads/wfs/one.lock`},

		{name: "locks of gits that were killed", does: `echo w > w.txt; : > .git/index.lock; : > .git/HEAD.lock; : > .git/refs/heads/wfs/one.lock`,
			says: []string{"left git's lock .git/index.lock", "left git's lock .git/HEAD.lock", "left git's lock .git/refs/heads/wfs/one.lock"}},

		// On other branches, and in git's files.
		{name: "checkout of a new branch", does: `git switch -q -c astray; echo w > w.txt`, says: []string{"HEAD was moved to astray", "astray was made at"}},
		{name: "checkout of another branch", does: `git switch -q side; echo w > w.txt`, exit: blocked, says: []string{"HEAD was moved to side"}, then: `rm w.txt; git switch -q wfs/one`},
		{name: "branch -D of the session's", does: `echo w > w.txt; git checkout -q --detach; git branch -q -D wfs/one`, exit: exitError, says: []string{"branch wfs/one is gone", "hint: git branch wfs/one"}, then: `git branch wfs/one HEAD; git switch -q wfs/one`},
		{name: "merge without an end", does: `git checkout -q -b m; echo m > a.txt; git commit -q -am m; git switch -q wfs/one; echo o > a.txt; git commit -q -am o; git merge -q m; true`, exit: blocked, says: []string{"merge is in progress"}, then: `git merge --abort`},
		{name: "branches and tags of its own", does: `git branch mine; git tag mine; git tag -a -m x noted; echo w > w.txt`, says: []string{"mine was made at", "refs/tags/mine was made at", "refs/tags/noted was made at"}},
		{name: "the user's branch deleted", does: `git branch -q -D side; echo w > w.txt`, says: []string{"side was deleted; it was at"}},
		{name: "the user's branch reset", does: `git branch -q -f main main~1; echo w > w.txt`, says: []string{"main was moved from"}},
		{name: "the user's branches committed to", does: `git switch -q side; echo s > s; git add s; git commit -q -m s; git switch -q wfs/one; echo w > w.txt`, says: []string{"side was moved from"}},
		{name: "worktree add", does: `git worktree add -q -b linked ../linked; echo w > w.txt`, says: []string{"linked was made at"}},
		{name: "push", does: `git init -q --bare ../remote.git; git remote add origin ../remote.git; GIT_CONFIG_COUNT=0 git push -q origin HEAD:stolen; echo w > w.txt`, says: []string{"refs/remotes/origin/stolen was made at", ".git/config was changed"}},
		{name: "config core.hooksPath", does: `mkdir ../hooks; printf '#!/bin/sh\ntouch ../hook-ran\n' > ../hooks/post-index-change; chmod +x ../hooks/*; git config core.hooksPath ../hooks; echo w > w.txt`, says: []string{".git/config was changed"}},
		{name: "hooks", does: `mkdir -p .git/hooks; printf '#!/bin/sh\nexit 1\n' > .git/hooks/reference-transaction; chmod +x .git/hooks/*; echo w > w.txt`, says: []string{".git/hooks/reference-transaction was changed"}},
		{name: "excludes and attributes", does: `mkdir -p .git/info; echo '*.txt' > .git/info/exclude; echo '*.txt -text' > .git/info/attributes; echo w > w.md`, says: []string{".git/info/exclude was changed", ".git/info/attributes was changed"}},
		{name: "filter.clean", does: `git config filter.x.clean 'touch ../filter-ran; cat'; mkdir -p .git/info; echo '*.txt filter=x' > .git/info/attributes; echo w > w.txt`, says: []string{".git/config was changed"}},

		// On the state of wfs itself.
		{name: "ledger deleted", does: `git update-ref -d refs/wfs/one/ledger; echo w > w.txt`, exit: blocked, says: []string{"BLOCKED in WORK: tests or records were tampered with", "refs/wfs/one/ledger was deleted during the run; restored"}},
		{name: "ledger moved", does: `git update-ref refs/wfs/one/ledger HEAD~1; echo w > w.txt`, exit: blocked, says: []string{"BLOCKED in WORK: tests or records were tampered with", "refs/wfs/one/ledger was moved to"}},
		{name: "ledger rewound", does: `git update-ref refs/wfs/one/ledger refs/wfs/one/ledger~1; echo w > w.txt`, exit: blocked, says: []string{"BLOCKED in WORK: tests or records were tampered with"}},
		{name: "all refs of wfs deleted", does: `git for-each-ref --format='delete %(refname)' refs/wfs refs/wfs-ops | git update-ref --stdin; echo w > w.txt`, exit: blocked, says: []string{"BLOCKED in WORK: tests or records were tampered with", "refs/wfs/two/ledger was deleted; it was at", "refs/wfs-ops/main was deleted"}},
		{name: "rescues deleted", does: `git for-each-ref --format='delete %(refname)' 'refs/wfs/*/rescue/*' | git update-ref --stdin; echo w > w.txt`, says: []string{"refs/wfs/one/rescue/1 was deleted; it was at"}},
		{name: "ledger of another session", does: `git update-ref -d refs/wfs/two/ledger; git branch -q -D wfs/two; echo w > w.txt`, says: []string{"refs/wfs/two/ledger was deleted; it was at", "wfs/two was deleted"}},
		{name: "ledger and its objects", does: `git update-ref -d refs/wfs/one/ledger; git update-ref -d refs/wfs-ops/main; git reflog expire --expire=now --all; git gc -q --prune=now; echo w > w.txt`,
			exit: exitError, says: []string{"the agent deleted the history of one and its objects"}, lost: true},
		{name: "rm -rf .git/wfs", does: `rm -rf .git/wfs; echo w > w.txt`, exit: exitError, says: []string{"deleted, replaced or changed by another process", "hint: the checkpoints are in git"}},
		{name: "words added to the journal", does: `for f in .git/wfs/sessions/one/events-*; do tail -n 1 "$f" >> "$f"; done; echo w > w.txt`, exit: exitError, says: []string{"changed by another process"}, again: exitError},
		{name: "journal emptied", does: `for f in .git/wfs/sessions/one/events-*; do : > "$f"; done; echo w > w.txt`, exit: exitError, says: []string{"changed by another process"}},
		{name: "rm -rf .git", does: `rm -rf .git; echo w > w.txt`, exit: exitError, says: []string{"the git directory is gone", "hint: restore it from a backup"}, lost: true},
		{name: "rm -rf .git, and git init", does: `rm -rf .git; git init -q; echo w > w.txt`, exit: exitError, says: []string{"hint: "}, lost: true},
	}
	t.Run("rows", func(t *testing.T) {
		for _, s := range rows {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				testkit.Sample(t)
				f := straying.fixture(t)
				f.plays(s)
			})
		}
	})
	t.Logf("%d agents", len(rows))
}

// straying is plainTemplate with an agent that runs, once, the script in a file next to the repository.
var straying = template{Template: testkit.Template{Fast: true}, make: func(f *fixture) {
	plainTemplate.make(f)
	f.ok("wfs", "repin", "--agent", "sh -e ../agent.sh")
	f.write("rescued.txt", "in a rescue and nowhere else\n")
	f.ok("wfs", "resume", "one@2")
}}

func (f *fixture) plays(s strayer) {
	f.t.Helper()
	top := filepath.Dir(f.dir)
	script := "test -e ../ran && { echo more >> more.txt; exit 0; }\ntouch ../ran\nexport GIT_CONFIG_GLOBAL=" + top + "/gitconfig\n" + s.does + "\n"
	if err := os.WriteFile(filepath.Join(top, "agent.sh"), []byte(script), 0o666); err != nil {
		f.t.Fatal(err)
	}
	before := f.blobs()
	tip := f.ok("git", "rev-parse", "wfs/one")
	out, exit := f.try(nil, "wfs", "run")
	if exit != s.exit {
		f.t.Errorf("run: exit %d, want %d:\n%s", exit, s.exit, out)
	}
	for _, want := range s.says {
		if !strings.Contains(out, want) {
			f.t.Errorf("run does not say %q:\n%s", want, out)
		}
	}
	for _, ran := range []string{"hook-ran"} {
		if f.exists("../" + ran) {
			f.t.Errorf("%s", ran)
		}
	}
	if !f.exists("w.txt") && !f.exists("w.md") && !f.exists("w2.txt") && s.then == "" {
		f.t.Errorf("the agent's file is gone: %s", out)
	}
	if s.lost {
		return
	}
	if s.then != "" {
		f.ok("sh", "-e", "-c", s.then)
	}
	if out, exit := f.try(nil, "wfs", "run"); exit != s.again {
		f.t.Errorf("run again: exit %d, want %d:\n%s", exit, s.again, out)
	}
	if s.again == 0 {
		f.on("wfs/one")
	}
	reachable := f.reachable()
	if !reachable[tip] {
		f.t.Errorf("the last checkpoint %s is in no ref", tip)
	}
	for id, where := range before {
		if where == "refs" && !reachable[id] {
			f.t.Errorf("%s was reachable, and is not", id)
		}
	}
	f.ok("git", "fsck", "--full", "--no-dangling")
	if s.again == 0 {
		for n := range 3 { // every checkpoint still exists
			f.ok("wfs", "show", fmt.Sprint(n))
		}
	}
}
