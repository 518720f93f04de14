package worktree

import (
	"path/filepath"
	"testing"
)

func TestMountIn(t *testing.T) {
	t.Parallel()
	table := []byte("22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n" +
		"23 22 0:5 / /proc rw - proc proc rw\n" +
		"40 22 8:1 /home/me/cache /home/me/one\\040two/cache rw - ext4 /dev/sda1 rw\n" +
		"41 22 0:44 / /home/me/tmpfs\\134x rw - tmpfs tmpfs rw\nshort line\n")
	for dir, want := range map[string]string{
		"/home/me/one two":       "/home/me/one two/cache",
		"/home/me/one two/cache": "/home/me/one two/cache",
		"/home/me/one":           "",
		"/home/me/one two/ca":    "",
		`/home/me/tmpfs\x`:       `/home/me/tmpfs\x`,
		"/home/me/repo":          "",
	} {
		if got := mountIn(table, dir); got != want {
			t.Errorf("in %s: %q, want %q", dir, got, want)
		}
	}
	if err := NotMounted(t.TempDir()); err != nil {
		t.Error(err)
	}
	if err := NotMounted(filepath.Join(t.TempDir(), "none")); err != nil {
		t.Error(err)
	}
}
