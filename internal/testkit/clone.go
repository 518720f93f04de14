package testkit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// OwnClone gives a copied clone its own identity (see docs/formats.md), as the first wfs command that writes there
// would do.
func OwnClone(t testing.TB, worktree string) {
	t.Helper()
	file := filepath.Join(worktree, ".git/wfs/clone")
	data, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return
	}
	identity := map[string]any{}
	if err == nil {
		err = json.Unmarshal(data, &identity)
	}
	path, linked := filepath.EvalSymlinks(filepath.Join(worktree, ".git"))
	info, missing := os.Stat(path)
	if err != nil || linked != nil || missing != nil {
		t.Fatal(err, linked, missing)
	}
	if identity["path"] == path {
		return
	}
	stat := info.Sys().(*syscall.Stat_t)
	identity["id"], identity["path"] = filepath.Base(filepath.Dir(filepath.Dir(worktree))), path
	identity["device"], identity["inode"] = uint64(stat.Dev), stat.Ino //nolint:unconvert // another type on macOS
	if data, err = json.Marshal(identity); err == nil {
		err = os.WriteFile(file, append(data, '\n'), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
