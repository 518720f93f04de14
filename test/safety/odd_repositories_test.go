package safety

import "testing"

// conflicting makes two branches that cannot be merged.
const conflicting = `git switch -q -c theirs; echo theirs > a.txt; git commit -q -am theirs; git switch -q main; echo ours > a.txt; git commit -q -am ours; `

// TestBar19Repositories has repositories that differ from a fresh `git init`.
func TestBar19Repositories(t *testing.T) {
	t.Parallel()
	const finishIt = "git status"
	testOddities(t, []oddity{
		// In the middle of something.
		{name: "no commits", make: `rm -rf .git; git init -q`, says: "no commits yet", hint: "git commit"},
		{name: "merge", make: conflicting + `! git merge -q theirs`, says: "merge is in progress", hint: finishIt},
		{name: "merge without conflicts", make: `git switch -q side; echo s > s; git add s; git commit -q -m s; git switch -q main; git merge -q --no-ff --no-commit side`,
			says: "merge is in progress", hint: finishIt},
		{name: "rebase, merging", make: conflicting + `! git rebase -q theirs`, says: "rebase is in progress", hint: finishIt},
		{name: "rebase, applying", make: conflicting + `! git rebase -q --apply theirs`, says: "rebase is in progress", hint: finishIt},
		{name: "rebase, stopped to edit", make: conflicting + `GIT_SEQUENCE_EDITOR='sed -i s/^pick/edit/' git rebase -q -i HEAD~1`, says: "rebase is in progress", hint: finishIt},
		{name: "am", make: conflicting + `git format-patch -q -1 -o .. theirs; ! git am -q ../0001-theirs.patch`, says: "am is in progress", hint: finishIt},
		{name: "cherry-pick", make: conflicting + `! git cherry-pick theirs`, says: "cherry-pick is in progress", hint: finishIt},
		{name: "cherry-pick of several", make: conflicting + `git switch -q theirs; echo t > t; git add t; git commit -q -m t; git switch -q main; ! git cherry-pick main..theirs; git checkout -q --ours a.txt; git add a.txt; git commit -q --allow-empty -m resolved`,
			says: "in progress", hint: finishIt},
		{name: "revert", make: `echo 2 > a.txt; git commit -q -am two; echo 3 > a.txt; git commit -q -am three; ! git revert --no-edit HEAD~1`, says: "revert is in progress", hint: finishIt},
		{name: "bisect", make: `git bisect start`, says: "bisect is in progress", hint: finishIt},
		{name: "unmerged after a stash", make: `echo x > a.txt; git commit -q -am x; ! git stash pop -q`, says: "unmerged paths", hint: "git add"},
		{name: "damaged index", make: `printf xx | dd of=.git/index bs=1 seek=20 conv=notrunc 2> /dev/null; printf xx | dd of=.git/index bs=1 seek=0 conv=notrunc 2> /dev/null`, says: "the index is damaged: bad signature", hint: "git reset"},
		{name: "branch called wfs", make: `git branch -D -q wfs/older; git branch wfs`, says: "refs/heads/wfs exists", hint: "git branch -m"},
		{name: "tag called wfs", make: `git tag wfs`},
		{name: "unborn branch of a session", make: `git symbolic-ref HEAD refs/heads/wfs/unborn`, says: "HEAD is on wfs/unborn, which has no commit yet", hint: "git switch"},
		{name: "unborn branch", make: `git switch -q --orphan fresh`, says: "HEAD is on fresh, which has no commit yet", hint: "git switch"},
		{name: "own branch below wfs/", make: `git branch wfs/life; git switch -q -c wfs/mine`},
		{name: "HEAD on a remote's branch", make: `git update-ref refs/remotes/origin/x HEAD; git symbolic-ref HEAD refs/remotes/origin/x`},
		{name: "ambiguous names", make: `git tag wfs/life; git tag main; git update-ref refs/heads/HEAD HEAD; git update-ref refs/heads/refs/heads/main HEAD`},

		// Of another kind.
		{name: "bare", make: `git clone -q --bare . ../bare.git; rm -rf .git; mv ../bare.git .git`, in: ".git", says: "bare repository", hint: "git worktree", closed: true},
		{name: "inside .git", make: `true`, in: ".git", says: "inside a git directory", hint: "cd", closed: true},
		{name: "no repository", make: `rm -rf .git`, says: "not a git repository", hint: "git init", closed: true},
		{name: "of a newer git", make: `git config core.repositoryFormatVersion 2`, says: "version", hint: "git", closed: true},
		{name: "with an unknown extension", make: `git config core.repositoryFormatVersion 1; git config extensions.hologram true`, says: "hologram", hint: "git", closed: true},
		{name: "of somebody else", needs: byRoot, make: `chown -R 12345 .`, says: "owner", hint: "safe.directory", closed: true},
		{name: "of somebody else, declared safe", needs: byRoot, make: `chown -R 12345 .; git config --file ../gitconfig safe.directory "$PWD"`},
		{name: "shallow", make: `git commit -q --allow-empty -m more; git clone -q --depth 1 "file://$PWD" ../shallow; rm -rf .git; mv ../shallow/.git .git; git remote remove origin`},
		{name: "partial, offline", make: `git config uploadpack.allowFilter true; echo 2 > a.txt; git commit -qam 2; git clone -q --filter=blob:none "file://$PWD" ../partial; rm -rf .git; mv ../partial/.git .git; git remote set-url origin file:///nowhere`},
		{name: "partial, files missing", make: `git config uploadpack.allowFilter true; git clone -q -n --filter=blob:none "file://$PWD" ../partial; mv .git ../lender.git; rm -rf a.txt; mv ../partial/.git .git; git remote set-url origin "file://$PWD/../lender.git"; git sparse-checkout set --no-cone '/*' '!/a.txt'; git checkout -q -f; git remote set-url origin file:///nowhere`, apart: "a.txt"},
		{name: "linked work tree", make: `git worktree add -q -b linked ../linked; mv .git ../main.git; git -C ../main.git worktree repair "$PWD/../linked" > /dev/null; cp ../linked/.git .git; rm -rf ../linked; git worktree repair; git -C ../main.git update-ref --no-deref HEAD main`},
		{name: "work tree of a submodule", make: `git init -q ../super; mkdir -p ../super/.git/modules; mv .git ../super/.git/modules/sub; git -C ../super/.git/modules/sub config core.worktree "$PWD"; echo "gitdir: ../super/.git/modules/sub" > .git`},
		{name: "sha256", make: `rm -rf .git; git init -q --object-format=sha256; git add -A; git commit -q -m start`},
		{name: "reftable", needs: reftable, make: `rm -rf .git; git init -q --ref-format=reftable; git add -A; git commit -q -m start`},
		{name: "alternates", make: `git clone -q --shared . ../borrower; mv .git ../lender.git; git -C ../borrower config --unset remote.origin.url; echo "$PWD/../lender.git/objects" > ../borrower/.git/objects/info/alternates; rm -rf .git; mv ../borrower/.git .git`},
		{name: ".git is a file", make: `git init -q --separate-git-dir ../elsewhere.git`},
		{name: ".git is a link", make: `mv .git ../elsewhere.git; ln -s ../elsewhere.git .git`},
		{name: "HEAD is a link", make: `rm .git/HEAD; ln -s refs/heads/main .git/HEAD`},
		{name: "packed refs", make: `git pack-refs --all --prune; git gc -q`},
		{name: "grafts", make: `git commit -q --allow-empty -m two; git commit -q --allow-empty -m three; git rev-parse HEAD > .git/info/grafts; git config advice.graftFileDeprecated false`},
		{name: "replaced objects", make: `echo x > x; git add x; git commit -q -m x; git replace HEAD HEAD~1`},
		{name: "replaced file", make: `git replace -f "$(git rev-parse HEAD:a.txt)" "$(git rev-parse HEAD:gone.txt)"`},

		// With another index, or other files.
		{name: "index of version 4", make: `git update-index --index-version 4`},
		{name: "split index", make: `git update-index --split-index; touch x; git add x; git commit -q -m x`},
		{name: "untracked cache", make: `git update-index --untracked-cache; git status > /dev/null`},
		{name: "no index", make: `rm .git/index`},
		// Checkpoints hold files outside of the patterns; a move does not write them to the work tree, as in git.
		{name: "sparse, cone", make: `git sparse-checkout set --cone dir/deep .wfs`, apart: "new/file.txt"},
		{name: "sparse, patterns", make: `git sparse-checkout set --no-cone '/*' '!/a.txt'`, apart: "a.txt"},
		{name: "sparse index", make: `mkdir other; echo o > other/o; git add other; git commit -q -m o; git sparse-checkout set --cone --sparse-index dir/deep .wfs`, apart: "new/file.txt"},
		// People hide their own settings in this way. No checkpoint has them, and no move touches them.
		{name: "assumed unchanged", make: `git update-index --assume-unchanged a.txt`, skips: "a.txt (marked assume-unchanged", apart: "a.txt"},
		{name: "skip-worktree", make: `git update-index --skip-worktree a.txt`, skips: "a.txt (marked assume-unchanged", apart: "a.txt"},
		// The mark has no content, and no tree can hold it.
		{name: "intent to add", make: `echo i > intended.txt; git add -N intended.txt`, status: "?? intended.txt\n"},
		{name: "nested repository", make: `git init -q nested; cd nested; echo n > n; git add n; git commit -q -m n`, skips: "nested"},
		{name: "nested repository without commits", make: `git init -q nested; echo n > nested/n`, skips: "nested"},
		{name: "nested repository, broken", make: `mkdir nested; echo gitdir: /nowhere > nested/.git; echo n > nested/n`},
		{name: "bare repository in a directory", make: `git init -q --bare tool.git; git add tool.git; git commit -q -m tool`},
		{name: "dirty submodule", make: `git init -q ../lib; echo l > ../lib/l; git -C ../lib add l; git -C ../lib commit -q -m l; git -c protocol.file.allow=always submodule -q add ../lib lib; git commit -q -m lib; echo dirty > lib/l; echo untracked > lib/u`, skips: "lib (a submodule with changes", stays: true},
		{name: "submodule that was not checked out", make: `git init -q ../lib; git -C ../lib commit -q --allow-empty -m l; git -c protocol.file.allow=always submodule -q add ../lib lib; git commit -q -m lib; git submodule -q deinit -f lib`, stays: true},

		// With other environment variables, or in another directory.
		{name: "GIT_DIR of another repository", make: `git init -q ../other`, env: []string{"GIT_DIR=../other/.git"}},
		{name: "GIT_WORK_TREE", make: `mkdir ../other`, env: []string{"GIT_WORK_TREE=../other"}},
		{name: "GIT_INDEX_FILE", make: `true`, env: []string{"GIT_INDEX_FILE=/nowhere/index"}},
		{name: "GIT_OBJECT_DIRECTORY", make: `true`, env: []string{"GIT_OBJECT_DIRECTORY=/nowhere", "GIT_ALTERNATE_OBJECT_DIRECTORIES=/nowhere"}},
		{name: "in a directory below", make: `true`, in: "dir/deep"},
	})
}
