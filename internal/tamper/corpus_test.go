package tamper

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCorpus looks at commits of real projects that change tests and code, and says how many of them would be called
// tampering, and why. WFS_TAMPER_CORPUS names git directories, separated by colons. Most of such commits change behaviour
// and its tests together, which is for a phase that writes tests; those that only tidy up should not be found.
func TestCorpus(t *testing.T) {
	dirs := os.Getenv("WFS_TAMPER_CORPUS")
	if dirs == "" {
		t.Skip("WFS_TAMPER_CORPUS names no repositories")
	}
	const most = 100
	var about *regexp.Regexp // of subjects, to look at those that only tidy up
	if text := os.Getenv("WFS_TAMPER_SUBJECT"); text != "" {
		about = regexp.MustCompile(text)
	}
	for _, dir := range strings.Split(dirs, ":") {
		git := func(args ...string) []byte {
			out, err := exec.Command("git", append([]string{"--git-dir", dir}, args...)...).Output()
			if err != nil {
				return nil
			}
			return out
		}
		seen, found, kinds := 0, 0, map[Kind]int{}
		for line := range strings.Lines(string(git("log", "--no-merges", "--format=%H %s", "-n", "3000", "--all"))) {
			id, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
			if about != nil && !about.MatchString(subject) {
				continue
			}
			r := Request{MayRemove: true}
			hasTests, hasCode := false, false
			for change := range strings.Lines(string(git("diff-tree", "-r", "--no-renames", "--no-commit-id", "--name-status", id))) {
				status, path, ok := strings.Cut(strings.TrimSpace(change), "\t")
				if !ok {
					continue
				}
				f := File{Path: path}
				if status != "A" {
					f.Before = append([]byte{}, git("show", id+"^:"+path)...)
				}
				if status != "D" {
					f.After = append([]byte{}, git("show", id+":"+path)...)
				}
				hasTests = hasTests || classOf(path) == tests && status != "A"
				hasCode = hasCode || classOf(path) == source
				r.Files = append(r.Files, f)
			}
			if !hasTests || !hasCode && os.Getenv("WFS_TAMPER_TESTS_ALONE") == "" || len(r.Files) > 60 {
				continue
			}
			if seen++; seen > most {
				break
			}
			rep := Compare(r)
			grave := slices.DeleteFunc(rep.Findings, func(f Finding) bool { return !f.Grave })
			if len(grave) == 0 {
				continue
			}
			found++
			t.Logf("%s %s", id[:10], subject)
			for n, f := range grave {
				if !slices.ContainsFunc(grave[:n], func(o Finding) bool { return o.Kind == f.Kind }) {
					kinds[f.Kind]++
				}
				if n < 4 {
					t.Logf("      %s %s:%d %s: %s  →  %s", f.Kind, f.Path, f.Line, f.Test, f.Before, f.After)
				}
			}
		}
		t.Logf("%s: %d of %d commits: %v", dir, found, min(seen, most), kinds)
	}
}
