package phases

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/installed"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// maxKnown bounds the file that says what is installed, in bytes.
const maxKnown = 128 << 20

// Packages knows what is installed beside the files that git has, so that nobody who works changes the ground that gates
// stand on without a word. What is there when a command begins is taken for the person's; after that only what passes, or
// what a person approves, is taken over.
//
// It is kept in a directory: "known", the state that is taken for good; "seen", one that was found bad, so that the
// same is not taken for a person's the next time; and a mark while somebody is at work.
type Packages struct {
	Dir string
	// Scan looks at what is installed now. What is untouched since last, which may be nil, need not be read. nil: nobody can tell.
	Scan func(ctx context.Context, last *installed.State) (*installed.State, error)
	Read func(path string) []byte

	begun  bool
	marked bool // somebody has been at work since the last judgement
	known  *installed.State
	last   *installed.State
}

func (p *Packages) load(name string) *installed.State {
	data, err := durable.ReadFile(filepath.Join(p.Dir, name), maxKnown)
	if err != nil {
		return nil
	}
	s, _ := installed.Decode(data)
	return s
}

// save keeps a state; nil removes it. That it cannot be kept is no matter: the next command then takes what is there.
func (p *Packages) save(name string, s *installed.State) {
	file := filepath.Join(p.Dir, name)
	if s == nil {
		_ = os.Remove(file)
		return
	}
	_ = durable.WriteCache(file, s.Encode(), 0o600)
	durable.Hit(durable.PackagesKept)
}

// Before is called before somebody is set to work on a tree.
func (p *Packages) Before(ctx context.Context, tree session.Tree) error {
	if p == nil {
		return nil
	}
	if !p.begun {
		if err := p.begin(ctx, tree); err != nil {
			return err
		}
	}
	if p.known != nil {
		p.marked = true
		_ = durable.WriteCache(filepath.Join(p.Dir, atWork), nil, 0o600)
	}
	return nil
}

func (p *Packages) begin(ctx context.Context, tree session.Tree) error {
	p.known = p.load("known")
	now, err := p.Scan(ctx, p.known)
	if err != nil || now == nil {
		p.known = nil
		return err
	}
	p.begun, p.last = true, now
	if err := durable.MkdirAll(p.Dir); err != nil {
		return err
	}
	if p.known == nil {
		p.take(now, tree)
		return nil
	}
	if _, err := os.Lstat(filepath.Join(p.Dir, atWork)); err == nil {
		return nil // somebody was at work when the last command died: what differs is theirs
	}
	seen := p.load("seen")
	if seen == nil {
		p.take(now, tree)
		return nil
	}
	good, bad := *now, 0
	good.Files = map[string]installed.File{}
	for f, v := range now.Files {
		good.Files[f] = v
	}
	for _, f := range p.known.Differ(now) {
		is, there := now.Files[f]
		if was, ok := seen.Files[f]; ok != there || there && !was.Same(is) {
			continue
		}
		bad++
		delete(good.Files, f)
		if was, ok := p.known.Files[f]; ok {
			good.Files[f] = was
		}
	}
	if bad == 0 {
		p.take(now, tree)
		return nil
	}
	good.Tree = p.known.Tree
	p.known = &good
	p.save("known", p.known)
	return nil
}

// take takes a state for good.
func (p *Packages) take(now *installed.State, tree session.Tree) {
	same := p.known != nil && p.known.Tree == string(tree) && len(p.known.Files) == len(now.Files)
	for f, v := range now.Files {
		if !same {
			break
		}
		was, ok := p.known.Files[f]
		same = ok && was.Untouched(v)
	}
	now.Tree = string(tree)
	p.known, p.last = now, now
	if !same {
		p.save("known", now)
	}
	p.save("seen", nil)
}

// approve takes what is there for good: a person has said yes to it.
func (p *Packages) approve(ctx context.Context, tree session.Tree) error {
	now, err := p.Scan(ctx, p.last)
	if err != nil || now == nil {
		return err
	}
	p.take(now, tree)
	p.begun = true
	p.rests()
	return nil
}

// look returns what was taken for good, and what is there. nil: nobody can tell.
func (p *Packages) look(ctx context.Context) (known, now *installed.State, err error) {
	if !p.begun {
		return nil, nil, nil
	}
	if now, err = p.Scan(ctx, p.last); err != nil || now == nil {
		return nil, nil, err
	}
	p.last = now
	return p.known, now, nil
}

// rests is called when all that was at work has ended, and has been looked at.
func (p *Packages) rests() {
	p.marked = false
	_ = os.Remove(filepath.Join(p.Dir, atWork))
}

// packages looks at what was installed since it was taken for good, enters it into a judgement, and reports whether that
// is held against the attempt. by says who may have done it, for the reason.
func (j *Judge) packages(ctx context.Context, out *session.Judgement, r session.JudgeRequest, by string) (bool, error) {
	p, policy := j.Packages, r.Plan.Workflow.PackagesIn(&r.Phase)
	if p == nil || policy == workflows.TamperOff {
		return false, nil
	}
	if r.Approved {
		return false, p.approve(ctx, r.Tree)
	}
	known, now, err := p.look(ctx)
	if err != nil || known == nil {
		return false, err
	}
	if !p.marked { // a person worked
		p.take(now, r.Tree)
		return false, nil
	}
	var grave []session.Tampering
	for _, f := range j.compareInstalled(ctx, known, now, r) {
		line := func(s string) string { return safetext.Line(j.Secrets.String(s), maxShown) }
		t := session.Tampering{Kind: f.Kind, Path: safetext.Line(f.Path, maxShown), Before: line(f.Before), After: line(f.After), Grave: f.Grave}
		if f.Grave {
			grave = append(grave, t)
		}
		if len(out.Tampered) < session.MaxNamed && !slices.Contains(out.Tampered, t) {
			out.Tampered = append(out.Tampered, t)
		}
	}
	if len(grave) == 0 || policy == workflows.TamperWarn {
		p.take(now, r.Tree)
		return false, nil
	}
	p.save("seen", now)
	out.Verdict, out.Class = session.Fail, session.ClassTampered
	out.Reason = fmt.Sprintf("%s changed what is installed: %s", by, tamperText(grave))
	return true, nil
}

// tamperText is the first finding in a few words, and how many there are.
func tamperText(list []session.Tampering) string {
	text := strings.ReplaceAll(list[0].Kind, "_", " ") + " in " + list[0].Path
	if n := len(list) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// maxSources bounds how many changed files are searched for packages that they use.
const maxSources = 500

func (j *Judge) compareInstalled(ctx context.Context, known, now *installed.State, r session.JudgeRequest) []installed.Finding {
	if len(known.Differ(now)) == 0 {
		return nil
	}
	req := installed.Request{Root: filepath.ToSlash(j.Root), Before: known, After: now, Read: j.Packages.Read, Declares: map[string]installed.Text{}, Changed: map[string]string{}, OnPath: j.onPath}
	declare := func(name string) {
		t := installed.Text{After: string(j.read(name))}
		t.Before = t.After
		if j.Show != nil && known.Tree != "" && known.Tree != string(r.Tree) {
			if data, err := j.Show(ctx, session.Tree(known.Tree), name); err == nil {
				t.Before = string(data)
			}
		}
		req.Declares[name] = t
	}
	for _, name := range now.Manifests {
		declare(name)
	}
	if known.Tree != "" {
		for _, c := range j.changesOf(ctx, session.Tree(known.Tree), r.Tree) {
			if installed.Patches(c.Path) {
				declare(c.Path)
			}
		}
	}
	for _, c := range r.Changed[:min(len(r.Changed), maxSources)] {
		switch path.Ext(c.Path) {
		case ".js", ".cjs", ".mjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".py":
			if c.Status != "D" {
				req.Changed[c.Path] = string(j.read(c.Path))
			}
		}
	}
	for _, g := range r.Plan.Baseline {
		req.Commands = append(req.Commands, g.Run.Text())
	}
	for _, p := range r.Plan.Workflow.Phases {
		for _, g := range p.Gates {
			if g.Runs() {
				req.Commands = append(req.Commands, g.Run.Text())
			}
		}
	}
	return installed.Compare(req)
}

// onPath reports whether gates find a command outside of the work tree.
func (j *Judge) onPath(name string) bool {
	for _, e := range j.Env {
		v, ok := strings.CutPrefix(e, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(v) {
			if rel, err := filepath.Rel(j.Root, dir); err == nil && filepath.IsLocal(rel) {
				continue
			}
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() && info.Mode()&fs.FileMode(0o111) != 0 {
				return true
			}
		}
	}
	return false
}

// packagesRest looks once more when gates have run: tests may write there as well.
func (j *Judge) packagesRest(ctx context.Context, out *session.Judgement, r session.JudgeRequest) error {
	if j.Packages == nil {
		return nil
	}
	if _, err := j.packages(ctx, out, r, "what gates ran"); err != nil {
		return err
	}
	j.Packages.rests()
	return nil
}
