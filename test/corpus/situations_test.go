package corpus

// situation is a repository in the middle of something: a base, the commands typed there before, and the next
// command. The corpus has its state after that command, and after a kill at each step that the command passes.
type situation struct {
	name    string
	base    string // a script of bases; "" is plain
	before  string // a shell script, which may use the functions of prelude
	command string // without wfs; "" if before has done everything
	damage  string // a script that damages the repository, after the contents that must not get lost were counted
}

// prelude begins the scripts of situations. $TOP is the directory above the repository.
const prelude = `set -e
dirty() { # edits of every sort: changed, staged and changed again, untracked, deleted
	echo 'staged, and nowhere else' > staged.txt; git add staged.txt; echo 'changed after it was staged' > staged.txt
	echo edited > edited.txt; echo untracked > untracked.txt; rm a.txt
}
on_main() { wfs switch main; dirty; }
line_ends() { echo '*.crlf text' > .gitattributes; printf 'one\r\ntwo\r\n' > ends.crlf; wfs checkpoint; }
set_up() {
	printf 'version: 1\ngates:\n  tests: {run: "true"}\nworktree: {copy: [keep.ignored], link: [linked.ignored], setup: "echo made > made.ignored"}\n' > .wfs/config.yaml
	echo shared > linked.ignored; wfs trust --yes
}
review() { # a session that waits for a person
	wfs switch main
	cat > .wfs/workflows/review.yaml <<'Y'
version: 1
name: review
start: WORK
phases:
  WORK: {gates: [{use: tests}, {name: changed, changes: ["**"]}], on: {pass: REVIEW}}
  REVIEW: {run: human, gates: [{use: tests}], on: {pass: done, fail: WORK}}
Y
	git add .wfs; git commit -q -m review; wfs trust --yes
	wfs new review --workflow review --agent 'echo work > work.txt'
	wfs run || test $? = 3
	echo 'by the reviewer' > edited.txt
}
fails() { "$@" && exit 1 || true; }
journal() { ls .git/wfs/sessions/one/events-*.jsonl; }
in_ledger() { git update-ref refs/kept/ledger refs/wfs/one/ledger; }
`

// bases make a repository with sessions one (current) and two.
var bases = map[string]string{
	// A workflow of one phase, whose gate always passes.
	"plain": `
printf 'a\n' > a.txt; echo 'as committed' > edited.txt; echo 'as committed' > staged.txt
echo '*.ignored' > .gitignore; echo 'never touched' > keep.ignored
mkdir -p .wfs/workflows
printf 'version: 1\nname: plain\nstart: WORK\nphases:\n  WORK:\n    run: agent\n    gates: [{use: tests}]\n    on: {pass: done}\n' > .wfs/workflows/plain.yaml
git init -q $FORMAT; git add -A; git commit -q -m start; git branch side
echo stashed > a.txt; git stash -q
wfs init --test true; git add .wfs; git commit -q -m init; wfs trust --yes
wfs new two --workflow plain --agent true; echo two > of-two.txt
wfs switch main
wfs new one --workflow plain --agent 'echo work > work.txt'
echo first > first.txt; wfs checkpoint -m first
echo second > second.txt; wfs checkpoint -m second
`,
	// Test-driven development: two items, worked off by a script in two laps. A test is a file x.test, which passes
	// if a file x exists.
	"tdd": `
printf 'a\n' > a.txt; echo 'as committed' > edited.txt; echo 'as committed' > staged.txt
echo '*.ignored' > .gitignore; echo 'never touched' > keep.ignored
echo 1 > one; echo 'there is one' > one.test; printf -- '- [ ] two\n- [ ] three\n' > SPEC.md
mkdir .wfs; printf 'version: 1\ngates:\n  tests: {run: sh gate.sh, format: junit}\n' > .wfs/config.yaml
cat > gate.sh <<'G'
echo '<testsuite>'
for t in *.test; do
	n=${t%.test}
	if [ -e "$n" ]; then echo "<testcase classname='t' name='$n'/>"
	else echo "<testcase classname='t' name='$n'><failure message='no $n'>there is no $n</failure></testcase>"; bad=1; fi
done
echo '</testsuite>'
exit $bad
G
cat > ../agent.yaml <<'Y'
version: 1
steps:
  - {phase: RED, lap: 1, files: {two.test: "there is two\n"}}
  - {phase: GREEN, lap: 1, done: true, files: {two: "2\n"}}
  - {phase: REFACTOR, lap: 1, done: true, files: {two: "two\n"}}
  - {phase: RED, lap: 2, files: {three.test: "there is three\n"}}
  - {phase: GREEN, lap: 2, done: true, files: {three: "3\n"}}
  - {phase: REFACTOR, lap: 2, done: true, say: "good as it is"}
Y
git init -q; git add -A; git commit -q -m start; git branch side
echo stashed > a.txt; git stash -q
wfs trust --yes
wfs new two --agent script:../agent.yaml
wfs switch main
wfs new one --spec SPEC.md --agent script:../agent.yaml
`,
}

var situations = []situation{
	{name: "checkpoint", before: "dirty", command: "checkpoint -m x"},
	{name: "checkpoint without what is held out", before: "dirty; echo secret > .env; mkdir node_modules; echo x > node_modules/x.js", command: "checkpoint -m x"},
	{name: "allow", before: "mkdir node_modules; echo x > node_modules/x.js; echo y > edited.txt; wfs checkpoint", command: "allow node_modules"},
	{name: "checkpoint of what is in the index alone", before: "echo 'staged, and nowhere else' > staged.txt; git add staged.txt; echo 'as committed' > staged.txt; echo m > more.txt", command: "checkpoint"},
	{name: "new", before: "on_main", command: "new three --workflow plain --agent true --leave"},
	{name: "new --carry", before: "on_main", command: "new three --workflow plain --agent true --carry"},
	{name: "fork", before: "dirty", command: "fork one@1 three"},
	{name: "new on a session's branch", before: "dirty", command: "new three --workflow plain --agent true"},
	{name: "new --worktree", before: "set_up; dirty", command: "new three --workflow plain --agent true --worktree"},
	{name: "new --worktree --carry", before: "on_main; set_up", command: "new three --workflow plain --agent true --worktree --carry --from HEAD"},
	{name: "delete --worktree", before: "set_up; wfs new three --workflow plain --agent true --worktree; echo typed > ../repo-three/theirs.txt", command: "delete --worktree three --discard-ignored"},
	{name: "run in another work tree", before: "set_up; wfs new three --workflow plain --agent 'echo work > work.txt' --worktree; echo typed > ../repo-three/theirs.txt", command: "run three"},
	{name: "switch", before: "dirty", command: "switch two"},
	{name: "leave", before: "dirty", command: "switch main"},
	{name: "leave for what was left", before: "on_main; wfs switch one", command: "switch main"},
	{name: "resume", before: "dirty", command: "resume @1"},
	{name: "resume of another session", before: "dirty", command: "resume two@0"},
	{name: "resume over bytes that git converts", before: "line_ends; dirty", command: "resume @1"},
	{name: "undo over bytes that git converts", before: "line_ends; wfs resume @1; dirty", command: "undo"},
	{name: "undo of checkpoint", before: "dirty; wfs checkpoint", command: "undo"},
	{name: "redo of checkpoint", before: "dirty; wfs checkpoint; wfs undo", command: "redo"},
	{name: "undo of switch", before: "dirty; wfs switch two", command: "undo"},
	{name: "redo of switch", before: "dirty; wfs switch two; wfs undo", command: "redo"},
	{name: "undo of resume", before: "dirty; wfs resume @1", command: "undo"},
	{name: "undo of new", before: "on_main; wfs new three --workflow plain --agent true --leave; echo three > of-three.txt", command: "undo"},
	{name: "undo of finish", before: "wfs run; wfs finish --branch handed; echo later > later.txt", command: "undo"},
	{name: "undo of edit", before: "wfs edit one --goal another", command: "undo"},
	{name: "undo of abandon", before: "wfs abandon one", command: "undo"},
	{name: "undo of delete", before: "wfs delete two --force", command: "undo"},
	{name: "undo of repin", before: "wfs repin one --agent false", command: "undo"},
	{name: "undo of approve", before: "review; wfs approve", command: "undo"},
	{name: "abandon", before: "dirty", command: "abandon one"},
	{name: "resume of an abandoned session", before: "wfs abandon two; dirty", command: "resume two"},
	{name: "rename", command: "rename one title"},
	{name: "edit", command: "edit one --goal another"},
	{name: "repin", command: "repin one --agent false"},
	{name: "delete", command: "delete two --force"},
	{name: "delete --restore", before: "wfs delete two --force", command: "delete --restore two"},
	{name: "gc", before: "echo rescued > rescued.txt; wfs resume @1; wfs undo; wfs checkpoint", command: "gc --force --days 0"},
	{name: "finish", before: "wfs run", command: "finish --branch handed"},
	{name: "finish --keep", before: "wfs run", command: "finish --branch handed --keep"},
	{name: "finish --without-carried", before: "on_main; wfs new three --workflow plain --agent 'echo work > work.txt' --carry; wfs run", command: "finish --branch handed --without-carried"},
	{name: "run", command: "run"},
	{name: "run with edits", before: "dirty", command: "run"},
	{name: "run with auto-saves", before: "wfs repin --agent 'echo half > half.txt; echo work > work.txt'", command: "run"},
	{name: "run that waits", before: `wfs repin --agent 'echo half > half.txt; echo "{\"wait_until\": 4102444800, \"cost_usd\": 0.5}" > "$WFS_RESULT"; exit 75'`, command: "run --no-wait"},
	{name: "run that fails until it is blocked", before: "wfs repin --agent 'echo half >> half.txt; exit 1'", command: "run"},
	{name: "run with a gate that fails", before: "printf 'version: 1\\ngates:\\n  tests: {run: test -e never}\\n' > .wfs/config.yaml; wfs trust --yes; wfs repin", command: "run"},
	{name: "run with hold-outs", before: "mkdir ../hidden; echo hidden > ../hidden/hidden.txt; wfs repin --holdout ../hidden --agent 'echo x > work.txt'", command: "run"},
	{name: "run through two laps", base: "tdd", before: "dirty", command: "run"},
	{name: "run of one attempt", base: "tdd", command: "run --max-attempts 1"},
	{name: "run of two attempts", base: "tdd", before: "wfs run --max-attempts 1", command: "run --max-attempts 1"},
	{name: "run that uses its budget up", before: `wfs budget set --usd 1; wfs repin --agent 'echo half >> half.txt; echo "{\"cost_usd\": 2}" > "$WFS_RESULT"'`, command: "run"},
	{name: "approve", before: "review", command: "approve -m good"},
	{name: "reject", before: "review", command: "reject --reason bad"},
	{name: "phase skip", command: "phase skip"},
	{name: "note", before: "dirty", command: "note hello"},
	{name: "budget set", before: "dirty", command: "budget set --usd 3 --calls-per-hour 7"},
	{name: "branch moved by hand", before: "dirty; git add -A; git commit -q -m mine", command: "checkpoint"},
	{name: "branch reset by hand", before: "git reset -q --hard HEAD~1", command: "resume"},
	{name: "two that move", base: "tdd", before: "wfs run --max-attempts 2; dirty; wfs switch two; echo of-two > of-two.txt", command: "switch one"},
	{name: "another object format", base: "sha256", before: "dirty", command: "checkpoint -m x"},
	{name: "a clone with submodule and links", before: "git init -q ../sub; (cd ../sub; echo s > s.txt; git add .; git commit -q -m s); git -c protocol.file.allow=always submodule -q add ../sub sub; ln -s a.txt link; wfs checkpoint; echo mode > tool.sh; chmod 755 tool.sh", command: "switch two"},

	{name: "state lost", before: "dirty; wfs checkpoint", damage: "rm -rf .git/wfs", command: "checkpoint"},
	{name: "journal cut", before: "wfs note hello; dirty", damage: "for j in $(journal); do truncate -s -5 $j; done", command: "checkpoint"},
	{name: "journal altered", before: "wfs note hello; wfs note again", damage: "for j in $(journal); do sed -i s/hello/altered/ $j; done", command: "doctor --repair"},
	{name: "journal gone", before: "wfs note hello; dirty", damage: "rm $(journal)", command: "checkpoint"},
	{name: "clone unknown", before: "dirty", damage: "echo '{garbage' > .git/wfs/clone", command: "checkpoint"},
	{name: "ledger emptied", before: "in_ledger", damage: ": > .git/refs/wfs/one/ledger", command: "doctor --repair"},
	{name: "branch gone", before: "git update-ref refs/kept/branch wfs/two", damage: "git update-ref -d refs/heads/wfs/two", command: "switch two"},
	{name: "exclude rules lost", before: "", damage: "echo garbage > .git/wfs/sessions/one/exclude", command: "doctor --repair"},
	{name: "rubbish for an operation log", before: "dirty", damage: "git update-ref refs/wfs-ops/main side", command: "checkpoint"},
	{name: "index gone", before: "dirty; git add -A; git stash -q; git stash apply -q", damage: "rm .git/index", command: "checkpoint"},
	{name: "index lock left", before: "dirty", damage: ": > .git/index.lock", command: "checkpoint"},
}
