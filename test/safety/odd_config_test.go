package safety

import "testing"

// TestBar19Configuration sets options of git that change its commands' effects, output, programs or refusals. They
// must not affect checkpoints and moves. finish makes the user's own commit, so they apply there.
func TestBar19Configuration(t *testing.T) {
	t.Parallel()
	// hook writes a shell script as a hook into the configured hooks directory.
	const hooks = `mkdir ../hooks; hook() { printf '#!/bin/sh\n%s\n' "$2" > "../hooks/$1"; chmod +x "../hooks/$1"; }; git config core.hooksPath "$PWD/../hooks"; `
	testOddities(t, []oddity{
		// Identity, and how commits are made.
		{name: "nobody", make: `git config --file ../gitconfig --remove-section user; git config user.useConfigOnly true`, finish: "git does not know who you are"},
		{name: "author and committer", make: `git config author.name A; git config author.email a@example.com; git config committer.name C; git config committer.email c@example.com`},
		{name: "name in another encoding", make: `git config user.name "$(printf 'J\366rg')"; git config i18n.commitEncoding ISO-8859-1; git config i18n.logOutputEncoding ISO-8859-1`},
		{name: "commit.gpgSign without a key", make: `git config commit.gpgSign true; git config tag.gpgSign true; git config user.signingKey nobody; git config gpg.program false`, finish: "gpg"},
		{name: "commit.template", make: `echo template > ../template; git config commit.template "$PWD/../template"; git config commit.cleanup verbatim; git config commit.verbose true; git config core.commentChar w`},
		{name: "editor and pager that fail", make: `git config core.editor false; git config sequence.editor false; git config core.pager false; git config core.askPass false`},

		// Programs that git runs.
		{name: "hooks that fail", make: hooks + `for h in pre-commit prepare-commit-msg commit-msg post-commit post-checkout post-merge pre-auto-gc post-rewrite post-index-change reference-transaction; do hook $h 'exit 1'; done`, finish: "git commit"},
		{name: "a hook of finish that fails", make: hooks + `hook pre-commit 'echo the hook says no >&2; exit 1'`, finish: "the hook says no"},
		// finish may run these hooks, because it makes a commit of the user's. No other command of wfs may.
		{name: "hooks that take an hour", make: hooks + `for h in post-checkout post-index-change reference-transaction pre-auto-gc; do hook $h 'test "$GIT_ADVICE" != 0 || sleep 3600'; done`},
		{name: "hooks directory missing", make: `git config core.hooksPath /nowhere/hooks`},
		{name: "core.fsmonitor that lies", make: hooks + `hook fsmonitor 'printf "token\0"'; git config core.fsmonitor "$PWD/../hooks/fsmonitor"; git config core.fsmonitorHookVersion 2; git update-index --fsmonitor; git status > /dev/null`},
		{name: "core.fsmonitor that fails", make: `git config core.fsmonitor false-and-nowhere`},
		{name: "filter, required and missing", make: `echo '*.bin filter=lfs' > .gitattributes; echo b > x.bin; touch -d '1 hour ago' x.bin; git add -A; git commit -q -m bin; git config filter.lfs.clean 'git-lfs-is-not-here clean'; git config filter.lfs.smudge 'git-lfs-is-not-here smudge'; git config filter.lfs.required true`, finish: "clean filter"},
		{name: "filter, missing", make: `echo '*.txt filter=gone' > .gitattributes; git add -A; git commit -q -m attributes; git config filter.gone.clean 'no-such-filter'; git config filter.gone.smudge 'no-such-filter'`},
		{name: "external diff, merge and text conversion", make: `echo '*.txt diff=own merge=own' > .gitattributes; git add -A; git commit -q -m attributes; git config diff.external false; git config diff.own.command false; git config diff.own.textconv false; git config merge.own.driver false`},
		{name: "aliases", make: `for a in status commit add checkout update-ref wfs co; do git config alias.$a '!false'; done`},
		{name: "gc at every moment", make: `git config gc.auto 1; git config gc.autoDetach false; git config gc.pruneExpire now; git config gc.worktreePruneExpire now; git config gc.reflogExpire now; git config maintenance.auto true`},
		{name: "trace2 and prompts", make: `git config trace2.eventTarget /nowhere/trace; git config credential.helper '!false'; git config core.alternateRefsCommand false`},

		// How git writes files.
		{name: "autocrlf", make: `git config core.autocrlf true; git config core.safecrlf true`, filters: true},
		{name: "autocrlf=input", make: `printf 'one\r\ntwo\r\n' > crlf.txt; git add -A; git commit -q -m crlf; git config core.autocrlf input; git config core.safecrlf true`},
		{name: "eol=crlf by attribute", make: `echo '* text=auto eol=crlf' > .gitattributes; git add --renormalize .; git add -A; git commit -q -m eol`, filters: true},
		{name: "ident and working-tree-encoding", make: `printf '*.id ident\n*.u16 text working-tree-encoding=UTF-16LE\n' > .gitattributes; echo '$Id$' > x.id; printf 'u\0\n\0' > x.u16; git add -A; git commit -q -m attributes; git checkout-index -f x.id`},
		{name: "fileMode=false", make: `git config core.fileMode false`, filters: true},
		{name: "symlinks=false", make: `ln -s a.txt link; git add link; git commit -q -m link; git config core.symlinks false`, filters: true},
		{name: "ignoreCase=true", make: `git config core.ignoreCase true`},
		{name: "precomposeUnicode", make: `git config core.precomposeUnicode true`},
		{name: "protectHFS and protectNTFS off", make: `git config core.protectHFS false; git config core.protectNTFS false`},
		{name: "ignoreStat", make: `git config core.ignoreStat true; git update-index --really-refresh; echo x > x; git add x; git commit -q -m x`, skips: "a.txt (marked assume-unchanged", apart: `a\.txt|gone\.txt|dir/deep/b\.txt`},
		{name: "checkStat=minimal, trustctime=false", make: `git config core.checkStat minimal; git config core.trustctime false`},
		{name: "sharedRepository", make: `git config core.sharedRepository 0660`},
		{name: "bigFileThreshold", make: `git config core.bigFileThreshold 1; git config core.compression 0; git config pack.packSizeLimit 1m; git config core.deltaBaseCacheLimit 1`},
		{name: "core.worktree", make: `mkdir ../gitdir; mv .git ../gitdir/.git; git --git-dir=../gitdir/.git config core.worktree "$PWD"; echo "gitdir: $PWD/../gitdir/.git" > .git`},
		{name: "excludesFile missing", make: `git config core.excludesFile /nowhere/excludes; git config core.attributesFile /nowhere/attributes`},
		{name: "excludesFile is a directory", make: `mkdir ../excludes; git config core.excludesFile "$PWD/../excludes"`, says: "your exclude file cannot be used", hint: "core.excludesFile"},
		{name: "excludesFile of a nobody's home", make: `git config core.excludesFile '~no-such-user/excludes'`, says: "no-such-user", hint: "git status", closed: true},

		// How git stores its data.
		{name: "index.version and index.skipHash", make: `git config index.version 4; git config index.skipHash true; git config index.threads 2; git config core.preloadIndex false`},
		{name: "feature.manyFiles", make: `git config feature.manyFiles true; git config core.untrackedCache true; git config core.splitIndex true; git status > /dev/null`},
		{name: "fsync", make: `git config core.fsync none; git config core.fsyncMethod writeout-only; git config core.fsyncObjectFiles false`},
		{name: "reflogs", make: `git config core.logAllRefUpdates always`},
		{name: "no reflogs", make: `git config core.logAllRefUpdates false; rm -rf .git/logs`},
		{name: "preferSymlinkRefs", make: `git config core.preferSymlinkRefs true`},
		{name: "worktreeConfig", make: `git config extensions.worktreeConfig true; git config --worktree core.sparseCheckout false`},
		{name: "hidden refs", make: `git config transfer.hideRefs refs/wfs; git config receive.hideRefs refs/heads/wfs; git config uploadpack.hideRefs refs`},
		{name: "namespaces and remotes", make: `git config remote.wfs.url /nowhere; git config remote.pushDefault wfs; git config push.default matching; git config fetch.prune true; git config url.https://example.com/.insteadOf /; git config branch.autoSetupMerge always; git config branch.autoSetupRebase always`},
		{name: "submodule.recurse", make: `git config submodule.recurse true; git config diff.ignoreSubmodules all; git config status.submoduleSummary true; git config diff.submodule log`},
		{name: "include of a missing file", make: `git config include.path /nowhere/config; git config includeIf.gitdir:/.path also/nowhere`},
		{name: "include in a circle", make: `git config include.path config`, says: "git does not work here", hint: "git status", closed: true},
		{name: "configuration that is none", make: `echo '[[[' >> .git/config`, says: "bad config line", hint: "git status", closed: true},
		{name: "value that is none", make: `git config core.fileMode maybe`, says: "bad boolean", hint: "git status", closed: true},
		{name: "safe.bareRepository", make: `git config --file ../gitconfig safe.bareRepository explicit`},

		// How git prints.
		{name: "colours", make: `for c in ui status branch diff interactive log grep push; do git config color.$c always; done; git config core.quotePath false`},
		{name: "log and signatures", make: `git config log.showSignature true; git config log.date relative; git config format.pretty oneline; git config log.decorate full; git config log.follow true; git config core.abbrev 4; git config core.notesRef refs/notes/x`},
		{name: "status", make: `git config status.short true; git config status.branch true; git config status.showUntrackedFiles no; git config status.relativePaths false; git config status.renames copies; git config status.showStash true; git config status.aheadBehind false; git config column.ui always`},
		{name: "diff", make: `git config diff.noPrefix true; git config diff.mnemonicPrefix true; git config diff.renames copies; git config diff.orderFile /nowhere/order; git config diff.context 0; git config diff.algorithm histogram; git config diff.wordRegex .; git config diff.relative true; git config diff.autoRefreshIndex false; git config diff.ignoreSubmodules all`, in: "dir", finish: "orderfile"},
		{name: "sorting", make: `git config branch.sort -committerdate; git config tag.sort -creatordate; git config versionsort.suffix -; git config log.excludeDecoration refs/wfs`},
		{name: "advice", make: `for a in addEmbeddedRepo addIgnoredFile updateSparsePath detachedHead ignoredHook statusHints; do git config advice.$a true; done; git config rerere.enabled true; git config rebase.updateRefs true; git config checkout.guess true; git config worktree.guessRemote true`},
		{name: "another language", make: `true`, env: []string{"LC_ALL=de_DE.UTF-8", "LANG=de_DE.UTF-8", "LANGUAGE=de"}},
	})
}
