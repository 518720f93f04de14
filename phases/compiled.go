package phases

import (
	"context"
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

// byCompiled says whether a gate that passes in place, and in no clean tree, does so only because of what Python has
// compiled there: that answers for a source of the same size and time, whatever the source says now. The gate runs in place
// once more where Python finds nothing compiled. It returns the compiled files, nil when they are not the reason.
func (j *Judge) byCompiled(ctx context.Context, g workflows.Gate, r session.JudgeRequest) ([]string, error) {
	files := j.compiled()
	if len(files) == 0 {
		return nil, nil
	}
	j.say("gate " + g.Name + " without what Python has compiled …")
	empty, err := os.MkdirTemp(r.RunDir, "compiled-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(empty) }()
	here := *j
	here.Env = append(append([]string(nil), j.Env...), "PYTHONPYCACHEPREFIX="+empty)
	here.Results = nil
	g.Where = workflows.InPlace
	res, run, err := here.judgeGate(ctx, g, r, here.lapFiles(ctx, r))
	if err != nil || res.Verdict == session.Pass || couldNot(run, res) != "" {
		return nil, err
	}
	return files, nil
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
