package session_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
)

func TestGuard(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.StringMatching(`[a-c*?\[\\! #/é\xff-]{0,4}[a-c \\*]`).Filter(
			func(p string) bool { return !strings.HasPrefix(p, "/") })
		var g session.Guard
		for _, p := range rapid.SliceOf(path).Draw(t, "held") {
			g, _ = g.Hold([]session.Held{{Path: p, Why: session.HoldSize}})
		}
		for _, p := range rapid.SliceOf(path).Draw(t, "allowed") {
			g = g.Allow(p)
			if !g.Allows(p) || !g.Allows(p+"/x") {
				t.Fatalf("%q was allowed, and is not", p)
			}
			if again, grown := g.Hold([]session.Held{{Path: p}, {Path: p + "/x"}}); grown || len(again.Held) != len(g.Held) {
				t.Fatalf("%q was allowed, and is held out", p)
			}
		}
		rules := []byte(strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"*.log", "/a", "#wfs", "# wfs {}"})).Draw(t,
			"rules"), "\n"))
		text := codec.WithGuard(rules, g)
		got, back := codec.SplitGuard(text)
		if !bytes.Equal(bytes.TrimSuffix(got, []byte("\n")), bytes.TrimSuffix(rules, []byte("\n"))) {
			t.Fatalf("rules %q came back as %q", rules, got)
		}
		if len(back.Held) != len(g.Held) || !slices.Equal(back.Allowed, g.Allowed) {
			t.Fatalf("%+v came back as %+v", g, back)
		}
		if again := codec.WithGuard(got, back); !bytes.Equal(again, text) {
			t.Fatalf("%q is written again as %q", text, again)
		}
	})
}

func TestExcludeRule(t *testing.T) {
	t.Parallel()
	for path, rule := range map[string]string{
		"a": "/a", "a/b/": "/a/b/", "a b": "/a b", "a ": `/a\ `, `*?[x]\`: `/\*\?\[x]\\`, "two\nlines": "", "\xff": "/\xff",
	} {
		if got := codec.ExcludeRule(path); got != rule {
			t.Errorf("%q: %q, want %q", path, got, rule)
		}
		if back := codec.ExcludedPath(rule); rule != "" && back != path {
			t.Errorf("%q: %q, want %q", rule, back, path)
		}
	}
	for _, rule := range []string{"", "/", "a", "*.log", "/a*", "/a?", "/[ab]", `/a\`, "!/a", "/a "} {
		if p := codec.ExcludedPath(rule); p != "" {
			t.Errorf("%q means %q alone?", rule, p)
		}
	}
	if _, g := codec.SplitGuard([]byte("x\n#wfs {torn")); len(g.Held) > 0 || len(g.Allowed) > 0 {
		t.Errorf("%+v", g)
	}
}

func TestIsWithin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, above string
		want        bool
	}{{"a", "a", true}, {"a/b", "a", true}, {"ab", "a", false}, {"a", "a/b", false}, {"b/a", "a", false}} {
		if session.IsWithin(c.path, c.above) != c.want {
			t.Errorf("%+v", c)
		}
	}
}
