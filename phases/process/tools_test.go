package process

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wfs-dev/wfs/workflows"
)

// TestTools: a new version of a program is another tool.
func TestTools(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("npm", "1")
	write("other", "1")
	tools := func() []string {
		return Tools([]string{"PATH=" + dir, "HOME=" + dir}, workflows.Command{Shell: `cd web && "npm" ci`})
	}
	was := tools()
	if len(was) != 1 {
		t.Fatalf("the tools are %q", was)
	}
	write("other", "22")
	if now := tools(); !slices.Equal(now, was) {
		t.Errorf("another program changed them to %q", now)
	}
	write("npm", "22")
	if now := tools(); slices.Equal(now, was) {
		t.Error("a new version is the same tool")
	}
	write(".tool-versions", "node 22")
	if now := tools(); len(now) != 2 {
		t.Errorf("the tools are %q", now)
	}
}
