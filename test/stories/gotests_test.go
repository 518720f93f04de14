package stories

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// goMain is `go` in scripts. It replays the output of an earlier `go test -json` of the same module with the same
// files: gates run the same tests in clean checkouts again and again, with -count=1, and go would link them each
// time. So tests in scripts must read nothing but their module.
func goMain() int {
	args := os.Args[1:]
	writes := func(arg string) bool { return strings.HasPrefix(arg, "-cover") || arg == "-c" || arg == "-o" }
	root := ""
	if len(args) > 0 && args[0] == "test" && slices.Contains(args, "-json") && !slices.ContainsFunc(args, writes) {
		root = above("go.mod")
	}
	return replay("go", root)
}

// pythonMain is `python3` in scripts. It replays `python3 -m unittest` in the same way, if Python writes no files.
func pythonMain() int {
	root := ""
	if len(os.Args) > 2 && os.Args[1] == "-m" && os.Args[2] == "unittest" && os.Getenv("PYTHONDONTWRITEBYTECODE") != "" {
		root = above(".git")
	}
	return replay("python3", root)
}

// replay runs a program with the arguments of this process. If root is set, it is the directory with everything that
// the program reads, and the output of an earlier run with the same content is printed instead.
func replay(name, root string) int {
	own, err := os.Executable()
	if err != nil {
		return goFails(err)
	}
	program, err := onPathAfterThis(name)
	if err != nil {
		return goFails(err)
	}
	args := os.Args[1:]
	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if root == "" {
		return goExit(cmd.Run())
	}
	key, err := goKey(root, append([]string{name}, args...))
	if err != nil {
		return goExit(cmd.Run())
	}
	dir := filepath.Join(filepath.Dir(filepath.Dir(own)), "go-results")
	var r goResult
	if data, err := os.ReadFile(filepath.Join(dir, key)); err == nil && json.Unmarshal(data, &r) == nil {
		os.Stdout.WriteString(strings.ReplaceAll(r.Out, goRoot, root))
		os.Stderr.WriteString(strings.ReplaceAll(r.Err, goRoot, root))
		return r.Exit
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(os.Stdout, &out), io.MultiWriter(os.Stderr, &errs)
	exit := goExit(cmd.Run())
	if exit == 0 || exit == 1 {
		r = goResult{strings.ReplaceAll(out.String(), root, goRoot), strings.ReplaceAll(errs.String(), root, goRoot), exit}
		_ = r.keep(dir, key) // best effort: without the cache the next run only takes longer
	}
	return exit
}

// goRoot replaces the module's root in cached output.
const goRoot = "\x00root\x00"

type goResult struct {
	Out, Err string
	Exit     int
}

func (r goResult) keep(dir, key string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "new-")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, key))
}

// onPathAfterThis returns the path of the named program in the PATH, without the directory of this executable.
func onPathAfterThis(name string) (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	for _, d := range filepath.SplitList(os.Getenv("PATH")) {
		if path := filepath.Join(d, name); d != "" && d != filepath.Dir(own) {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return path, nil
			}
		}
	}
	return "", exec.ErrNotFound
}

// above returns the innermost directory around the working directory that has a file, "" when there is none.
func above(name string) string {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return ""
}

// goKey returns a hash of everything on which the tests below root may depend.
func goKey(root string, args []string) (string, error) {
	sum := sha256.New()
	dir, err := os.Getwd()
	fmt.Fprintf(sum, "%q %q\n", args, strings.TrimPrefix(dir, root))
	env := os.Environ()
	slices.Sort(env)
	for _, v := range env {
		ours := strings.HasPrefix(v, "GO") || strings.HasPrefix(v, "PYTHON")
		if ours && !strings.HasPrefix(v, "GOCACHE=") && !strings.HasPrefix(v, "GOTMPDIR=") {
			fmt.Fprintf(sum, "%q\n", v)
		}
	}
	walked := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := []byte(nil)
		switch {
		case info.Mode().IsRegular():
			text, err = os.ReadFile(path)
		case info.Mode()&fs.ModeSymlink != 0:
			var to string
			to, err = os.Readlink(path)
			text = []byte(to)
		}
		fmt.Fprintf(sum, "%q %v %q\n", strings.TrimPrefix(path, root), info.Mode(), text)
		return err
	})
	return fmt.Sprintf("%x", sum.Sum(nil)), errors.Join(err, walked)
}

func goExit(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1)
	}
	if err != nil {
		return goFails(err)
	}
	return 0
}

func goFails(err error) int {
	fmt.Fprintln(os.Stderr, "go:", err)
	return 127
}
