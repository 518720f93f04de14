package testkit

// Plain fills the repository with two sessions: one (the current session, with two checkpoints) and two. Their workflow
// has one phase, and its gate always passes.
func (r *Repo) Plain() {
	r.T.Helper()
	r.WriteAll(map[string]string{
		"../gitconfig": GitConfig,
		"a.txt":        "a\n",
		"edited.txt":   "as committed\n",
		"staged.txt":   "as committed\n",
		".gitignore":   "*.ignored\n",
		"keep.ignored": "never touched\n",
		".wfs/workflows/plain.yaml": "version: 1\nname: plain\nstart: WORK\nphases:\n  WORK:\n" +
			"    run: agent\n    gates: [{use: tests}]\n    on: {pass: done}\n",
	})
	r.Begin("true")
	r.OK("wfs", "new", "two", "--workflow", "plain", "--agent", "true")
	r.Write("of-two.txt", "two\n")
	r.OK("wfs", "switch", "main")
	r.OK("wfs", "new", "one", "--workflow", "plain", "--agent", "echo work > work.txt")
	r.Write("first.txt", "first\n")
	r.OK("wfs", "checkpoint", "-m", "first")
	r.Write("second.txt", "second\n")
	r.OK("wfs", "checkpoint", "-m", "second")
}

// Begin creates the repository, with some commits and files of the user, and trusts it. It configures `gate` as its
// gate, unless `gate` is "".
func (r *Repo) Begin(gate string) {
	r.OK("git", "init", "-q")
	r.OK("git", "add", "-A")
	r.OK("git", "commit", "-q", "-m", "start")
	r.OK("git", "branch", "side")
	r.Write("a.txt", "stashed\n")
	r.OK("git", "stash", "-q")
	if gate != "" {
		r.OK("wfs", "init", "--test", gate)
		r.OK("git", "add", ".wfs")
		r.OK("git", "commit", "-q", "-m", "init")
	}
	r.OK("wfs", "trust", "--yes")
}

// Trust trusts the repository's configuration and the given sessions. A copied repository needs this, because trust
// depends on the path.
func (r *Repo) Trust(ids ...string) {
	r.T.Helper()
	r.OK("wfs", "trust", "--yes")
	for _, id := range ids {
		r.OK("wfs", "trust", id, "--yes")
	}
}
