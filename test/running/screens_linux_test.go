package running

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/safetext"
)

// testdata/screens has the screens that a user meets, in terminals of 80x24 and of 120x40. WFS_SCREENS=update
// rewrites them. No line of prose is wider than the terminal, and no command is cut.

// screensAgent plays an agent: by session, lap, phase and attempt.
const screensAgent = `
say() { printf '{"done": %s}' "$1" > "$WFS_RESULT"; }
case $WFS_SESSION-$WFS_LAP-$WFS_PHASE-$WFS_ATTEMPT in
waits-*) echo 'I look at the code first'; test -p "$HOME/go" || mkfifo "$HOME/go"; read -r line < "$HOME/go" ;;
asks-*) echo '{"ask": "tabs or semicolons?"}' > "$WFS_RESULT" ;;
limited-*) echo '{"wait_until": 1893560645}' > "$WFS_RESULT"; exit 75 ;;
*-1-RED-*) echo right > tests/header; echo 'A test for the header row.' ;;
stuck-*-GREEN-*) echo "try $WFS_ATTEMPT" > header.txt; echo 'Fixed, all tests pass.'; say true ;;
*-1-GREEN-1) echo wrong > header.txt; echo 'Fixed, all tests pass.'; say true ;;
*-1-GREEN-*) echo right > header.txt; echo 'Now it is the header.'; say true ;;
*-2-RED-*) echo right > tests/quotes; echo 'A test for the quotes.' ;;
*-2-GREEN-*) echo right > quotes.txt; echo 'Quoted.'; say true ;;
*) echo 'Nothing to tidy up.' ;;
esac
`

const screensTests = `n=0; bad=0
for t in tests/*; do
  n=$((n+1)); name=$(basename "$t")
  if grep -q right "$name.txt" 2>/dev/null; then echo "ok $n - $name"; else echo "not ok $n - $name"; bad=1; fi
done
echo "1..$n"; exit $bad
`

func TestScreens(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			playScreens(t, size[0], size[1])
		})
	}
}

func playScreens(t *testing.T, columns, rows int) {
	p := newPlace(t)
	p.env = append(p.env, "WFS_NOW=2030-01-02T03:04:05Z")
	top := filepath.Dir(p.dir)
	p.write(".wfs/config.yaml", "version: 1\nworkflow: tdd\nagent: {command: sh \"$HOME/agent.sh\"}\ngates:\n  tests: {run: sh tests.sh, format: tap}\nclean-proof: off\n")
	p.write("tests.sh", screensTests)
	p.write("tests/old", "")
	p.write("old.txt", "right\n")
	p.write("csv.md", "- [ ] header row from field names\n- [ ] commas are quoted\n")
	p.write("one.md", "- [ ] header row from field names\n")
	p.agent(screensAgent)
	p.ok("git", "add", "-A")
	p.ok("git", "commit", "-q", "-m", "how it is tested")
	p.ok("wfs", "trust", "--yes")
	shot := func(name string, exit int, args ...string) {
		t.Helper()
		s := p.watch(columns, rows, []string{"WFS_PAGER=cat"}, args...)
		s.ends(exit)
		screenIs(t, s, name, columns, rows, exit, args)
	}
	in := func(dir string, f func()) {
		t.Helper()
		back := p.dir
		p.dir = filepath.Join(top, dir)
		f()
		p.dir = back
	}

	for _, dir := range []string{"nowhere", "fresh"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	in("nowhere", func() { shot("01-no-repository", 0, "wfs") })
	in("fresh", func() {
		p.ok("git", "init", "-q")
		p.write("Makefile", "test:\n\ttrue\n")
		p.ok("git", "add", "-A")
		p.ok("git", "commit", "-q", "-m", "start")
		shot("02-not-set-up", 0, "wfs")
		shot("03-init", 0, "wfs", "init", "--yes")
	})

	shot("04-start", 0, "wfs", "start", "header row", "--spec", "one.md")
	p.ok("git", "switch", "-q", "main")
	p.ok("wfs", "new", "csv export", "--spec", "csv.md")
	shot("05-first-lap", 0, "wfs", "run", "--max-attempts", "3")
	shot("06-status", 0, "wfs", "status")
	shot("07-done", 0, "wfs", "run")
	shot("08-story", 0, "wfs")
	shot("09-log", 0, "wfs", "log")
	shot("10-show", 0, "wfs", "show", "@2")
	shot("11-finish", 0, "wfs", "finish")
	p.ok("git", "switch", "-q", "main")

	p.ok("wfs", "new", "stuck", "--spec", "one.md", "--again")
	shot("12-blocked", exitBlocked, "wfs", "run")
	shot("13-resume", 0, "wfs", "resume", "stuck@1")
	shot("14-undo", 0, "wfs", "undo")
	shot("15-switch", 0, "wfs", "switch", "main")

	p.ok("wfs", "new", "asks")
	shot("16-question", exitDecision, "wfs", "run")
	p.ok("wfs", "switch", "main")
	p.write("old.txt", "mine\n")
	ask := p.watch(columns, rows, nil, "wfs", "new", "other goal")
	p.until("the question", func() bool { return strings.Contains(ask.Text(), "?") })
	screenIs(t, ask, "17-uncommitted", columns, rows, -1, []string{"wfs", "new", "'other goal'"})
	ask.types("\x03")
	ask.wait()
	p.ok("git", "checkout", "-q", "--", "old.txt")

	p.ok("wfs", "new", "limited")
	shot("18-limit", exitWaiting, "wfs", "run", "--no-wait")
	p.ok("wfs", "switch", "main")

	p.ok("wfs", "new", "poor", "--budget-attempts", "1", "--spec", "one.md", "--again")
	shot("19-budget", exitBlocked, "wfs", "run")
	p.ok("wfs", "switch", "main")

	p.ok("wfs", "new", "waits")
	s := p.watch(columns, rows, nil, "wfs", "run")
	p.until("the agent", func() bool { return strings.Contains(s.Text(), "I look at the code first") })
	screenIs(t, s, "20-running", columns, rows, -1, []string{"wfs", "run"})
	shot("21-status-running", 0, "wfs", "status")
	s.types("\x03")
	s.ends(exitInterrupted)
	screenIs(t, s, "22-interrupted", columns, rows, exitInterrupted, []string{"wfs", "run"})
	shot("23-list", 0, "wfs", "list")
}

var (
	leadsToCommand = regexp.MustCompile(`^(next|then|undo|redo|hint): `)
	commandIn      = regexp.MustCompile(`(^wfs [a-z]|(: |\()\(?(wfs|git|cd|mv|rm|cp) [^ ]|: --[a-z]+ ').*$`)
)

const viewEdge = "│ "

var screenDiffers = []struct {
	find *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`\b[0-9a-f]{7,40}\b`), "1234567"}, {regexp.MustCompile(`pid \d+`), "pid N"}, {regexp.MustCompile(`(?m) +\d+:\d\d$`), ""},
	{regexp.MustCompile(`(?m)^(  used +)\d+ (?:s|min)(?:, |; |$)`), "$1"}, {regexp.MustCompile(`(?m)^  used *\n`), ""}, {regexp.MustCompile(`, \d+:\d\d\b`), ""},
	{regexp.MustCompile(`(?m)^time: .*\n`), ""}, {regexp.MustCompile(`(?s)logs:\s.*?\n\n`), "logs: DIRECTORY\n\n"}, {regexp.MustCompile(` +\d+\.\ds\n`), "\n"},
}

// screenIs compares the contents of a terminal with the saved screen.
func screenIs(t *testing.T, s *seen, name string, columns, rows, exit int, args []string) {
	t.Helper()
	text := s.Text()
	for line := range strings.Lines(s.raw.String()) {
		line = strings.TrimRight(line, "\r\n ")
		line = safetext.Strip(line[strings.LastIndex(line, "\r")+1:])
		switch {
		case strings.Contains(line, viewEdge): // cursor movements
		case leadsToCommand.MatchString(line), commandIn.MatchString(strings.TrimSpace(line)):
			if strings.HasSuffix(line, "…") {
				t.Errorf("%s: a command is cut: %s", name, line)
			}
		case safetext.Width(line) > columns && strings.Contains(strings.TrimSpace(line), " "): // a path may be wider
			t.Errorf("%s: wider than %d columns: %s", name, columns, line)
		}
	}
	text = strings.ReplaceAll(text, filepath.Dir(s.p.dir), "PLACE")
	for _, d := range screenDiffers {
		text = d.find.ReplaceAllString(text, d.as)
	}
	head := "$ " + strings.Join(args, " ")
	if exit > 0 {
		head += fmt.Sprintf("    (exit %d)", exit)
	}
	text = head + "\n" + text + "\n"
	file := filepath.Join("testdata", "screens", fmt.Sprintf("%s.%dx%d.txt", name, columns, rows))
	if os.Getenv("WFS_SCREENS") == "update" {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s shows\n%s\nwant\n%s", name, text, want)
	}
}
