package phases

import (
	"go/build/constraint"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/workflows"
)

// The systems and processors that the end of a Go file's name may stand for, from `go tool dist list`.
var (
	goSystems = []string{"aix", "android", "darwin", "dragonfly", "freebsd", "illumos", "ios", "js", "linux", "netbsd", "openbsd", "plan9",
		"solaris", "wasip1", "windows"}
	goProcessors = []string{"386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle", "ppc64", "ppc64le", "riscv64",
		"s390x", "wasm"}
)

// builtHere reports whether a Go file belongs to an ordinary build on this machine, with these tags.
func builtHere(file string, src []byte, tags []string) bool {
	is := func(tag string) bool {
		switch {
		case tag == runtime.GOOS, tag == runtime.GOARCH, tag == "gc", tag == "cgo", strings.HasPrefix(tag, "go1."), slices.Contains(tags, tag):
			return true
		case tag == "unix":
			return !slices.Contains([]string{"js", "plan9", "wasip1", "windows"}, runtime.GOOS)
		}
		return tag == "linux" && runtime.GOOS == "android" || tag == "darwin" && runtime.GOOS == "ios"
	}
	name := strings.TrimSuffix(strings.TrimSuffix(path.Base(file), ".go"), "_test")
	if parts := strings.Split(name, "_"); len(parts) > 1 {
		last, before := parts[len(parts)-1], parts[len(parts)-2]
		switch {
		case slices.Contains(goProcessors, last):
			if !is(last) || len(parts) > 2 && slices.Contains(goSystems, before) && !is(before) {
				return false
			}
		case slices.Contains(goSystems, last) && !is(last):
			return false
		}
	}
	for line := range strings.Lines(string(src)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "package ") {
			break
		}
		if !constraint.IsGoBuild(line) {
			continue
		}
		if x, err := constraint.Parse(line); err == nil && !x.Eval(is) {
			return false
		}
	}
	return true
}

// goTags are the build tags that a gate's command or its environment asks for.
func goTags(command workflows.Command, env []string) []string {
	words := strings.Fields(command.Text())
	for _, e := range env {
		if flags, ok := strings.CutPrefix(e, "GOFLAGS="); ok {
			words = append(words, strings.Fields(flags)...)
		}
	}
	var tags []string
	for i, w := range words {
		w = strings.Trim(w, `"'`)
		if w == "-race" {
			tags = append(tags, "race")
		}
		list := ""
		if _, after, ok := strings.Cut(w, "-tags="); ok {
			list = after
		} else if strings.HasSuffix(w, "-tags") && i+1 < len(words) {
			list = words[i+1]
		}
		tags = append(tags, strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(`,"'`, r) })...)
	}
	return tags
}
