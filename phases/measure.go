package phases

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// measure runs a gate, or takes what it said before about the same tree in the same surroundings. key is where a result is
// to be kept once it is known to be stable, "" for one that is not kept.
func (j *Judge) measure(ctx context.Context, g workflows.Gate, runDir string) (run *gateRun, key string, err error) {
	at := j
	if g.Where == workflows.Clean && j.clean == nil {
		if run, at, err = j.enterClean(ctx, g); run != nil || err != nil {
			return run, "", err
		}
	}
	if key, err = at.resultKey(ctx, g); err != nil {
		return nil, "", err
	}
	if k := j.Results.get(key); k != nil {
		log := "gate-" + fileName(g.Name) + ".log"
		if err := durable.WriteCache(filepath.Join(runDir, log), []byte(k.text()), 0o600); err != nil {
			return nil, "", err
		}
		return k.run(g, log), "", nil
	}
	run, err = at.runGate(ctx, g, runDir, false)
	return run, key, err
}

// resultKey is made of all that a gate's result depends on, as far as it can be known: the tree; what the gate is; where it
// runs; the environment; the programs that its command names, and what says which version of them is meant; and what lies
// beside the tree, which in a clean tree is the dependencies alone. "" when one of these cannot be known, or when the gate
// is there to change something. What it does not hold, and what docs/workflows.md says so of: the network, services, the
// clock, packages of the system.
func (j *Judge) resultKey(ctx context.Context, g workflows.Gate) (string, error) {
	if j.Results == nil || j.judged == "" || g.MayChangeTree {
		return "", nil
	}
	beside := ""
	switch {
	case j.clean != nil:
		beside = j.clean.Digest
	case j.Beside != nil:
		var err error
		if beside, err = j.Beside(ctx); err != nil {
			return "", err
		}
	}
	if beside == "" {
		return "", nil
	}
	h := sha256.New()
	add := func(what string, v any) {
		data, _ := json.Marshal(v) // texts and numbers only
		fmt.Fprintf(h, "%s %s\n", what, data)
	}
	if g.Expect == workflows.ExpectRed {
		g.Stable = 0 // RED does not run it as often
	}
	g.Expect, g.Use, g.Timeout = "", "", 0
	add("wfs", []any{resultsVersion, runtime.GOOS, runtime.GOARCH})
	add("tree", j.judged)
	add("gate", g)
	add("root", j.Root)
	add("env", slices.DeleteFunc(slices.Clone(j.Env), func(e string) bool {
		return strings.HasPrefix(e, "XDG_SESSION_") || strings.HasPrefix(e, "XDG_VTNR=") || strings.HasPrefix(e, "XDG_SEAT")
	}))
	add("programs", j.programs(g))
	add("beside", beside)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// versions are files below the home directory that say which version of a program a word means.
var versions = []string{".pyenv/version", ".tool-versions", ".rustup/settings.toml", ".nvm/alias/default", ".rbenv/version", ".sdkmanrc"}

// programs are the files behind the words of a gate's command that name programs, as they are now.
func (j *Judge) programs(g workflows.Gate) []string {
	words := g.Run.Argv
	if g.Run.Shell != "" {
		words = append([]string{"sh"}, strings.FieldsFunc(g.Run.Shell, func(r rune) bool { return strings.ContainsRune(" \t\n;|&(){}<>\"'`$=", r) })...)
	}
	path, home := "", ""
	for _, e := range j.Env {
		if v, ok := strings.CutPrefix(e, "PATH="); ok {
			path = v
		} else if v, ok := strings.CutPrefix(e, "HOME="); ok {
			home = v
		}
	}
	var list []string
	note := func(file string) bool {
		real, err := filepath.EvalSymlinks(file)
		if err != nil {
			return false
		}
		info, err := os.Stat(real)
		if err != nil || info.IsDir() {
			return false
		}
		s := stampFor(info)
		list = append(list, fmt.Sprint(real, " ", s.size, " ", s.written.UnixNano(), " ", s.file))
		return true
	}
	for _, w := range words {
		if strings.ContainsRune(w, '/') {
			if filepath.IsAbs(w) {
				note(w)
			}
			continue // what is relative is in the tree, or beside it
		}
		for _, dir := range filepath.SplitList(path) {
			file := filepath.Join(dir, w)
			if info, err := os.Stat(file); w != "" && err == nil && !info.IsDir() && info.Mode()&fs.FileMode(0o111) != 0 && note(file) {
				break
			}
		}
	}
	for _, v := range versions {
		if home != "" {
			note(filepath.Join(home, filepath.FromSlash(v)))
		}
	}
	return list
}

// keep keeps a run that was complete, whose tests did the same twice where they ran twice, and that left the tree as it was.
func (j *Judge) keep(key string, run *gateRun, f finding) {
	if len(f.flaky) == 0 && f.verdict != session.Blocked && f.class != session.ClassTimeout && !run.report.timedOut && run.leads == nil {
		j.Results.put(key, run, j.Secrets)
	}
}
