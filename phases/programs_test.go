package phases

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/workflows"
)

// What a command names outside of the directory that it runs in is a part of what its result depends on, and where nobody can
// tell whether that changed, there is no such part.
func TestPrograms(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	root := filepath.Join(home, "work", "repo")
	for _, name := range []string{"work/repo/in.sh", "work/repo/internal/git/x", "work/ci/test.sh", "own.sh", "bin/tool", "ci.yaml"} {
		file := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	j := &Judge{Root: root, Env: []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin"), "TOOLS=" + filepath.Join(home, "bin")}}
	const unknown = "unknown"
	for command, want := range map[string]string{
		"tool ./in.sh":                              "tool",
		"tool in.sh > /dev/null":                    "null tool",
		"mkdir -p /tmp && tool":                     "tool",
		"../ci/test.sh":                             "test.sh",
		"sh ~/own.sh":                               "own.sh",
		"sh $HOME/own.sh":                           "own.sh",
		"sh \"${HOME}\"/own.sh; $TOOLS/tool x":      "own.sh tool",
		"tool --config=../../ci.yaml":               "ci.yaml tool",
		"tool $PWD/in.sh":                           "tool",
		"tool ../ci/no.sh":                          "tool",
		"tool '^x$' $1 ${A}":                        "tool",
		"tool ./internal/git ./x/../internal/git/x": "tool",
		"tool ../ci":                                unknown,
		"cd ..; tool":                               unknown,
		"cd sub && ../../ci/test.sh":                unknown,
		"tool " + home:                              unknown,
		"cd ~ && tool":                              unknown,
		"~ann/tool":                                 unknown,
		"$D/tool":                                   unknown,
		"${D:-/opt/x}":                              unknown,
		"$(tool home)/x":                            unknown,
		"`tool home`/x":                             unknown,
		"\"$(tool home)\"/x":                        unknown,
		"git describe --tags":                       unknown,
		"tool && test -z \"$(git log)\"":            unknown,
		"/usr/bin/git log":                          unknown,
		"cat .git/HEAD":                             unknown,
		"git rev-parse HEAD":                        unknown,
		"git":                                       unknown,
		"tool $(git ls-files '*.sh')":               "tool",
		"tool > $(tool home)/x \"$(git rev-parse --show-toplevel)\"": "tool",
		"echo \"`tool x`\" \"$(tool (a) $(b))\" | tool":              "tool",
		"git-lfs ls-files": unknown,
	} {
		for _, run := range []workflows.Command{{Shell: command}, {Argv: []string{"/bin/sh", "-c", command}}} {
			list, known := j.programs(workflows.Gate{Run: run})
			var names []string
			for _, l := range list {
				name := filepath.Base(strings.Fields(l)[0])
				if !slices.Contains([]string{"sh", "dash", "bash", "busybox"}, name) {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			got := strings.Join(slices.Compact(names), " ")
			if !known {
				got = unknown
			}
			if got != want {
				t.Errorf("%q depends on %q, want %q", command, got, want)
			}
		}
	}
	of := func() string {
		list, _ := j.programs(workflows.Gate{Run: workflows.Command{Shell: "../ci/test.sh"}})
		return strings.Join(list, "\n")
	}
	first := of()
	if err := os.WriteFile(filepath.Join(home, "work", "ci", "test.sh"), []byte("edited"), 0o755); err != nil {
		t.Fatal(err)
	}
	if of() == first {
		t.Error("an edit of a script outside changed nothing")
	}
}
