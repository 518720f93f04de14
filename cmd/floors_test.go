package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/wfs-dev/wfs"

// floors lists the packages of the module that each package may import. A new package must be added here on purpose.
var floors = map[string][]string{
	"workflows":                 {"internal/lazyregexp", "workflows/checklist", "workflows/measure", "workflows/spelling"},
	"workflows/checklist":       {"internal/lazyregexp"},
	"workflows/spelling":        {"internal/lazyregexp"},
	"workflows/measure":         {"internal/lazyregexp"},
	"workflows/plans":           {"workflows/measure", "workflows/spelling", "workflows"},
	"internal/agents":           {},
	"internal/durable":          {},
	"internal/experiment":       {"internal/source", "internal/lazyregexp"},
	"internal/faults":           {},
	"internal/holdout":          {"internal/durable"},
	"internal/lazyregexp":       {},
	"internal/proc":             {},
	"internal/redact":           {},
	"internal/safetext":         {},
	"internal/screen":           {},
	"internal/source":           {},
	"internal/statefile":        {},
	"internal/testpaths":        {"internal/lazyregexp"},
	"internal/testkit":          {"internal/faults"},
	"internal/vt":               {},
	"session":                   {"session/cost", "workflows", "internal/safetext"},
	"session/cost":              {"workflows"},
	"session/codec":             {"session", "session/cost"},
	"session/items":             {"session", "workflows"},
	"session/oplog":             {"session", "workflows"},
	"session/stats":             {"session", "session/cost"},
	"session/fold":              {"session", "session/cost", "session/items", "session/oplog", "workflows"},
	"engine/history":            {"session", "session/*", "workflows"},
	"engine/decide":             {"internal/safetext", "session", "session/*", "workflows"},
	"engine/hand":               {"internal/safetext", "session", "session/*", "workflows", "engine/history", "engine/decide"},
	"engine/checkpoint":         {"internal/safetext", "session", "session/*", "workflows", "workflows/measure", "engine/hand"},
	"engine/transition":         {"internal/safetext", "session", "session/*", "workflows", "engine/decide", "engine/history", "engine/hand", "engine/checkpoint"},
	"engine/judging":            {"internal/safetext", "session", "session/*", "workflows", "engine/hand", "engine/decide"},
	"engine/steering":           {"internal/safetext", "session", "session/*", "workflows", "workflows/plans", "engine/decide", "engine/hand", "engine/checkpoint"},
	"engine/finish":             {"internal/safetext", "session", "session/*", "workflows", "engine/decide", "engine/hand", "engine/checkpoint", "engine/transition", "engine/judging"},
	"engine":                    {"internal/safetext", "session", "session/*", "workflows", "engine/*"},
	"phases":                    {"session", "session/*", "workflows", "internal/*", "phases/brief", "phases/gate", "phases/process", "phases/diagram", "phases/report", "phases/trial", "phases/verdict", "workflows/*"},
	"phases/diagram":            {},
	"phases/agent":              {"session", "session/*", "workflows", "internal/*", "phases/brief", "phases/process", "phases/report"},
	"phases/brief":              {"session", "session/*", "workflows", "internal/*", "phases/process", "phases/report"},
	"phases/check":              {"session", "workflows", "internal/*", "phases/gate", "phases/process", "phases/report", "phases/trial", "phases/verdict"},
	"phases/gate":               {"session", "workflows/measure", "workflows", "internal/*", "phases/process", "phases/report"},
	"phases/process":            {"workflows", "internal/*"},
	"phases/trial":              {"session", "workflows", "internal/*", "phases/gate", "phases/process", "phases/report", "phases/verdict"},
	"phases/verdict":            {"session", "workflows", "internal/*", "phases/gate", "phases/report"},
	"phases/report":             {"session", "workflows", "internal/*"},
	"phases/detect":             {"workflows", "internal/lazyregexp"},
	"gitstate":                  {"session", "internal/*", "gitstate/*"},
	"gitstate/gitcmd":           {"session", "internal/*"},
	"gitstate/object":           {"session", "internal/*", "gitstate/gitcmd"},
	"gitstate/raw":              {"session", "internal/*", "gitstate/gitcmd", "gitstate/object"},
	"gitstate/refs":             {"session", "internal/*", "gitstate/gitcmd", "gitstate/object"},
	"gitstate/room":             {"session", "internal/*", "gitstate/gitcmd", "gitstate/object", "gitstate/refs", "gitstate/worktree"},
	"gitstate/settings":         {"session", "internal/*", "gitstate/gitcmd", "gitstate/object", "gitstate/refs"},
	"gitstate/snapshot":         {"session", "internal/*", "gitstate/gitcmd", "gitstate/object", "gitstate/refs", "gitstate/settings"},
	"gitstate/worktree":         {"session", "internal/*", "gitstate/gitcmd", "gitstate/object", "gitstate/refs"},
	"gitstate/backup":           {"session", "internal/*", "gitstate/gitcmd", "gitstate/object", "gitstate/refs", "gitstate/settings", "gitstate/snapshot", "gitstate/handover"},
	"gitstate/checkout":         {"session", "internal/*", "gitstate/gitcmd", "gitstate/object", "gitstate/raw"},
	"gitstate/handover":         {"session", "internal/*", "gitstate/gitcmd", "gitstate/object", "gitstate/refs", "gitstate/worktree"},
	"gitstate/turn":             {"session", "internal/*", "gitstate/gitcmd", "gitstate/object", "gitstate/refs", "gitstate/snapshot", "gitstate/worktree", "gitstate/checkout"},
	"gitstate/unsaved":          {"session", "internal/*", "gitstate/gitcmd", "gitstate/object", "gitstate/settings"},
	"registry":                  {"session", "internal/*"},
	"workspace/worktrees":       {"session", "workflows", "engine", "engine/*", "gitstate", "gitstate/*", "registry", "phases/agent", "workspace", "workspace/rooms", "internal/*"},
	"workspace/autosave":        {"session", "engine", "engine/*", "workflows", "workflows/checklist", "phases/brief", "workspace", "internal/*"},
	"workspace/onevent":         {"workflows", "phases/process", "workspace", "internal/*"},
	"workspace/rooms":           {"session", "workflows", "workflows/*", "gitstate/*", "phases/agent", "phases/gate", "phases/process", "workspace", "internal/*"},
	"workspace/system":          {"engine/decide"},
	"workspace":                 {"session", "workflows", "workflows/*", "engine", "engine/*", "gitstate", "gitstate/*", "registry", "phases/agent", "phases/detect", "phases/gate", "phases/process", "workspace/check", "workspace/system", "internal/*"},
	"workspace/rubbish":         {"session", "session/*", "gitstate", "gitstate/*", "registry", "workspace", "workspace/rooms", "workspace/check", "internal/*"},
	"workspace/check":           {"session", "engine", "engine/*", "gitstate", "gitstate/*", "registry", "internal/*"},
	"cmd":                       {"*"},
	"cmd/internal/mcpserver":    {"internal/proc", "internal/safetext"},
	"cmd/internal/present":      {"cmd/internal/present/ways", "session", "workflows/measure", "engine", "engine/*", "gitstate", "gitstate/*", "workflows", "internal/*"},
	"cmd/internal/board":        {"cmd/internal/present", "session", "internal/safetext"},
	"cmd/internal/present/ways": {"session"},
	"cmd/internal/present/live": {"cmd/internal/present", "session", "engine", "engine/*", "workflows", "internal/*"},
	"cmd/internal/sidebyside":   {"gitstate/object", "internal/safetext", "internal/source"},
	"cmd/internal/views":        {"cmd/internal/present", "session", "session/cost", "engine/decide"},
	"cmd/internal/report": {
		"cmd/internal/present", "cmd/internal/sidebyside", "cmd/internal/style", "cmd/internal/svg",
		"cmd/internal/views", "internal/safetext", "session", "session/*",
	},
	"cmd/internal/style": {},
	"cmd/internal/page": {
		"cmd/internal/board", "cmd/internal/report", "cmd/internal/present", "cmd/internal/sidebyside",
		"cmd/internal/svg", "cmd/internal/views", "cmd/internal/style", "session",
		"workflows", "internal/agents", "internal/safetext",
	},
	"cmd/internal/svg": {"engine/decide", "session", "workflows", "internal/safetext"},
	"cmd/wfs":          {"*"},
	"bench":            {"*"},
	// Includes their tests: they use only the binary.
	"test/agents":  {"internal/testkit"},
	"test/browser": {"internal/testkit"},
	"test/corpus":  {"internal/testkit"},
	"test/judge":   {"internal/testkit"},
	"test/model":   {"internal/testkit", "internal/faults"},
	"test/running": {"internal/testkit", "internal/safetext", "internal/vt"},
	"test/safety":  {"internal/testkit", "internal/faults", "internal/durable", "internal/proc"},
	"test/stories": {"internal/testkit", "internal/vt"},
}

// forTests are packages for tests only, which no program may import.
var forTests = []string{"internal/faults", "internal/testkit", "internal/vt"}

type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	Imports         []string
	TestImports     []string
	XTestImports    []string
}

func listPackages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports,TestImports,XTestImports", module+"/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestFloors(t *testing.T) {
	for _, p := range listPackages(t) {
		room := strings.TrimPrefix(p.ImportPath, module+"/")
		may, known := floors[room]
		if !known {
			t.Errorf("%s: a room that the table of floors does not know", room)
			continue
		}
		for _, whole := range []string{"session", "workflows"} { // and their subpackages
			if slices.Contains(may, whole) && !strings.HasPrefix(room, whole+"/") {
				may = append(may, whole+"/*")
			}
		}
		imports := p.Imports
		if strings.HasPrefix(room, "test/") {
			imports = slices.Concat(imports, p.TestImports, p.XTestImports)
		}
		for _, imp := range imports {
			inside, ok := strings.CutPrefix(imp, module+"/")
			if ok && !slices.ContainsFunc(may, func(m string) bool {
				return m == "*" || m == inside || strings.HasSuffix(m, "/*") && strings.HasPrefix(inside, strings.TrimSuffix(m, "*"))
			}) {
				t.Errorf("%s imports %s: no door there", room, inside)
			}
			if slices.Contains(forTests, inside) && !slices.Contains(forTests, room) && !strings.HasPrefix(room, "test/") {
				t.Errorf("%s imports %s, which is for tests alone", room, inside)
			}
			if imp == "os/exec" && room != "internal/proc" && room != "internal/testkit" && !strings.HasPrefix(room, "test/") {
				t.Errorf("%s imports os/exec: internal/proc is its only user", room)
			}
			if imp == "github.com/go-git/go-git/v5" {
				t.Errorf("%s imports go-git's porcelain, whose reset deletes ignored files: only its plumbing reads here", room)
			}
			if (room == "engine" || strings.HasPrefix(room, "engine/")) &&
				(imp == "os" || strings.HasPrefix(imp, "github.com/go-git") || imp == "syscall") {
				t.Errorf("%s imports %s: it decides, and touches nothing", room, imp)
			}
		}
	}
}

// netUsers are the packages that may use the network, and what for.
var netUsers = map[string]string{
	"cmd/internal/page": "listens on loopback",
}

// TestNoNetwork checks that wfs itself sends nothing: few packages know the network at all, and TestForbiddenCalls
// forbids them to open a connection. It does not cover agents, gates and git.
func TestNoNetwork(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, imp := range p.Imports {
			room := strings.TrimPrefix(p.ImportPath, module+"/")
			if (imp == "net" || strings.HasPrefix(imp, "net/http") ||
				imp == "net/smtp" || imp == "net/rpc" || imp == "crypto/tls") &&
				netUsers[room] == "" && !strings.HasPrefix(room, "test/") {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
		}
	}
}

// forbidden are calls that are allowed in the given places only, or nowhere. instead says what to do.
var forbidden = map[string]struct{ where, instead string }{
	"time.Now":              {"cmd/env.go internal/", "the clock enters in cmd/env.go"},
	"time.Since":            {"cmd/env.go internal/", "the clock enters in cmd/env.go"},
	"time.Until":            {"cmd/env.go internal/", "the clock enters in cmd/env.go"},
	"os.Getenv":             {"cmd/env.go internal/", "the environment enters in cmd/env.go"},
	"os.Environ":            {"cmd/env.go internal/", "the environment enters in cmd/env.go"},
	"os.Getwd":              {"cmd/env.go internal/", "the working directory enters in cmd/env.go"},
	"net.Dial":              {"", "wfs opens no connection"},
	"net.DialTimeout":       {"", "wfs opens no connection"},
	"net.Dialer":            {"", "wfs opens no connection"},
	"net.Listen":            {"", "cmd/internal/page listens, on loopback"},
	"net.ListenConfig":      {"cmd/internal/page/page.go", "cmd/internal/page listens, on loopback"},
	"http.ListenAndServe":   {"", "cmd/internal/page listens, on loopback"},
	"http.Client":           {"", "wfs opens no connection"},
	"http.DefaultClient":    {"", "wfs opens no connection"},
	"http.DefaultTransport": {"", "wfs opens no connection"},
	"http.Transport":        {"", "wfs opens no connection"},
	"http.Get":              {"", "wfs opens no connection"},
	"http.Post":             {"", "wfs opens no connection"},
	"http.NewRequest":       {"", "wfs opens no connection"},
	".SetReference":         {"", "go-git writes refs in place, without fsync: use git update-ref"},
	".CheckAndSetReference": {"", "go-git writes refs in place, without fsync: use git update-ref"},
	".SetIndex":             {"", "go-git truncates the index in place"},
	".SetEncodedObject":     {"", "objects are written by git"},
}

func TestForbiddenCalls(t *testing.T) {
	for _, p := range listPackages(t) {
		room := strings.TrimPrefix(p.ImportPath, module+"/")
		for _, name := range p.GoFiles {
			file := room + "/" + name
			fset := token.NewFileSet()
			tree, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			if room == "bench" { // it measures time
				continue
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				called := "." + sel.Sel.Name
				if id, ok := sel.X.(*ast.Ident); ok && forbidden[id.Name+called].instead != "" {
					called = id.Name + called
				}
				rule := forbidden[called]
				if rule.instead == "" {
					return true
				}
				for _, place := range strings.Fields(rule.where) {
					if strings.HasPrefix(file, place) {
						return true
					}
				}
				t.Errorf("%s: %s: %s", fset.Position(n.Pos()), called, rule.instead)
				return true
			})
		}
	}
}
