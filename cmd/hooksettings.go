package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/internal/jsonc"
)

// maxSettings bounds the settings of an agent, in bytes.
const maxSettings = 4 << 20

// hookSeconds is how long the agent waits for a hook: a checkpoint of a large work tree takes its time.
const hookSeconds = 60

// hooked are the events that wfs is called for, as Claude Code names them. match is which tools.
var hooked = []struct{ event, match string }{
	{"SessionStart", ""},
	{"PreToolUse", "Bash"},
	{"PostToolUse", "*"},
	{"Stop", ""},
	{"SessionEnd", ""},
}

// hookGroup is one entry of an event's list.
type hookGroup struct {
	Matcher string      `json:"matcher,omitempty"`
	Hooks   []hookEntry `json:"hooks"`
}

type hookEntry struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

// hookCommand is what the agent's shell runs. Whatever becomes of it, the agent is told that all is well: exit code 2
// would keep it from its work.
func hookCommand(program, event string) string {
	return program + " hook run " + event + " || true"
}

func isOurHook(command, event string) bool {
	return strings.Contains(command, "wfs") && strings.Contains(command, " hook run "+event+" ")
}

// withHooks returns settings with our hooks in them, or with remove without any. All else stays as it is.
func withHooks(text []byte, program string, remove bool) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		if remove {
			return text, nil
		}
		text = []byte("{}\n")
	}
	text, err := withoutHooks(text, program, remove)
	if err != nil || remove {
		return text, err
	}
	for _, h := range hooked {
		if text, err = withHook(text, h.event, h.match, hookCommand(program, h.event)); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// at finds the value at a path of names, nil for none. What is there must be of that kind.
func at(text []byte, kind byte, names ...string) (root, found *jsonc.Value, err error) {
	v, err := jsonc.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	if v.Kind != '{' {
		return nil, nil, errors.New("it is not an object")
	}
	found = &v
	for i, name := range names {
		if found = found.Get(name); found == nil {
			return &v, nil, nil
		}
		want := byte('{')
		if i == len(names)-1 {
			want = kind
		}
		if found.Kind != want {
			return nil, nil, fmt.Errorf("%s is not a hook list", strings.Join(names[:i+1], "."))
		}
	}
	return &v, found, nil
}

func withHook(text []byte, event, match, command string) ([]byte, error) {
	unit := "  "
	root, hooks, err := at(text, '{', "hooks")
	if err != nil {
		return nil, err
	}
	if len(root.Members) > 0 {
		unit = jsonc.IndentOf(text, root.Members[0].Start, unit)
	}
	if hooks == nil {
		return withHook(jsonc.Add(text, root, `"hooks": {}`, unit, ""), event, match, command)
	}
	_, list, err := at(text, '[', "hooks", event)
	if err != nil {
		return nil, err
	}
	if list == nil {
		return withHook(jsonc.Add(text, hooks, `"`+event+`": []`, unit+unit, unit), event, match, command)
	}
	for _, group := range list.Elements {
		if inner := group.Get("hooks"); inner != nil {
			for _, entry := range inner.Elements {
				if c := entry.Get("command"); c != nil && c.Text() == command {
					return text, nil
				}
			}
		}
	}
	var item bytes.Buffer
	enc := json.NewEncoder(&item)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(hookGroup{match, []hookEntry{{"command", command, hookSeconds}}}); err != nil {
		return nil, err
	}
	return jsonc.Add(text, list, strings.TrimSpace(item.String()), unit+unit+unit, unit+unit), nil
}

// withoutHooks takes out what is ours: all of it, or only what calls another program than this one.
func withoutHooks(text []byte, program string, all bool) ([]byte, error) {
	for {
		next, err := withoutOne(text, program, all)
		if err != nil || next == nil {
			return text, err
		}
		text = next
	}
}

// withoutOne takes the first hook out that has to go, and what is empty then. nil: there is none.
func withoutOne(text []byte, program string, all bool) ([]byte, error) {
	root, hooks, err := at(text, '{', "hooks")
	if err != nil || hooks == nil {
		return nil, err
	}
	for m, member := range hooks.Members {
		for g, group := range member.Value.Elements {
			inner := group.Get("hooks")
			if inner == nil {
				continue
			}
			for n, entry := range inner.Elements {
				c := entry.Get("command")
				if c == nil || !isOurHook(c.Text(), member.Key) || !all && c.Text() == hookCommand(program, member.Key) {
					continue
				}
				switch {
				case len(inner.Elements) > 1:
					return jsonc.Remove(text, inner, n), nil
				case len(member.Value.Elements) > 1:
					return jsonc.Remove(text, &member.Value, g), nil
				case len(hooks.Members) > 1:
					return jsonc.Remove(text, hooks, m), nil
				}
				for i, r := range root.Members {
					if r.Value.Start == hooks.Start {
						return jsonc.Remove(text, root, i), nil
					}
				}
			}
		}
	}
	return nil, nil
}
