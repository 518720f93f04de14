//go:build failpoints

package durable

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

var hits atomic.Int64

// Hit kills the process at once, as SIGKILL does, if the environment variable WFS_FAILPOINT is the name of the point.
// With "name#2", it kills the process at the second hit only.
//
// If WFS_FAILPOINT_DO is set, Hit runs that shell command instead of killing the process, at every hit, or with
// "name#2" at that hit only. If WFS_FAILPOINT_LOG is set, Hit appends the name of every point to that file.
func Hit(p Point) {
	if path := os.Getenv("WFS_FAILPOINT_LOG"); path != "" {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintln(f, p)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			panic(fmt.Sprintf("WFS_FAILPOINT_LOG: %v", err))
		}
	}
	name, count, counted := strings.Cut(os.Getenv("WFS_FAILPOINT"), "#")
	if name == "" {
		return
	}
	want := int64(1)
	if counted {
		var err error
		if want, err = strconv.ParseInt(count, 10, 64); err != nil {
			panic(fmt.Sprintf("WFS_FAILPOINT: %v", err))
		}
	}
	if !slices.Contains(Points, Point(name)) { // without this check, a test with a misspelt point would always pass
		panic(fmt.Sprintf("WFS_FAILPOINT: no point %q", name))
	}
	if Point(name) != p {
		return
	}
	n := hits.Add(1)
	if command := os.Getenv("WFS_FAILPOINT_DO"); command != "" {
		if !counted || n == want {
			shell(command)
		}
		return
	}
	if n != want {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // until the signal arrives
}

// shell runs a command, as if another process acted at this moment. The command's output becomes output of this
// process.
func shell(command string) {
	environ := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "WFS_FAILPOINT") })
	attr := &os.ProcAttr{Env: environ, Files: []*os.File{nil, os.Stdout, os.Stderr}}
	p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", command}, attr)
	if err == nil {
		_, err = p.Wait()
	}
	if err != nil {
		panic(fmt.Sprintf("WFS_FAILPOINT_DO: %v", err))
	}
}
