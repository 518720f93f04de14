package cmd

import "testing"

// TestForSession checks that suggestions for a session can be typed outside of its work tree.
func TestForSession(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"wfs run", "wfs run no-thing"},
		{"wfs approve", "wfs approve no-thing"},
		{`wfs reject -m "wfs run"`, `wfs reject no-thing -m "wfs run"`},
		{`wfs abandon -m "why"`, `wfs abandon no-thing -m "why"`},
		{"wfs resume @0 && wfs run", "wfs resume no-thing@0 && wfs run no-thing"},
		{"wfs edit --reload && wfs run", "wfs edit no-thing --reload && wfs run no-thing"},
		{"stop it, then wfs run", "stop it, then wfs run no-thing"},
		{"wfs diff, then wfs run", "wfs diff no-thing, then wfs run no-thing"},
		{"wfs allow --list", "wfs allow --session no-thing --list"},
		{"wfs edit --budget-usd 5", "wfs edit no-thing --budget-usd 5"},
		{"wfs show 3", "wfs show no-thing@3"},
		{"wfs show auto", "wfs show no-thing@auto"},
		{"wfs show no-thing", "wfs show no-thing"},
		{"wfs resume another", "wfs resume another"},
		{"wfs workflow check", "wfs workflow check"},
		{`wfs approve --anyway "why; or not"`, `wfs approve no-thing --anyway "why; or not"`},
		{"wfs reject --to RED", "wfs reject no-thing --to RED"},
		{"wfs reject --to plan", "wfs reject no-thing --to plan"},
		{`wfs note -m "why"`, `wfs note no-thing -m "why"`},
		{"wfs allow server.key", "wfs allow --session no-thing server.key"},
		{"wfs hook log", "wfs hook log no-thing"},
		{"wfs hook install", "(cd /a/b && wfs hook install)"},
		{"wfs undo --list", "(cd /a/b && wfs undo --list)"},
		{"wfs switch main && wfs delete no-thing", "(cd /a/b && wfs switch main && wfs delete no-thing)"},
		{"git worktree prune", "git worktree prune"},
		{"git merge --continue (or --abort), then wfs run", "cd /a/b && git merge --continue (or --abort), then wfs run no-thing"},
		{"wfs reject --to RED, then wfs run; or wfs finish --unproven", "wfs reject no-thing --to RED, then wfs run no-thing; or wfs finish no-thing --unproven"},
		{"move them aside, then run it again", "move them aside, then run it again"},
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
