package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/room"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/session"
)

// project is a project whose gate is timed in place and in a clean tree.
type project struct {
	name, edited string
	gate         []string
	files        map[string]string
}

// projects returns a Go project of 60 packages with a test each, and a Node project with a workspace and `installed`
// installed files.
func projects(installed int) []project {
	golang := project{name: "go", edited: "p00/p.go", gate: []string{"go", "test", "./..."}, files: map[string]string{"go.mod": "module example.com/bench\n\ngo 1.21\n"}}
	for i := range 60 {
		golang.files[fmt.Sprintf("p%02d/p.go", i)] = fmt.Sprintf("package p%02d\n\nfunc Two() int { return 2 }\n", i)
		golang.files[fmt.Sprintf("p%02d/p_test.go", i)] = fmt.Sprintf("package p%02d\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) {\n\tif Two() != 2 {\n\t\tt.Fatal()\n\t}\n}\n", i)
	}
	node := project{name: "node", edited: "app/t00.test.js", gate: []string{"node", "--test", "app"}, files: map[string]string{
		".gitignore": "node_modules/\n", "package.json": "{\"private\": true}\n"}}
	for i := range 20 {
		node.files[fmt.Sprintf("app/t%02d.test.js", i)] = "require('node:test')('two', () => require('assert').equal(require('m000/f0'), 1))\n"
	}
	for i := range installed {
		node.files[fmt.Sprintf("node_modules/m%03d/f%d.js", i/50, i)] = "module.exports = 1\n"
	}
	return []project{golang, node}
}

// clean times gates in place, in a new clean tree, and in a clean tree that is reused after one file was edited.
func (b *bench) clean(installed, rounds int) error {
	for _, p := range projects(installed) {
		if _, err := proc.LookPath(p.gate[0], os.Getenv("PATH")); err != nil {
			fmt.Printf("%-6s %s is not here\n", p.name, p.gate[0])
			continue
		}
		repo := filepath.Join(b.dir, "clean-"+p.name)
		for name, text := range p.files {
			if err := b.write(repo, name, text); err != nil {
				return err
			}
		}
		for _, args := range [][]string{{"git", "init", "-q"}, {"git", "add", "-A"}, {"git", "commit", "-q", "-m", "start"}} {
			if err := b.run(repo, args...); err != nil {
				return err
			}
		}
		if err := b.cleanOne(p, repo, rounds); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

func (b *bench) cleanOne(p project, repo string, rounds int) error {
	ctx := context.Background()
	r, err := gitstate.Open(ctx, gitcmd.Options{Dir: repo, Env: b.env, Write: true})
	if err != nil {
		return err
	}
	dir := filepath.Join(b.dir, "trees", p.name)
	var inPlace, cold, again, alone []float64 // milliseconds
	timed := func(into *[]float64, do func() error) error {
		begin := time.Now()
		err := do()
		*into = append(*into, float64(time.Since(begin))/1e6)
		return err
	}
	tree := func() (session.Tree, error) {
		b.edit++
		if err := b.write(repo, p.edited, p.files[p.edited]+fmt.Sprintf("// %d\n", b.edit)); err != nil {
			return "", err
		}
		s, err := r.Snapshot(ctx, "")
		return s.Tree, err
	}
	fill := func(t session.Tree) func() error {
		return func() error {
			packages, err := r.Rooms.PackagesDigest(ctx, t)
			if err != nil {
				return err
			}
			_, err = r.Rooms.Make(ctx, room.Request{Dir: dir, Name: "bench", Tree: t, Judged: t, Packages: packages,
				Env: b.env})
			return err
		}
	}
	for n := range rounds + 1 {
		t, err := tree()
		if err != nil {
			return err
		}
		if err := errors.Join(r.Rooms.Forget("bench"), timed(&cold, func() error { return errors.Join(fill(t)(), b.run(dir, p.gate...)) })); err != nil {
			return err
		}
		if t, err = tree(); err != nil {
			return err
		}
		first := func() error { return timed(&inPlace, func() error { return b.run(repo, p.gate...) }) }
		second := func() error {
			return errors.Join(timed(&alone, fill(t)), timed(&again, func() error { return b.run(dir, p.gate...) }))
		}
		if n%2 == 1 {
			first, second = second, first
		}
		if err := errors.Join(first(), second()); err != nil {
			return err
		}
		again[n] += alone[n]
		if n == 0 { // the first round only warms the caches
			inPlace, cold, again, alone = []float64{0}, []float64{0}, []float64{0}, []float64{0}
		}
	}
	in, made, used, only := median(inPlace[1:]), median(cold[1:]), median(again[1:]), median(alone[1:])
	_, err = fmt.Printf("%-6s in place %.0f ms; clean: new %.2f, used again %.2f of that (of which making the tree %.0f ms)\n", p.name, in, made/in, used/in, only)
	return err
}
