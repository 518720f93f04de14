package browser

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// TestScreenshots writes the pictures of the documents, and each twice from a repository of its own. The clock is
// pinned, and the fonts are those of .ci/browser: so the same page gives the same picture.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("WFS_SCREENSHOTS")
	if dir == "" {
		t.Skip(".ci/browser screenshots writes them")
	}
	first, again := shoot(t), shoot(t)
	for name, picture := range first {
		if !bytes.Equal(picture, again[name]) {
			t.Errorf("%s is another picture the second time", name)
		}
		if len(picture) > 150_000 {
			t.Errorf("%s has %d bytes", name, len(picture))
		}
		if err := os.WriteFile(filepath.Join(dir, name), picture, 0o666); err != nil {
			t.Error(err)
		}
	}
}

func shoot(t *testing.T) map[string][]byte {
	r := testkit.At(t, testkit.Temp(t, ""))
	end := makeExample(r)
	defer end()
	u := serve(r)
	p := u.open(t)
	p.scheme("dark")
	pictures := map[string][]byte{}
	p.size(820, 760)
	p.open(u.root)
	p.awaitText("live")
	pictures["ui-board.png"] = p.picture("body", "#board")
	u.session(p, "csv-export")
	p.await(`document.querySelector("#state").innerText === "live"`)
	pictures["ui-session.png"] = p.picture("section:has(#timeline)", "#matrix")
	var at string
	p.js("location.href", &at)
	p.size(1000, 760)
	p.open(at + "/diff?from=1&to=2")
	pictures["ui-diff.png"] = p.picture("body", "main")
	return pictures
}

// makeExample makes a repository with a morning's work of agents. One of them works until end is
// called.
func makeExample(r *testkit.Repo) (end func()) {
	env := r.Env
	clock := func(time string) {
		now := "2026-03-02T" + time + ":00Z"
		r.Env = append(env[:len(env):len(env)], "WFS_NOW="+now, "GIT_AUTHOR_DATE="+now, "GIT_COMMITTER_DATE="+now)
	}
	clock("08:30")
	const agent = `answer() { printf '{"done": %s, "cost_usd": %s}' "$1" "$2" > "$WFS_RESULT"; }
tests() {
  printf '1..4\nok 1 TestSum\nok 2 TestHeaderRow\n%s 3 TestQuotes\n%s 4 TestQuotesInside\n' "$1" "$2" > tests.tap
}
case $WFS_SESSION$WFS_ATTEMPT in
csv-export1)
  echo 'Fields that contain a comma are quoted now. All tests pass.'
  cat >> csv.go << 'END'

import "strings"

// Field returns a field of a line of CSV.
func Field(s string) string {
	if strings.Contains(s, ",") {
		return s
	}
	return s
}
END
  tests ok 'not ok'; answer true 0.31 ;;
csv-export2)
  echo 'Quotes inside of a field are doubled, as RFC 4180 says.'
  cat > csv.go << 'END'
package shop

import "strings"

// Field returns a field of a line of CSV (RFC 4180).
func Field(s string) string {
	if strings.ContainsAny(s, ",\"\n") {
		return "\"" + strings.ReplaceAll(s, "\"", "\"\"") + "\""
	}
	return s
}
END
  tests ok ok; answer true 0.18 ;;
dark-mode*) echo "Looking for colours"; read -r line < ../wait ;;
rate-limits*) printf '1..2\nok 1 TestSum\nnot ok 2 TestBurst\n' > tests.tap; answer true 0.22 ;;
*) echo "// $WFS_SESSION" >> csv.go; answer true 0.12 ;;
esac
`
	r.WriteAll(map[string]string{
		"../gitconfig": testkit.GitConfig,
		"../agent.sh":  agent,
		"csv.go":       "package shop\n",
		"tests.tap":    "1..1\nok 1 TestSum\n",
		".wfs/config.yaml": "version: 1\nworkflow: plan\ncomplexity: simple\n" +
			"gates:\n  tests: {run: cat tests.tap, format: tap}\n",
	})
	for _, command := range []string{"git init -q", "git add -A", "git commit -q -m start", "wfs trust --yes"} {
		r.OK(strings.Fields(command)...)
	}
	pipe(r, "wait")
	session := func(time, goal string, exit int) {
		clock(time)
		r.OK("wfs", "switch", "main")
		r.OK("wfs", "new", goal, "--agent", "sh ../agent.sh")
		if exit >= 0 {
			exits(r, exit, "wfs", "run")
		}
	}
	session("08:31", "upgrade to Go 1.26", testkit.ExitDecision)
	r.OK("wfs", "approve")
	session("08:40", "round amounts half to even", testkit.ExitDecision)
	r.OK("wfs", "approve")
	session("08:50", "rate limits", testkit.ExitBlocked)
	session("08:55", "invoices as PDF", -1)
	clock("09:05")
	r.OK("wfs", "new", "dark mode", "--worktree", "--agent", "sh ../agent.sh")
	r.OK("wfs", "run", "dark-mode", "--detach")
	session("09:10", "csv export", testkit.ExitDecision)
	clock("09:24")
	return func() {
		r.OK("wfs", "stop", "--now", "dark-mode")
		_, _ = r.Try("wfs", "watch", "dark-mode") // until it has ended
	}
}
