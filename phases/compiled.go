package phases

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Bounds of the look for compiled files.
const (
	maxCompiledSeen  = 100_000 // entries of directories
	maxCompiledNamed = 50
)

// inPlaceAgain runs a gate that is said to pass in the work tree, and passes in no clean tree, once more in the work tree:
// where Python finds nothing compiled, which answers for a source of the same size and time, whatever the source says
// now. It returns why the tree is not what it was judged to be, "" when the gate passes or nothing can be said.
func (j *Judge) inPlaceAgain(ctx context.Context, g workflows.Gate, r session.JudgeRequest, files *lapFiles) (string, error) {
	if now, err := j.Dirty(ctx); err != nil || now != r.Tree { // what lies here is something else
		return "", err
	}
	g.Where = workflows.InPlace
	j.say("gate " + g.Name + " in the work tree once more, without what Python has compiled …")
	empty, err := os.MkdirTemp(r.RunDir, "compiled-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(empty) }()
	here := *j
	here.Env = append(append([]string(nil), j.Env...), "PYTHONPYCACHEPREFIX="+empty)
	res, run, err := here.judgeGate(ctx, g, r, files)
	if err != nil || res.Verdict == session.Pass || couldNot(run, res) != "" {
		return "", err
	}
	if files := j.compiled(); len(files) > 0 {
		return fmt.Sprintf("gate %s passes only by what Python has compiled of other code, which must be removed: %s", g.Name, some(files)), nil
	}
	return fmt.Sprintf("gate %s passed in the work tree, and does not when it runs again: %s", g.Name, res.Reason), nil
}

// compiled lists what Python has compiled of the project's own sources, as far as that is seen.
func (j *Judge) compiled() []string {
	var files []string
	seen := 0
	_ = filepath.WalkDir(j.Root, func(path string, d fs.DirEntry, err error) error {
		seen++
		switch name := d.Name(); {
		case err != nil: // it cannot be read
		case seen > maxCompiledSeen || len(files) == maxCompiledNamed:
			return fs.SkipAll
		case d.IsDir() && (name == ".git" || name == "node_modules" || name == "site-packages"):
			return fs.SkipDir
		case d.Type().IsRegular() && strings.HasSuffix(name, ".pyc"):
			if rel, err := filepath.Rel(j.Root, path); err == nil {
				files = append(files, filepath.ToSlash(rel))
			}
		}
		return nil
	})
	return files
}
