package phases

import (
	"reflect"
	"slices"
	"testing"

	"github.com/wfs-dev/wfs/workflows"
)

func TestProposeWorktree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ignored, files []string
		want           workflows.Worktree
	}{
		{nil, []string{"package-lock.json"}, workflows.Worktree{}},
		{[]string{".env", ".env.local", "dist/", "sub/.env"}, nil, workflows.Worktree{Copy: []string{".env", ".env.local"}}},
		{[]string{"node_modules/"}, nil, workflows.Worktree{}},
		{[]string{"node_modules/"}, []string{"yarn.lock"}, workflows.Worktree{Setup: workflows.Command{Shell: "yarn install --frozen-lockfile"}}},
		{[]string{".venv/", "node_modules/"}, []string{"requirements.txt", "uv.lock", "package-lock.json"},
			workflows.Worktree{Setup: workflows.Command{Shell: "uv sync --frozen && npm ci"}}},
		{[]string{".venv/", "venv/"}, []string{".venv/pyvenv.cfg"}, workflows.Worktree{Link: []string{".venv"}}},
		{[]string{"venv/"}, []string{"venv/pyvenv.cfg", "uv.lock"}, workflows.Worktree{Link: []string{"venv"}}},
		{[]string{".venv/"}, []string{".venv/pyvenv.cfg", "requirements.txt"},
			workflows.Worktree{Setup: workflows.Command{Shell: "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"}}},
	} {
		got := ProposeWorktree(c.ignored, func(name string) bool { return slices.Contains(c.files, name) })
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v, %v: %+v, want %+v", c.ignored, c.files, got, c.want)
		}
	}
}
