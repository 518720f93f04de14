package workflows

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/wfs-dev/wfs/workflows/checklist"
)

// Proposal has the settings that `wfs init` proposes for a project.
type Proposal struct {
	Workflow string         // default for `wfs new`
	Gates    []ProposedGate // without gates, a person approves the work
	Worktree Worktree
}

// ProposedGate is a gate that `wfs init` proposes after it has run it.
type ProposedGate struct {
	Gate
	Seen string // result of that run, for people: "42 passed"
}

// RenderConfig returns the text of a .wfs/config.yaml with comments, for a project. Cards.Read accepts this text.
func RenderConfig(p Proposal) []byte {
	var b strings.Builder
	perTest := ""
	if p.Workflow == "loop" {
		perTest = " tdd needs a gate that has per-test results (any format but exit-code)."
	}
	fmt.Fprintf(&b, `# How wfs judges this project. Yours to edit, and meant to be committed. What is yours alone goes into .wfs/local.yaml.
# A session keeps the settings that it was born with; changes here are for new sessions.
version: %d

# The workflow of `+"`wfs new`"+` when no other is named.%s
workflow: %s

# Who works in the phases is each person's own: .wfs/local.yaml, or ~/.config/wfs/config.yaml for all repositories.
# agent: claude

# Variables that agents and gates may see besides the usual ones (PATH, HOME, LANG, …). Names only.
# env: [OPENAI_API_KEY]

# Gates are commands that wfs runs itself. What they say decides, not what the agent says.
`, FormatVersion, perTest, yamlText(p.Workflow))
	if len(p.Gates) == 0 {
		b.WriteString("# None: you approve the work yourself.\n# gates:\n#   links: {run: make linkcheck}\n")
	} else {
		b.WriteString("gates:\n")
	}
	for _, g := range p.Gates {
		if g.Seen != "" {
			fmt.Fprintf(&b, "  # `wfs init` ran this one: %s\n", checklist.OneLine(g.Seen))
		}
		fmt.Fprintf(&b, "  %s:\n", g.Name)
		writeKeys(&b, "    ", objects().gate, reflect.ValueOf(g.Gate), "format", "timeout")
	}
	if w := p.Worktree; len(w.Copy)+len(w.Link) > 0 || !w.Setup.IsZero() {
		b.WriteString("\n# `wfs new --worktree` gives a session a work tree of its own. Git does not bring there what it ignores.\nworktree:\n")
		writeKeys(&b, "  ", objects().worktree, reflect.ValueOf(w))
	}
	return []byte(b.String())
}

// RenderLocal returns the text of a .wfs/local.yaml that sets the agent.
func RenderLocal(a Agent) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `# Your own settings for this clone. Git ignores this file; it goes before .wfs/config.yaml.
version: %d

# Who works in the phases. `+"`wfs new --agent` overrides it; `wfs agent check`"+` says how it would be started.
agent:
`, FormatVersion)
	writeKeys(&b, "  ", objects().agent, reflect.ValueOf(a), "idle", "timeout")
	return []byte(b.String())
}

// comments has the comments that are written above certain keys of a rendered file.
var comments = map[string]string{
	"allow": "# What it may run unattended, besides editing files and reading. Whatever else it wants to run is refused.",
	"paths": "# It runs when one of these changes, and when the work is complete.",
}

// writeKeys writes the keys of an object whose values are not the defaults. Keys in `always` are written even with
// their default values.
func writeKeys(b *strings.Builder, indent string, o *object, v reflect.Value, always ...string) {
	for i := range o.keys {
		k := &o.keys[i]
		written, must := k.written(v.Field(k.field)), slices.Contains(always, k.name)
		if must {
			written = cmp.Or(written, k.fallback)
		} else if written == k.fallback {
			continue
		}
		if written == "" {
			continue
		}
		if comment := comments[k.name]; comment != "" {
			fmt.Fprintf(b, "%s%s\n", indent, comment)
		}
		fmt.Fprintf(b, "%s%s: %s\n", indent, k.name, written)
	}
}

// written returns a value of key k as YAML on one line, "" for a zero value.
func (k *key) written(v reflect.Value) string {
	if v.IsZero() {
		return ""
	}
	switch x := v.Interface().(type) {
	case time.Duration:
		return shortDuration(x)
	case Command:
		if x.Shell != "" {
			return yamlText(x.Shell)
		}
		return yamlList(x.Argv)
	case []string:
		return yamlList(x)
	case bool:
		if k.value.kind == aWord {
			return k.value.words[1]
		}
	}
	if v.Kind() == reflect.String {
		return yamlText(v.String())
	}
	return fmt.Sprint(v)
}

// shortDuration returns a duration as text without needless zeros: 10m for 10m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

func yamlList(items []string) string {
	text, err := yaml.Marshal(struct {
		X []string `yaml:",flow"`
	}{items})
	if err != nil {
		panic(err) // cannot fail for a list of strings
	}
	return strings.TrimSpace(strings.TrimPrefix(string(text), "x: "))
}

// yamlText returns a string as YAML on one line.
func yamlText(s string) string {
	list := yamlList([]string{s})
	return list[1 : len(list)-1]
}
