package gitcmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/internal/proc"
)

// Version is a version of git, without the patch level, which wfs never needs.
type Version struct{ Major, Minor int }

// minVersion is the oldest supported git, that of Ubuntu 22.04.
var minVersion = Version{2, 34}

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

func (v Version) before(w Version) bool {
	return v.Major < w.Major || v.Major == w.Major && v.Minor < w.Minor
}

// FsyncArgs returns the options with which this version of git syncs objects and refs to disk.
func (v Version) FsyncArgs() []string {
	if v.before(Version{2, 36}) {
		return []string{"-c", fsyncBefore}
	}
	return []string{"-c", fsyncWhat, "-c", fsyncBatch}
}

// parseVersion parses "git version 2.39.5 (Apple Git-154)".
func parseVersion(s string) (Version, error) {
	rest, ok := strings.CutPrefix(s, "git version ")
	major, rest, ok2 := strings.Cut(rest, ".")
	minor := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	ma, err := strconv.Atoi(major)
	mi, err2 := strconv.Atoi(minor)
	if !ok || !ok2 || err != nil || err2 != nil {
		return Version{}, fmt.Errorf("git did not print its version: %q", strings.TrimSpace(s))
	}
	return Version{ma, mi}, nil
}

// Version returns the version of git, which it asks git for once. If that is older than minVersion, the error wraps
// ErrGitTooOld. Only commands that write check the version.
func (r *Answers) Version(ctx context.Context) (Version, error) {
	return r.version.get(func() (Version, error) { return r.askVersion(ctx) })
}

func (r *Answers) askVersion(ctx context.Context) (Version, error) {
	out, _, err := run(ctx, proc.Cmd{Argv: []string{"git", "version"}, Env: r.git.Env}, nil, nil, []string{"version"})
	if err != nil {
		return Version{}, err
	}
	v, err := parseVersion(string(out))
	if err != nil {
		return Version{}, err
	}
	return v, v.check()
}

func (v Version) check() error {
	if v.before(minVersion) {
		return fmt.Errorf("%w: this is %s, wfs needs %s or newer", ErrGitTooOld, v, minVersion)
	}
	return nil
}
