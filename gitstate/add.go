package gitstate

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// maxRounds bounds how many paths may make `git add` give up as a whole, each of them costing another round.
const maxRounds = 50

// addition is what it took to bring a private index up to date with the work tree.
type addition struct {
	session.Staged
	now     *index   // afterwards; nil when it was not read, or when git had to look at everything
	ignored []string // paths that were passed over because rules exclude them
	kept    []string // what is held out already, and was found
	copied  []byte   // see withheld
	since   uint64   // when the files began to be looked at, by the file system's clock; 0: when the caller began
}

// addAll stages the whole work tree, but for .wfs and what is held out, into a private index, and names what it could
// not. old is that index as it is before, nil when only git can read it. A nested repository becomes no gitlink unless
// head has it as one, or somebody has made a submodule of it: a gitlink protects nothing of it.
func (r *Repo) addAll(ctx context.Context, index string, old *index, exclude string, head session.Commit, headTree session.Tree) (addition, error) {
	added, err := r.add(ctx, index, parsedAs(old), exclude, head)
	if err != nil {
		return added, err
	}
	x, nested, err := r.ungraft(ctx, index, added.now, headTree)
	added.Skipped = joinSkips(added.Skipped, nested)
	if x != added.now {
		added.now = nil
	}
	return added, err
}

func joinSkips(a, b []session.Skip) []session.Skip {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(a, b session.Skip) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(all, func(a, b session.Skip) bool { return a.Path == b.Path })
}

// add is addAll with the gitlinks.
func (r *Repo) add(ctx context.Context, index string, parsed func() *index, exclude string, head session.Commit) (made addition, err error) {
	old := parsed()
	h, err := r.hold(ctx, index, old, exclude, head)
	if err == nil {
		err = r.combineExcludes(ctx, h.rules)
	}
	var out withheld
	if err == nil {
		out, err = r.withhold(ctx, index, old, &h, head)
	}
	if err != nil {
		return made, err
	}
	made.copied, h.given = out.copied, out.skips
	if len(out.unstaged) > 0 {
		old, h.unsure = nil, true
	}
	all := []string{".", ":(exclude,top)" + userDir}
	for _, s := range out.skips {
		all = append(all, ":(exclude,top,literal)"+s.Path)
	}
	for _, p := range h.keep {
		// A rule keeps git from looking into it; what is tracked there nevertheless was added by force.
		if p = strings.TrimSuffix(p, "/"); old == nil || !old.tracks(p) {
			all = append(all, ":(exclude,top,literal)"+p)
		}
	}
	made.kept = h.kept
	var ok bool
	if made.now, made.ignored, ok = r.addChanged(ctx, index, old, h); !ok {
		made.now = nil
		before := old
		if before == nil {
			before = r.plain(ctx, index)
		}
		if made.Skipped, err = r.addEverything(ctx, index, h.how, all); err != nil {
			return made, err
		}
		if err := r.rereadAll(ctx, index, before, all, out.skips); err != nil {
			return made, err
		}
	}
	unseen, err := r.unseen(ctx, index, old)
	if err != nil {
		return made, err
	}
	made.Skipped = joinSkips(joinSkips(made.Skipped, unseen), out.skips)
	if len(h.force) > 0 {
		made.now = nil
		var paths []string
		for _, p := range h.force {
			paths = append(paths, ":(top,literal)"+p)
		}
		report, err := r.addOnce(ctx, index, paths, "-f")
		if err != nil {
			return made, err
		}
		made.Skipped = joinSkips(made.Skipped, report.skipped)
		if x, _, err := r.readParsed(ctx, index); err != nil {
			return made, err
		} else if x != nil { // that may have been all that there is in what is held out
			rules, g := session.SplitGuard(h.rules)
			h.held, h.before = nil, func() ([]session.Held, error) { return r.stillHeld(ctx, g, r.look(x, rules, g).held) }
		}
	}
	before, err := h.before()
	made.HeldOut, made.Ignored = append(h.held, before...), h.ignored
	slices.SortFunc(made.HeldOut, func(a, b session.Held) int { return strings.Compare(a.Path, b.Path) })
	return made, err
}

// addEverything adds what some pathspecs of the whole work tree say, and names what was passed over.
func (r *Repo) addEverything(ctx context.Context, index, how string, all []string) (skipped []session.Skip, err error) {
	for try := 1; ; try++ {
		if skipped, err = r.addRest(ctx, index, how, all); err != nil {
			return nil, err
		}
		notStored := slices.ContainsFunc(skipped, func(s session.Skip) bool { return s.Why == skipNotStored })
		if !notStored || try == maxTries {
			return skipped, nil // a full disk says so each time, git that collects garbage does not
		}
	}
}

// addRest runs `git add` with -A or -u, goes on where it gives up, and names what was passed over.
func (r *Repo) addRest(ctx context.Context, index, how string, paths []string) ([]session.Skip, error) {
	var skipped []session.Skip
	report, err := r.addOnce(ctx, index, paths, how)
	for round := 0; ; round++ {
		var failed *GitError
		if err != nil && (!errors.As(err, &failed) || report.fatal == nil) {
			return nil, err
		}
		if report.fatal == nil {
			return append(skipped, report.skipped...), nil
		}
		// Git gave up as a whole because of one path: leave that out and try again.
		known := slices.ContainsFunc(skipped, func(s session.Skip) bool { return s.Path == report.fatal.Path })
		if known || round == maxRounds {
			return nil, err
		}
		skipped = append(skipped, *report.fatal)
		paths = append(paths, ":(exclude,top,literal)"+report.fatal.Path)
		report, err = r.addOnce(ctx, index, paths, how)
	}
}

// maxSpecs is the size of pathspecs, in bytes, that are given as arguments. Systems allow some more.
const maxSpecs = 64 << 10

// addOnce runs one `git add`. Git has all of the pathspecs before it begins, and never has them from a pipe: one that is
// cut short by a kill lacks what is to be left out, and an empty one means everything.
func (r *Repo) addOnce(ctx context.Context, index string, pathspecs []string, how string, settings ...string) (addReport, error) {
	// safecrlf may forbid to add files whose line ends do not survive a round trip; that is advice for people.
	args := append(settings, "-c", "core.excludesFile="+r.excludesPath(), "-c", "core.splitIndex=false", "-c", "core.safecrlf=false",
		"add", how, "--ignore-errors", "--sparse")
	if all := strings.Join(pathspecs, "\x00"); len(all) > maxSpecs {
		file := index + ".specs"
		if err := durable.WriteCache(file, []byte(all), 0o600); err != nil {
			return addReport{}, err
		}
		defer os.Remove(file)
		args = append(args, "--pathspec-from-file="+file, "--pathspec-file-nul")
	} else {
		args = append(append(args, "--"), pathspecs...)
	}
	_, stderr, err := r.gitBoth(ctx, gitOpts{write: true, env: withIndex(index), okExit: []int{1}}, args...)
	report := readAddReport(stderr)
	report.skipped = slices.DeleteFunc(report.skipped, r.rulesOnly)
	if err == nil && report.fatal == nil && report.unknown != "" {
		err = &GitError{Args: []string{"add"}, Exit: 1, Stderr: report.unknown}
	}
	return report, err
}

// ungraft takes those gitlinks out of a private index that head does not have, and that nobody has made submodules of, names
// them, and submodules that have edits of their own, and returns the index as it was parsed, nil when that was not possible. x is that index where it was read
// already.
func (r *Repo) ungraft(ctx context.Context, path string, x *index, head session.Tree) (*index, []session.Skip, error) {
	var info indexInfo
	var err error
	if x != nil {
		info = x.info()
	} else {
		x, info, err = r.readParsed(ctx, path)
	}
	if err != nil || len(info.gitlinks) == 0 {
		return x, nil, err
	}
	skipped, err := r.dropGitlinks(ctx, path, info.gitlinks, head)
	if err == nil && len(skipped) > 0 {
		x, info, err = r.readParsed(ctx, path)
	}
	if err != nil {
		return x, skipped, err
	}
	edited, err := r.editedSubmodules(ctx, path, info.gitlinks)
	return x, append(skipped, edited...), err
}

func (r *Repo) dropGitlinks(ctx context.Context, index string, gitlinks []string, head session.Tree) ([]session.Skip, error) {
	old := map[string]bool{}
	if head != "" {
		args := append([]string{"--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", string(head), "--"}, gitlinks...)
		out, err := r.git(ctx, gitOpts{}, args...)
		if err != nil {
			return nil, err
		}
		for _, line := range strings.Split(string(out), "\x00") {
			if meta, name, ok := strings.Cut(line, "\t"); ok && strings.HasPrefix(meta, modeGitlink+" ") {
				old[name] = true
			}
		}
	}
	if slices.ContainsFunc(gitlinks, func(p string) bool { return !old[p] }) {
		made, err := r.stagedSubmodules(ctx, index)
		if err != nil {
			return nil, err
		}
		maps.Copy(old, made)
	}
	var skipped []session.Skip
	var drop bytes.Buffer
	for _, path := range gitlinks {
		if !old[path] {
			skipped = append(skipped, session.Skip{Path: path, Why: session.SkipNested})
			drop.WriteString(path + "\x00")
		}
	}
	if len(skipped) == 0 {
		return nil, nil
	}
	_, err := r.git(ctx, gitOpts{write: true, env: withIndex(index), stdin: drop.Bytes()},
		"-c", "core.splitIndex=false", "update-index", "--force-remove", "-z", "--stdin")
	return skipped, err
}
