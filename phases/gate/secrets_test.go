package gate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/workflows"
)

// TestJudgeTellsNoSecret: a judge's messages contain names, and reasons of the system.
func TestJudgeTellsNoSecret(t *testing.T) {
	t.Parallel()
	told := ""
	j := &Runner{Secrets: redact.New([]string{"API_TOKEN=open-sesame-for-all"}), Report: func(line string) { told += line }}
	j.Say("gate tests again: enters with open-sesame-for-all")
	if told != "gate tests again: enters with [redacted: $API_TOKEN]" {
		t.Errorf("%q", told)
	}
}

// TestGatesAreClean has a token and a value of the environment in gates' output, in two pieces. Neither gets into a
// log or the last lines, nor the token into a report, whose names must be the same in every environment.
func TestGatesAreClean(t *testing.T) {
	t.Parallel()
	const value, token = "open-sesame-for-all", "ghp_" + "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"
	for format, text := range map[workflows.Format]string{
		workflows.FormatExit: "use " + token + "\nand " + value,
		workflows.FormatTAP:  "not ok 1 - " + value + "\n  ---\n  error: " + token + "\n  ...\n1..1\n",
		workflows.FormatGoTest: `{"Action":"output","Package":"x","Test":"TestA/` + value + `","Output":"use ` + token + ` and ` + value + `\n"}` + "\n" +
			`{"Action":"fail","Package":"x","Test":"TestA/` + value + `"}` + "\n",
		workflows.FormatJUnit: `<testsuite><testcase classname="c" name="` + value + `"><failure>` + token + `</failure></testcase></testsuite>` + "\n" + value + "\n",
	} {
		for _, to := range []string{"1", "2"} {
			dir := t.TempDir()
			j := &Runner{Root: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}, Secrets: redact.New([]string{"API_TOKEN=" + value})}
			at := strings.Index(text, value) + 7
			g := workflows.Gate{Name: "g", Format: format, Timeout: time.Minute,
				Run: workflows.Command{Argv: []string{"sh", "-c", `printf %s "$1" >&$3; sleep 0.05; printf %s "$2" >&$3; exit 1`, "sh", text[:at], text[at:], to}}}
			run, err := j.Run(t.Context(), g, On{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			log, err := os.ReadFile(filepath.Join(dir, run.Log))
			shown := string(log) + strings.Join(run.printed, "\n")
			if err != nil || strings.Contains(shown, value) || strings.Contains(shown, token) || strings.Count(string(log), "[redacted: ") < 2 || len(run.printed) == 0 {
				t.Errorf("%s to %s: %q, %q, %v", format, to, log, run.printed, err)
			}
			if all := fmt.Sprint(run.Report.Tests, run.Report.Messages, run.Report.Broken); strings.Contains(all, token) {
				t.Errorf("%s to %s: %s", format, to, all)
			} else if to == "1" && format != workflows.FormatExit && !strings.Contains(all, value+":fail") {
				t.Errorf("%s has no test with its name: %s", format, all)
			}
		}
	}
}
