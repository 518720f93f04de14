package statefile

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// write creates files below a new directory. It returns the directory.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestOutside checks that a state cannot name files outside of the work tree, in whichever way it spells them.
func TestOutside(t *testing.T) {
	all := write(t, map[string]string{"secret.md": "the secret\n", "top/plan/IMPL_PLAN.md": "the plan\n"})
	root := filepath.Join(all, "top")
	if err := os.Symlink(filepath.Join(all, "secret.md"), filepath.Join(root, "plan", "link.md")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../../secret.md", "link.md",
		filepath.ToSlash(filepath.Join(all, "secret.md")), "..", ""} {
		text := `{"session_id":"WFS-x","session_version":"2.0","project":"x","type":"complex","current_phase":"PLAN",` +
			`"status":"paused","checkpoints":{"plan":{"documents":["IMPL_PLAN.md","` + name + `"]}}}`
		file := filepath.Join(root, "plan", "workflow-session.json")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := Read(root, file, "")
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		if len(s.Documents) != 1 || string(s.Documents[0].Text) != "the plan\n" {
			t.Errorf("%q: %d documents, the last one is %q", name, len(s.Documents), s.Documents[len(s.Documents)-1].Text)
		}
	}
}

// TestOwn checks that what is kept out of checkpoints is the state and nothing else.
func TestOwn(t *testing.T) {
	root := write(t, map[string]string{"cp/sessions.json": `{"sessions":[
		{"id":"a","topic":"t","status":"paused","current_step":1},
		{"id":".."},{"id":""},{"id":"x/../.."}]}`})
	s, err := Read(root, filepath.Join(root, "cp"), "")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(root, "cp", "a"), filepath.Join(root, "cp", "sessions.json")}
	if !slices.Equal(s.Own, want) {
		t.Errorf("%q, want %q", s.Own, want)
	}
}

// TestPlans checks which documents of a plan become which of the workflow, by complexity.
func TestPlans(t *testing.T) {
	for kind, want := range map[string]string{"medium": "plan.md", "complex": "plan.md tasks.md"} {
		root := write(t, map[string]string{"IMPL_PLAN.md": "plan", "TASK_BREAKDOWN.md": "tasks", "workflow-session.json": `{
			"session_id":"x","project":"p","type":"` + kind + `","current_phase":"REVIEW","status":"active",
			"checkpoints":{"plan":{"documents":["IMPL_PLAN.md","TASK_BREAKDOWN.md"]}}}`})
		s, err := Read(root, root, "")
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, d := range s.Documents {
			names = append(names, d.Name)
		}
		if got := strings.Join(names, " "); got != want || s.Phase != "REVIEW" || s.Complexity != kind {
			t.Errorf("%s: %s in %s, want %s", kind, got, s.Phase, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(0, `{"session_id":"x","prp_file":"a","started_at":"t","current_phase":"RED","status":"paused"}`)
	f.Add(1, `{"session_id":"x","project":"p","type":"simple","current_phase":"PLAN","status":"active"}`)
	f.Add(2, `{"sessions":[{"id":"a","topic":"t","status":"paused","current_step":1}],"last_active_session":"a"}`)
	f.Add(3, `{"id":"a","status":"active","directory":"."}`)
	f.Fuzz(func(t *testing.T, kind int, text string) {
		root := t.TempDir()
		file := filepath.Join(root, Names[uint(kind)%uint(len(Names))])
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := Read(root, file, "")
		var refused *Refused
		if err != nil && !errors.As(err, &refused) {
			t.Fatalf("%q: %v", text, err)
		}
		if err == nil && (s.Goal == "" || s.Phase == "" || s.Workflow == "") {
			t.Fatalf("%q: %+v", text, s)
		}
	})
}
