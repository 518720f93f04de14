package process

import (
	"strings"
	"testing"
)

func TestDefaultEnv(t *testing.T) {
	t.Parallel()
	environ := []string{"PATH=/bin", "AWS_SECRET_ACCESS_KEY=x", "GITHUB_TOKEN=x", "LC_ALL=C", "XDG_CACHE_HOME=/c", "MINE=1", "GIT_DIR=/x", "PATH=/usr/bin", "WFS_X=1", "=C:=C:", "broken"}
	got := strings.Join(DefaultEnv(environ, []string{"MINE"}), " ")
	if want := "LC_ALL=C MINE=1 PATH=/usr/bin XDG_CACHE_HOME=/c"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
