package judge

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// A case is one scripted agent in a small project: DIR/cases/RUNNER/NAME.txtar. The project is DIR/bases/RUNNER.txtar.
//
// The comment on top of a case has lines "key: value":
//
//	kind       misbehaves or honest
//	does       the agent's behaviour, in one sentence
//	harm       product, or tests if they were weakened; only if it misbehaves
//	questions  how many questions a careful reviewer would accept; only if it is honest
//	want       the right outcome: completed, asked, blocked, or caught, which is asked or blocked; optional
//
// Its files are SPEC.md, the agent's script for a phase (RED.sh, in lap 2 2-RED.sh, in a second attempt RED-2.sh),
// base/PATH for files of the project that differ, and outside.sh, which exits with 0 if the product truly meets the
// spec.
//
// A base has the project's files and setup.sh, which installs the project's dependencies. Its test.sh is for people.
type caseFile struct {
	runner, name string
	keys         map[string]string
	spec         string
	scripts      map[string]string // by name
	outside      string
	project      map[string]string // files of base and case
	install      *installation
	err          error // the reason why it cannot be read; the other cases can
}

func (c *caseFile) String() string { return c.runner + "/" + c.name }
func (c *caseFile) honest() bool   { return c.keys["kind"] == "honest" }

// laps returns the number of items in the spec.
func (c *caseFile) laps() int {
	return len(regexp.MustCompile(`(?m)^\s*[-*] \[ \] `).FindAllString(c.spec, -1))
}

// installation is a base after its setup.sh. Bases and cases with the same files for installers share one.
type installation struct {
	testkit.Template
	files map[string]string
}

func (in *installation) copyTo(t *testing.T, dir string) {
	t.Helper()
	in.CopyTo(t, dir, func(dir string) {
		writeProject(t, dir, in.files)
		if out, exit := testkit.Run(t, dir, os.Environ(), "sh", "-e", "setup.sh"); exit != 0 {
			t.Fatalf("setup.sh: exit %d: %s", exit, out)
		}
		for _, name := range notProject {
			_ = os.Remove(filepath.Join(dir, name))
		}
	})
}

// writeProject writes files, and makes those executable that begin with #!.
func writeProject(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	testkit.WriteAll(t, dir, files)
	for name, text := range files {
		if strings.HasPrefix(text, "#!") {
			if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Names of files of a base.
var (
	notProject   = []string{"setup.sh", "test.sh"}
	forInstaller = []string{"setup.sh", "package.json", "package-lock.json", ".npmrc", "pom.xml", "Cargo.toml",
		"Cargo.lock", "requirements.txt", "pyproject.toml"}
)

var phaseScript = regexp.MustCompile(`^(\d+-)?(RED|GREEN|REFACTOR)(-\d+)?\.sh$`)

// readCases reads all cases below a directory, in the order of their names.
func readCases(dir string) ([]*caseFile, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "cases", "*", "*.txtar"))
	if err != nil {
		return nil, err
	}
	installs := map[string]*installation{}
	var all []*caseFile
	for _, path := range paths {
		runner := filepath.Base(filepath.Dir(path))
		c := &caseFile{runner: runner, name: strings.TrimSuffix(filepath.Base(path), ".txtar")}
		all = append(all, c)
		var base map[string]string
		if _, base, c.err = readArchive(filepath.Join(dir, "bases", runner+".txtar")); c.err != nil {
			continue
		}
		if c.err = c.read(path, base); c.err != nil {
			continue
		}
		in := newInstallation(base, c.project)
		key := fmt.Sprint(runner, in.files)
		if installs[key] == nil {
			installs[key] = in
		}
		c.install = installs[key]
		for _, name := range notProject {
			delete(c.project, name)
		}
	}
	return all, nil
}

// newInstallation returns the installation of a base, in which a case may replace the files for installers.
func newInstallation(base, project map[string]string) *installation {
	in := &installation{files: maps.Clone(base)}
	in.Fast = true
	for _, name := range forInstaller {
		if text, there := project[name]; there {
			in.files[name] = text
		}
	}
	return in
}

func (c *caseFile) read(path string, base map[string]string) error {
	comment, files, err := readArchive(path)
	if err != nil {
		return err
	}
	c.keys, c.scripts, c.project = map[string]string{}, map[string]string{}, maps.Clone(base)
	for line := range strings.Lines(comment) {
		if key, value, ok := strings.Cut(line, ":"); ok {
			c.keys[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	for name, text := range files {
		if inBase, ok := strings.CutPrefix(name, "base/"); ok {
			c.project[inBase] = text
		} else if phaseScript.MatchString(name) {
			c.scripts[name] = text
		} else if name != "SPEC.md" && name != "outside.sh" {
			return fmt.Errorf("a file that is none of a case: %s", name)
		}
	}
	c.spec, c.outside = files["SPEC.md"], files["outside.sh"]
	switch {
	case !slices.Contains([]string{"misbehaves", "honest"}, c.keys["kind"]):
		return fmt.Errorf("kind is %q", c.keys["kind"])
	case !slices.Contains([]string{"", "completed", "asked", "blocked", "caught"}, c.keys["want"]):
		return fmt.Errorf("want is %q", c.keys["want"])
	case c.laps() == 0:
		return fmt.Errorf("SPEC.md has no item")
	case c.outside == "":
		return fmt.Errorf("it has no outside.sh")
	}
	return nil
}

func readArchive(path string) (comment string, files map[string]string, err error) {
	a, err := txtar.ParseFile(path)
	if err != nil {
		return "", nil, err
	}
	files = map[string]string{}
	for _, f := range a.Files {
		files[f.Name] = string(f.Data)
	}
	return string(a.Comment), files, nil
}

// caseAgent runs the case's script for the phase, lap and attempt, and claims to be done. For an attempt without a
// script it repeats the one before, on the files that were there then: few scripts can run twice, and a stubborn
// agent does not write the same lines a second time below the first.
const caseAgent = `top=$(cd "$(dirname "$0")" && pwd)
name=$WFS_PHASE
[ "$WFS_LAP" = 1 ] || name=$WFS_LAP-$name
n=$WFS_ATTEMPT
while [ "$n" -gt 1 ] && [ ! -e "$top/scripts/$name-$n.sh" ]; do n=$((n - 1)); done
[ "$n" -le 1 ] || name=$name-$n
if [ -e "$top/scripts/$name.sh" ]; then
	mkdir -p "$top/found"
	files() { git ls-files -co --exclude-standard -z; }
	if [ "$n" = "$WFS_ATTEMPT" ]; then
		files | tar -cf "$top/found/$name.tar" --null -T -
	else
		files | xargs -0 rm -rf
		tar -xf "$top/found/$name.tar"
	fi
	sh "$top/scripts/$name.sh"
fi
printf '{"done": true}' > "$WFS_RESULT"
echo 'All tests pass. The work is done.'
`

// toolCaches lets language tools find their caches in the real home of the user who runs the tests.
var toolCaches = sync.OnceValue(func() []string {
	home, _ := os.UserHomeDir()
	env := append([]string{"CI=true"}, zooEnv()...)
	for _, at := range [][2]string{{"CARGO_HOME", ".cargo"}, {"RUSTUP_HOME", ".rustup"}, {"PYENV_ROOT", ".pyenv"}} {
		env = append(env, at[0]+"="+cmp.Or(os.Getenv(at[0]), filepath.Join(home, at[1])))
	}
	// Java takes its user's home from the system and ignores HOME; newer versions of Maven have this variable.
	return append(env, "MAVEN_ARGS=-Dmaven.repo.local="+filepath.Join(home, ".m2", "repository"))
})

var notOfLogin = regexp.MustCompile(`^(WFS_|GIT_|XDG_|GO|npm_|PYTHON|NODE_)`)

// caseEnv returns the environment of an ordinary login, with a home and a directory for temporary files of its own.
func caseEnv(t *testing.T, home string) []string {
	t.Helper()
	env := slices.DeleteFunc(os.Environ(), notOfLogin.MatchString)
	testkit.Write(t, home, "tmp/.keep", "")
	testkit.Write(t, home, ".gitconfig", testkit.GitConfig)
	env = append(env, toolCaches()...)
	return append(env, "HOME="+home, "TMPDIR="+filepath.Join(home, "tmp"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C.UTF-8",
		"PATH="+testkit.Path(t))
}
