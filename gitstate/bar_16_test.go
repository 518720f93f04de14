package gitstate

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

// drawn sets how many cases rapid draws (WFS_RAPID if it is set), and returns a function that undoes it. With -short,
// the cases are the same each time.
func drawn(t *testing.T, checks int) func() {
	t.Helper()
	seed := "1"
	if many := os.Getenv("WFS_RAPID"); many != "" {
		if _, err := fmt.Sscan(many, &checks); err != nil {
			t.Fatalf("WFS_RAPID=%s", many)
		}
		seed = "0"
	}
	old := map[string]string{}
	for name, value := range map[string]string{"rapid.checks": fmt.Sprint(checks), "rapid.seed": seed,
		"rapid.nofailfile": "true"} {
		if slices.ContainsFunc(os.Args, func(a string) bool { return strings.HasPrefix(strings.TrimLeft(a, "-"), name) }) {
			continue
		}
		old[name] = flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		for name, value := range old {
			_ = flag.Set(name, value)
		}
	}
}

// TestBar16Excludes draws trees with rules in .gitignore files at any depth, in .git/info/exclude and in the user's own
// file, with negations, and with tracked files that match rules. A snapshot and a checkpoint have exactly the files
// that git lists as tracked, or as neither tracked nor ignored. WFS_RAPID is the number of trees.
func TestBar16Excludes(t *testing.T) {
	defer drawn(t, 12)()
	r, _ := newSession(t)
	r.run("config", "--file", filepath.Join(r.home, "gitconfig"), "core.excludesFile", filepath.Join(r.home, "mine"))
	r.open(r.Git.Root)
	base := r.head()
	segment := rapid.SampledFrom([]string{"a", "b", "c", "d", "a.x", "b.x", "e ", "#", "!", ".h", "ü"})
	path := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(segment, 1, 4).Draw(t, "path"), "/")
	})
	rule := rapid.SampledFrom([]string{"a", "/a", "b/", "*.x", "!a", "!*.x", "a/*", "!a/b", "!b/", "**/c", "d/**",
		"!d/**/a", "\\#", "\\!",
		"# a comment", "e\\ ", "[ab].x", "?", "/*/c", "!c", "*", "!*/", ".h", "ü", "a/b/"})
	rules := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rule, 0, 4).Draw(t, "rules"), "\n") +
			rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
	})
	var trees, held, left int
	rapid.Check(t, func(t *rapid.T) {
		trees++
		r.run("reset", "-q", "--hard", string(base))
		entries, _ := os.ReadDir(r.Git.Root)
		for _, e := range entries {
			if e.Name() != ".git" {
				os.RemoveAll(r.path(e.Name()))
			}
		}
		files := map[string]string{}
		for _, p := range rapid.SliceOfN(path, 1, 12).Draw(t, "files") {
			files[p] = p
		}
		for _, dir := range append([]string{""}, slices.Sorted(maps.Keys(files))...) {
			if dir = filepath.Dir(dir); rapid.IntRange(0, 2).Draw(t, "has rules") == 0 {
				files[filepath.Join(dir, ".gitignore")] = rules.Draw(t, ".gitignore")
			}
		}
		laid := []string{}
		for _, p := range slices.Sorted(maps.Keys(files)) {
			// a file that is in the way of another is skipped
			if os.MkdirAll(filepath.Dir(r.path(p)), 0o777) == nil && os.WriteFile(r.path(p), []byte(files[p]), 0o666) == nil {
				laid = append(laid, p)
			}
		}
		for file, text := range map[string]string{filepath.Join(r.home, "mine"): rules.Draw(t, "mine"),
			filepath.Join(r.Git.CommonDir, "info", "exclude"): rules.Draw(t, "info")} {
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(laid), 0, 3).Draw(t, "tracked") {
			r.run("add", "-f", "--", ":(literal)"+p)
		}
		if gone := rapid.SampledFrom(append([]string{""}, laid...)).Draw(t, "gone"); gone != "" {
			os.Remove(r.path(gone))
		}
		var want []string
		for _, p := range gitcmd.SplitZ([]byte(r.run("ls-files", "-c", "-o", "--exclude-standard", "-z"))) {
			if _, err := r.Git.Lstat(p); err == nil {
				want = append(want, p)
			}
		}
		slices.Sort(want)
		want = slices.Compact(want)
		in := func(what, tree string) {
			got := gitcmd.SplitZ([]byte(r.run("ls-tree", "-r", "-z", "--name-only", tree)))
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("%s holds %q, git lists %q", what, got, want)
			}
		}
		in("a snapshot", string(r.snapshot().Tree))
		in("a checkpoint", string(r.prepare(r.draft("")).Tree))
		held, left = held+len(want), left+len(laid)-len(want)
	})
	t.Logf("%d trees, %d files held, %d left out, 0 differences", trees, held, left)
	if left == 0 || held == 0 {
		t.Error("nothing was tried")
	}
}
