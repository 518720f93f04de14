package stories

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// completions returns the completions that a shell gets, without descriptions.
func completions(r *testkit.Repo, args ...string) string {
	r.T.Helper()
	cmd := exec.Command(testkit.Wfs(r.T), append([]string{"__completeNoDesc"}, args...)...)
	cmd.Dir, cmd.Env = r.Dir, r.Env
	out, err := cmd.Output()
	if err != nil {
		r.T.Errorf("%v: %v", args, err)
	}
	return strings.Join(strings.Fields(string(out)), " ")
}

func TestCompletion(t *testing.T) {
	r := plain(t)
	for _, c := range []struct{ typed, want string }{
		{"show ", "one two 2 1 0 :36"},
		{"show o", "one :36"},
		{"delete --restore ", ":36"},
		{"show one@", "one@2 one@1 one@0 :36"},
		{"show two@1", "two@1 :36"},
		{"show 1", "1 :36"},
		{"show one ", ":4"},
		{"diff one@1 ", "2 1 0 one@ two@ :36"},
		{"resume @", "@2 @1 @0 :36"},
		{"resume two --at ", "1 0 one@ two@ :36"},
		{"resume --at on", "one@ :38"},
		{"switch ", "one two main side :36"},
		{"switch s", "side :36"},
		{"new --from ", "main side one@ two@ :36"},
		{"new --from one@2", "one@2 :36"},
		{"fork one@", "one@2 one@1 one@0 :36"},
		{"new --workflow pla", "plain plan :36"},
		{"workflow show pla", "plain plan :36"},
		{"workflow check ", ":0"},
		{"phase back ", "WORK :36"},
		{"config get gates.tests.r", "gates.tests.run :36"},
		{"list --status co", "completed :36"},
		{"--color a", "auto always :36"},
		{"completion z", "zsh :36"},
		{"new ", ":36"},
		{"show zebra@", ":36"},
		{"statu", "status :4"},
		{"bogus ", ":4"},
		{"-C /nowhere show ", ":0"},
		{"-C .wfs show o", "one :36"},
		{"-C / show ", ":36"},
	} {
		got := completions(r, strings.Split(c.typed, " ")...)
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.typed, got, c.want)
		}
	}
	before := r.OK("sh", "-c", "find .git -type f -exec cksum {} + | sort")
	completions(r, "show", "one@")
	if after := r.OK("sh", "-c", "find .git -type f -exec cksum {} + | sort"); after != before {
		t.Error("a completion wrote into .git")
	}
	// In a damaged repository it completes the readable sessions, and prints nothing more.
	r.Write(".git/refs/wfs/one/ledger", "garbage\n")
	if got := completions(r, "show", ""); got != "two :36" {
		t.Errorf("with a damaged ledger: %q", got)
	}
}

// TestCompletionInBash runs the completion script in a shell without the package bash-completion.
func TestCompletionInBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		if os.Getenv("WFS_REQUIRE_SANDBOX") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	r := plain(t)
	for _, c := range []struct{ breaks, line, want string }{
		{"@", "wfs show one@", "@2 @1 @0"},
		{"", "wfs show one@1", "one@1"},
		{"@", "wfs show one@1", "@1"},
		{"@", "wfs switch ma", "main"},
		{"@", "wfs show zebra@", ""},
	} {
		script := `source <(wfs completion bash)
COMP_WORDBREAKS=" ` + c.breaks + `" COMP_LINE="$1" COMP_POINT=${#1} COLUMNS=1
compopt() { :; }
__start_wfs
echo "${COMPREPLY[@]}"`
		got := r.OK(bash, "--noprofile", "--norc", "-c", script, "bash", c.line)
		if got != c.want {
			t.Errorf("%q with %q: %q, want %q", c.line, c.breaks, got, c.want)
		}
	}
}
