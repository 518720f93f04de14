package gate

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestRoomEnv(t *testing.T) {
	t.Parallel()
	home, cache := t.TempDir(), t.TempDir()
	for _, dir := range []string{
		filepath.Join(home, ".cargo"), filepath.Join(home, ".cache", "uv"), filepath.Join(cache, "go-build"),
		filepath.Join(home, ".nvm"),
	} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"HOME=" + home, "LANG=C", "NVM_DIR=/opt/nvm", "PATH=/bin", "TMPDIR=/tmp", "WFS_SESSION=x",
		"XDG_CACHE_HOME=" + cache, "XDG_CONFIG_HOME=/etc/own", "XDG_RUNTIME_DIR=/run/user/1"}
	got := roomEnv(env, "/room/home", "/room/tmp")
	want := []string{"HOME=/room/home", "LANG=C", "NVM_DIR=/opt/nvm", "PATH=/bin", "XDG_RUNTIME_DIR=/run/user/1",
		"TMPDIR=/room/tmp", "GOCACHE=" + filepath.Join(cache, "go-build"), "CARGO_HOME=" + filepath.Join(home, ".cargo")}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if got := roomEnv(env, "", ""); !slices.Equal(got,
		slices.DeleteFunc(env, func(e string) bool { return e == "WFS_SESSION=x" })) {
		t.Errorf("without directories: %q", got)
	}
}
