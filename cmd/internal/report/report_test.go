package report

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/session"
)

// hostile are texts that would be markup if they were not escaped.
var hostile = []string{
	"# heading", "- item", "1. item", "=====", "| a | b |", "a\n\n# b",
	"<script>alert(1)</script>", "<img src=x onerror=y>",
	"[link](https://evil.example)", "![image](https://evil.example/x.png)", "<https://evil.example>",
	"https://evil.example/a",
	"www.evil.example", "someone@evil.example", "@everyone", "see #12", "```\n# out\n```", "`code` ``more``",
	"a \\| b", "a \\",
	"**bold** __bold__ ~~gone~~ *i*", "&lt;b&gt; &#35; x", "</td></table></style><style>*{display:none}",
	"$\\href{x}{y}$", "[^1]: note",
	"-->", "\x1b[31mred\x1b[m", "a\u202eb", "    indented", "> quote", "javascript:alert(1)", "{{.}}",
}

// TestMarkdownEscapes: whatever a text is, its Markdown has no character that could be markup.
func TestMarkdownEscapes(t *testing.T) {
	live := regexp.MustCompile("(^|[^\\\\])(\\\\\\\\)*[`*\\[\\]<>~|]|[@#]\\w|://|(?i:www\\.)")
	for _, text := range hostile {
		got := begun(line(text).Markdown())
		if m := live.FindString(strings.ReplaceAll(got, "&#124;", "")); m != "" {
			t.Errorf("%q becomes %q: %q is markup", text, got, m)
		}
		if strings.Contains(got, "\n") || beginning.MatchString(got) {
			t.Errorf("%q becomes %q, which begins a block", text, got)
		}
	}
	for text, want := range map[string]string{
		"export_test.go +19 (a_b)": "export_test.go +19 (a_b)", "- x": `\- x`, "1. x": `1\. x`,
		"$0.61 of $5.00": "$0.61 of $5.00",
		"_x_":            `\_x\_`, "R&D": `R\&D`, "a & b": "a & b",
	} {
		if got := begun(line(text).Markdown()); got != want {
			t.Errorf("%q becomes %q, and not %q", text, got, want)
		}
	}
}

func TestCodeInMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"TestA": "`TestA`", "a`b": "a\\`b", "a|b": "a&#124;b", " a": "a", "": "", "@12": "`@12`", "a\nb": "`a b`",
	} {
		if got := line(code(text)).Markdown(); got != want {
			t.Errorf("code %q becomes %q, and not %q", text, got, want)
		}
	}
}

// TestFence: no line of a difference ends the block of code that it is in.
func TestFence(t *testing.T) {
	for _, text := range []string{"a", "```", "+````` x", "a\r\n```\u2028"} {
		lines := strings.Split(strings.TrimSpace(fenced("diff", text)), "\n")
		fence := strings.TrimSuffix(lines[0], "diff")
		if lines[len(lines)-1] != fence {
			t.Errorf("%q is in %q", text, lines)
		}
		for _, l := range lines[1 : len(lines)-1] {
			if strings.Contains(l, fence) {
				t.Errorf("%q is in %q", text, lines)
			}
		}
	}
}

// about returns the report of a session in which each text is the given one.
func about(text string, attempts int) *Report {
	s := &session.Session{Created: session.Created{ID: "csv", Goal: text, Items: []string{text}, SpecPath: text,
		Agent:    text,
		Workflow: "tdd", Laps: true, Base: "0123456789"}, Status: session.StatusBlocked, Phase: "GREEN", Lap: 1,
		Blocked: &session.BlockedBy{Reason: session.BlockBreaker, Evidence: []string{text, text}}, Current: attempts,
		LastGates: []session.GateResult{{Gate: text, Verdict: session.Fail, Reason: text, FirstError: text,
			Failing: []session.TestID{session.TestID(text)}}}, Title: text}
	s.CreatedAt, s.UpdatedAt = 1, 2
	var events []session.Event
	add := func(b session.Body) {
		events = append(events, session.Event{
			Seq: int64(len(events) + 1), At: time.Unix(int64(len(events)), 0), Body: b,
		})
	}
	s.Checkpoints = append(s.Checkpoints, session.Checkpoint{Code: "0123456789abcdef"})
	add(session.Created{Goal: text, Start: "GREEN"})
	add(session.Checkpointed{Trigger: session.TriggerBirth})
	for n := 1; n <= attempts; n++ {
		s.Checkpoints = append(s.Checkpoints, session.Checkpoint{Number: n, On: n - 1, Code: "0123456789abcdef",
			Summary: text})
		add(session.AttemptStarted{Phase: "GREEN", Lap: 1, Attempt: n})
		add(session.RunEnded{RunResult: session.RunResult{Outcome: session.OutcomeOK, Agent: text, Model: text,
			Note: text, Done: true,
			Denied: []string{text}, Tools: 1, ToolUse: []session.ToolUse{{Name: text, Calls: 1}},
			Review: &session.Review{Verdict: session.Reject,
				Findings: []session.Remark{{Path: text, What: text}}, By: text}}})
		add(session.Judged{Judgement: session.Judgement{Verdict: session.Fail, Reason: text,
			Gates: []session.GateResult{{Gate: text,
				Verdict: session.Fail, Reason: text, FirstError: text, Fingerprint: "x",
				Numbers: map[string]float64{text: float64(n)},
				Counts:  session.Counts{Passed: n, Failed: 1}, Failing: []session.TestID{session.TestID(text)}}}}})
		add(session.Decided{Verdict: session.Fail, Reason: text, Next: "GREEN", NextLap: 1, Refuted: true})
		add(session.Checkpointed{Number: n, Trigger: session.TriggerAttempt})
	}
	add(session.Noted{Text: text})
	d := present.Describe(s)
	d.Next = []string{"wfs run"}
	x := Of(Input{Story: present.StoryOf(d, time.Unix(3, 0)), Events: events, Diff: "+" + text + "\n",
		Closing: present.Closing{Head: present.Join(text), Rows: []present.Row{{Label: "failing", Text: text},
			{Text: text, Whole: true}}},
		Lines: [][]session.FileLines{{{Path: text, Status: "A", Added: 1}}, {{Path: text, Status: "A"}}}})
	r := &Report{WFS: "dev", Unreadable: map[string]string{}}
	r.Add(x)
	return r
}

var (
	// tags that a report may have, with all their attributes
	tag = regexp.MustCompile(`<(/?[a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*/?>`)
	// what no attribute of a report may be
	active = regexp.MustCompile(`(?i)\s(on[a-z]+|src|srcset|action|formaction|style|data|poster)=|href="[^#]`)
)

// TestHostileReports: a report about texts that look like markup has the same structure as one about a plain text.
func TestHostileReports(t *testing.T) {
	structure := func(r *Report) (html, markdown string) {
		var b bytes.Buffer
		if err := r.HTML(&b); err != nil {
			t.Fatal(err)
		}
		page := regexp.MustCompile(`(?s)<svg.*?</svg>|<style>.*?</style>`).ReplaceAllString(b.String(), "")
		for _, m := range tag.FindAllStringSubmatch(page, -1) {
			html += m[1] + "\n"
			if m[1] != "meta" && active.MatchString(m[2]) {
				t.Errorf("an attribute can act: %s", m[0])
			}
		}
		text, _, _ := strings.Cut(markdownOf(t, r), "```") // the difference follows
		for _, l := range strings.Split(text, "\n") {
			markdown += regexp.MustCompile(`^(#+ |\| |- )?.*`).ReplaceAllString(l, "$1") +
				fmt.Sprint(strings.Count(l, "|")) + "\n"
		}
		return html, markdown
	}
	wantHTML, wantMarkdown := structure(about("plain", 2))
	for _, text := range hostile {
		html, markdown := structure(about(text, 2))
		if html != wantHTML {
			t.Errorf("%q changes the elements of the page", text)
		}
		if markdown != wantMarkdown {
			t.Errorf("%q changes the Markdown:\n%s", text, markdownOf(t, about(text, 2)))
		}
	}
}

// TestPolicy: the page allows its own style sheet, and nothing else.
func TestPolicy(t *testing.T) {
	var b bytes.Buffer
	if err := about("x", 1).HTML(&b); err != nil {
		t.Fatal(err)
	}
	policy := regexp.MustCompile(`content="default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]+='; base-uri`)
	if !policy.MatchString(html.UnescapeString(b.String())) {
		t.Errorf("no policy in %.1500s", b.String())
	}
	if strings.Contains(b.String(), "http:") ||
		strings.Contains(strings.ReplaceAll(b.String(), "http://www.w3.org/2000/svg", ""), "://") {
		t.Error("the page names an address")
	}
}

// TestLongSession: the file of a long session stays small, and says what it leaves out.
func TestLongSession(t *testing.T) {
	r := about("x", 1000)
	var b bytes.Buffer
	if err := r.HTML(&b); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 1<<20 {
		t.Errorf("the page has %d bytes", b.Len())
	}
	for _, text := range []string{b.String(), markdownOf(t, r)} {
		if !strings.Contains(text, "earlier entries left out here: ") || !strings.Contains(text, "wfs log csv") {
			t.Errorf("what is left out is not said: %.300s", text)
		}
	}
}

func markdownOf(t *testing.T, r *Report) string {
	var b strings.Builder
	if err := r.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
