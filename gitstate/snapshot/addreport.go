package snapshot

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// addReport has the messages of `git add --ignore-errors` about paths.
type addReport struct {
	Skipped []session.Skip
	Fatal   *session.Skip // the path because of which git failed as a whole
	Unknown string        // an error message in which no path was recognised
}

// skipRules is the reason for a .gitignore or .gitattributes file that git could not read. Git still adds the file
// itself.
const skipRules = "cannot be accessed"

// skipNotStored is the reason for a file that git could read but could not write as an object.
const skipNotStored = "cannot be stored"

// addSentences are the messages of `git add` about one path, from git's builtin/add.c, dir.c, read-cache.c,
// object-file.c and convert.c, versions 2.34 to 2.5x. In a message, the path is between the texts before and after.
var addSentences = []struct{ before, after, why string }{
	{"error: '", "' does not have a commit checked out", "nested repository without commits"},
	{"error: open(\"", "\"): Permission denied", "cannot be read: permission denied"},
	{"error: open(\"", "\"): ", "cannot be opened"},
	{"error: readlink(\"", "\"): ", "cannot be read"},
	{"error: read error while indexing ", "", "cannot be read"},
	{"error: short read while indexing ", "", "cannot be read"},
	{"error: unable to index file '", "'", "cannot be added"},
	{"error: ", ": failed to insert into database", skipNotStored},
	{"error: ", ": can only add regular files, symbolic links or git-directories", "not a regular file"},
	{"error: invalid path '", "'", "a name that git does not allow"},
	{"error: unable to add '", "' to index", "a name that git does not allow"},
	{"warning: could not open directory '", "': ", "directory cannot be opened"},
	{"warning: unable to access '", "': ", skipRules},
	{"warning: adding embedded git repository: ", "", ""}, // ungraft drops and reports it
}

// fatalSentences are the messages with which `git add` fails as a whole. Those without a reason (why) name no path.
var fatalSentences = []struct{ before, after, why string }{
	{"fatal: unable to stat '", "': ", "disappeared or cannot be read"},
	{"fatal: BOM is required in '", "' if encoded", "not in its working-tree-encoding"},
	{"fatal: BOM is prohibited in '", "' if encoded", "not in its working-tree-encoding"},
	{"fatal: failed to encode '", "' from", "not in its working-tree-encoding"},
	{"fatal: adding files failed", "", ""},
	{"fatal: updating files failed", "", ""},
	{"fatal: ", ": clean filter '", "its clean filter failed"},
	{"fatal: 'git status --porcelain=2' failed in submodule ", "",
		"a submodule in which git does not work, as in one that was moved by hand"},
}

// ReadAddReport parses the stderr of `git add`. A message may span lines, because a path may.
func ReadAddReport(stderr []byte) addReport {
	var report addReport
	for _, msg := range messages(string(stderr)) {
		switch {
		case strings.HasPrefix(msg, "fatal: "):
			if path, why, ok := match(fatalSentences, msg); ok && path != "" {
				report.Fatal = &session.Skip{Path: path, Why: why}
			}
		case strings.HasPrefix(msg, "error: "), strings.HasPrefix(msg, "warning: "):
			path, why, ok := match(addSentences, msg)
			if ok && why != "" {
				report.Skipped = append(report.Skipped, session.Skip{Path: path, Why: why})
			}
			// Filters print their own error messages; if one matters, git prints a fatal message with the path after
			// it.
			if !ok && strings.HasPrefix(msg, "error: ") && !saidByFilter(msg) {
				report.Unknown = msg
			}
		}
	}
	return report
}

// saidByFilter reports whether a message is about the program of a filter. Such a message alone is no failure: if a
// filter is not required, git adds the file unfiltered.
func saidByFilter(msg string) bool {
	return strings.HasPrefix(msg, "error: cannot run ") || strings.Contains(msg, " external filter ")
}

// theIgnored begins git's list of ignored paths. Git also prints this list if wfs excludes a .wfs that is ignored.
const theIgnored = "The following paths are ignored"

// messages splits the output of git into messages. A line that begins no message belongs to the message before it.
func messages(s string) []string {
	var out []string
	for _, line := range strings.Split(strings.TrimSuffix(s, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "error: "), strings.HasPrefix(line, "warning: "), strings.HasPrefix(line, "fatal: "),
			strings.HasPrefix(line, "hint: "), strings.HasPrefix(line, theIgnored):
			out = append(out, line)
		case len(out) > 0:
			out[len(out)-1] += "\n" + line
		}
	}
	return out
}

// maxMessage is the length, in bytes, to which git truncates its messages (vreportf in usage.c).
const maxMessage = 4095

// match finds the sentence that a message follows, and returns the path in the message and the sentence's reason.
func match(sentences []struct{ before, after, why string }, msg string) (path, why string, ok bool) {
	for _, s := range sentences {
		rest, ok := strings.CutPrefix(msg, s.before)
		if !ok {
			continue
		}
		if s.after == "" {
			return strings.TrimSuffix(rest, "/"), s.why, true
		}
		if i := strings.LastIndex(rest, s.after); i > 0 {
			return strings.TrimSuffix(rest[:i], "/"), s.why, true
		}
		if i := strings.LastIndexByte(rest, '/'); i > 0 && len(msg) >= maxMessage-len("warning: ") {
			return rest[:i], s.why, true // the directory is complete, the rest of the path is cut off
		}
	}
	return "", "", false
}

// rulesOnly reports whether git skipped a path only as a source of rules, so that the report about the path is to be
// dropped: a .gitignore or .gitattributes that is a symbolic link, which git adds but does not follow, or a file
// outside of the work tree.
func (r *Adder) rulesOnly(s session.Skip) bool {
	if s.Why != skipRules {
		return false
	}
	if !filepath.IsLocal(filepath.FromSlash(s.Path)) || strings.HasPrefix(s.Path, ".git/") {
		return true
	}
	info, err := r.Git.Lstat(s.Path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}
