package cmd

import "testing"

// TestForSession: what is suggested for a session can be typed outside of its work tree.
func TestForSession(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"wfs run", "wfs run no-thing"},
		{"wfs approve", "wfs approve no-thing"},
		{`wfs reject --reason "wfs run"`, `wfs reject no-thing --reason "wfs run"`},
		{`wfs abandon --reason "why"`, `wfs abandon no-thing --reason "why"`},
		{"wfs resume --fresh && wfs run", "wfs resume no-thing --fresh && wfs run no-thing"},
		{"wfs repin && wfs run", "wfs repin no-thing && wfs run no-thing"},
		{"end it, then wfs run", "end it, then wfs run no-thing"},
		{"wfs diff, then wfs run", "wfs diff no-thing, then wfs run no-thing"},
		{"wfs allow --list", "wfs allow --session no-thing --list"},
		{"wfs budget set --cost 5", "wfs budget set no-thing --cost 5"},
		{"wfs show 3", "wfs show no-thing@3"},
		{"wfs show auto", "wfs show no-thing@auto"},
		{"wfs show no-thing", "wfs show no-thing"},
		{"wfs resume another", "wfs resume another"},
		{"wfs workflow check", "wfs workflow check"},
		{`wfs phase skip --reason "why; or not"`, `wfs phase skip --session no-thing --reason "why; or not"`},
		{"wfs phase back RED", "wfs phase back --session no-thing RED"},
		{"wfs phase back plan", "wfs phase back --session no-thing plan"},
		{`wfs note -m "why"`, `wfs note no-thing -m "why"`},
		{"wfs allow server.key", "wfs allow --session no-thing server.key"},
		{"wfs hook log", "wfs hook log no-thing"},
		{"wfs hook install", "(cd /a/b && wfs hook install)"},
		{"wfs op log", "(cd /a/b && wfs op log)"},
		{"wfs switch main && wfs delete no-thing", "(cd /a/b && wfs switch main && wfs delete no-thing)"},
		{"git worktree prune", "git worktree prune"},
		{"git merge --continue (or --abort), then wfs run", "cd /a/b && git merge --continue (or --abort), then wfs run no-thing"},
		{"wfs phase back, then wfs run; or wfs finish --unproven", "wfs phase back --session no-thing, then wfs run no-thing; or wfs finish no-thing --unproven"},
		{"move them aside, then type it again", "move them aside, then type it again"},
	} {
		got, there := forSession(c.command, "no-thing")
		if there {
			got = inPlace(got, "/a/b")
		}
		if got != c.want {
			t.Errorf("%s: %s\n  want %s", c.command, got, c.want)
		}
	}
}
