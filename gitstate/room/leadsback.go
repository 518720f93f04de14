package room

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// LeadsBackError means that an installed package points back to a work tree. Gates would then judge the files there
// instead of those in the room.
type LeadsBackError struct{ session.LeadsBack }

func leadsBack(name, to string) error { return &LeadsBackError{session.LeadsBack{Path: name, To: to}} }

func (e *LeadsBackError) Error() string { return e.Path + " leads to " + e.To }

// maxSaying limits how many bytes of a file wfs searches for locations of modules.
const maxSaying = 1 << 20

// leadsPython reports, by a file's name, whether the file lists locations of modules for Python: see Python's module
// site, and the editable installs of setuptools.
func leadsPython(base string) bool {
	return strings.HasSuffix(base, ".pth") || strings.HasSuffix(base, ".egg-link") ||
		strings.HasPrefix(base, "__editable__") && strings.HasSuffix(base, ".py")
}

// says reports whether an installed file may list locations of modules as absolute paths. Python and pnpm write such
// files.
func says(file string) bool {
	base := path.Base(file)
	return leadsPython(base) || base == ".modules.yaml" || path.Base(path.Dir(file)) == ".bin"
}

// namesTree returns the first of the directories whose path occurs in a file, "" if none does.
func namesTree(file string, tops ...string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxSaying))
	for _, top := range tops {
		if (&session.CleanTree{Live: []string{top}}).Names(string(text)) {
			return top
		}
	}
	return ""
}

// leads returns the path in a work tree to which an installed symbolic link points, or the work tree that an installed
// file names, or "" if the file does neither.
func (b *room) leads(file string, kind fs.FileMode) string {
	switch {
	case kind&fs.ModeSymlink != 0:
		to, err := filepath.EvalSymlinks(file)
		ours := func(top string) bool { return durable.Inside(to, top) && !durable.Inside(to, b.set.Git.CommonDir) }
		if err == nil && !durable.Inside(to, b.Dir) && slices.ContainsFunc(b.theirs, ours) {
			return to
		}
	case kind.IsRegular() && says(file):
		return namesTree(file, b.theirs...)
	}
	return ""
}

// lookOutside finds editable installs of the project in Python installations outside of the room: those of the system,
// of the user, or of a virtual environment of poetry or conda. env is the environment of the gates.
func (b *room) lookOutside(env []string) {
	for _, prefix := range pythonPrefixes(env) {
		if !filepath.IsAbs(prefix) || durable.Inside(prefix, b.set.Git.Root) || durable.Inside(prefix, b.theirs[0]) {
			continue
		}
		found, _ := filepath.Glob(filepath.Join(gitcmd.Globbed(prefix), "lib*", "python*", "*-packages", "*"))
		for _, file := range found {
			if to := b.leads(file, 0); to != "" {
				b.clean.LeadsBack = &session.LeadsBack{Path: file, To: to}
			}
		}
	}
}

// pythonPrefixes returns the directories in which programs with an environment may find Python and its packages.
func pythonPrefixes(env []string) (prefixes []string) {
	for _, entry := range env {
		switch name, value, _ := strings.Cut(entry, "="); name {
		case "VIRTUAL_ENV", "CONDA_PREFIX":
			prefixes = append(prefixes, value)
		case "HOME":
			prefixes = append(prefixes, filepath.Join(value, ".local"))
		case "PATH":
			for _, dir := range filepath.SplitList(value) {
				above := filepath.Dir(dir)
				versions, _ := filepath.Glob(filepath.Join(gitcmd.Globbed(above), "versions", "*")) // pyenv
				prefixes = append(append(prefixes, above), versions...)
			}
		}
	}
	return prefixes
}
