package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
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
	root, hooks, err := readHooks(text)
	if err != nil {
		return nil, err
	}
	settings := root.Value.(*hujson.Object)
	ours := func(event, command string) bool {
		return isOurHook(command, event) && (remove || command != hookCommand(program, event))
	}
	if hooks != nil && deleteHooks(hooks, ours) {
		var empty bool
		settings.Members, empty = without(settings.Members, ofMember, func(m hujson.ObjectMember) bool { return m.Value.Value == hooks })
		if hooks = nil; empty && len(bytes.TrimSpace(settings.AfterExtra)) == 0 {
			settings.AfterExtra = nil // the white space is ours too
		}
	}
	if remove {
		return root.Pack(), nil
	}
	unit := "  "
	if len(settings.Members) > 0 {
		_, line, ok := bytes.Cut(settings.Members[0].Name.BeforeExtra, []byte("\n"))
		if ok && len(bytes.TrimLeft(line, " \t")) == 0 {
			unit = string(line)
		}
	}
	if hooks == nil {
		hooks = &hujson.Object{}
		addMember(settings, "hooks", hooks, unit, "")
	}
	for _, h := range hooked {
		if err := addHook(&root, hooks, h.event, h.match, hookCommand(program, h.event), unit); err != nil {
			return nil, err
		}
	}
	return root.Pack(), nil
}

// readHooks reads settings and finds the hooks in them; nil: there are none.
func readHooks(text []byte) (root hujson.Value, hooks *hujson.Object, err error) {
	root, err = hujson.Parse(bytes.Clone(text)) // the values share its memory
	if err != nil {
		return root, nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if root.Value.Kind() != '{' {
		return root, nil, errors.New("it is not an object")
	}
	hooks, err = listIn[*hujson.Object](&root, "hooks")
	return root, hooks, err
}

// listIn finds the list at a path of names, nil for none.
func listIn[T hujson.ValueTrimmed](in *hujson.Value, path ...string) (list T, err error) {
	found := in.Find("/" + strings.Join(path, "/"))
	if found == nil {
		return list, nil
	}
	list, ok := found.Value.(T)
	if !ok {
		err = fmt.Errorf("%s is not a hook list", strings.Join(path, "."))
	}
	return list, err
}

// addHook adds a hook to the list of its event, unless it is there.
func addHook(root *hujson.Value, hooks *hujson.Object, event, match, command, unit string) error {
	list, err := listIn[*hujson.Array](root, "hooks", event)
	if err != nil || slices.Contains(hookCommands(hooks), command) {
		return err
	}
	if list == nil {
		list = &hujson.Array{}
		addMember(hooks, event, list, unit+unit, unit)
	}
	var item bytes.Buffer
	enc := json.NewEncoder(&item)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(hookGroup{match, []hookEntry{{"command", command, hookSeconds}}}); err != nil {
		return err
	}
	group, err := hujson.Parse(bytes.TrimSpace(item.Bytes()))
	group.BeforeExtra = hujson.Extra("\n" + unit + unit + unit)
	if n := len(list.Elements); n > 0 {
		group.AfterExtra = list.Elements[n-1].AfterExtra[:0] // a comma behind it if one stood behind the last one
	} else if len(list.AfterExtra) == 0 {
		list.AfterExtra = hujson.Extra("\n" + unit + unit)
	}
	list.Elements = append(list.Elements, group)
	return err
}

// addMember puts a member on a line of its own behind those of an object.
func addMember(in *hujson.Object, name string, value hujson.ValueTrimmed, indent, outer string) {
	m := hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: hujson.Extra("\n" + indent), Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: value},
	}
	if n := len(in.Members); n > 0 {
		m.Value.AfterExtra = in.Members[n-1].Value.AfterExtra[:0]
	} else if len(in.AfterExtra) == 0 {
		in.AfterExtra = hujson.Extra("\n" + outer)
	}
	in.Members = append(in.Members, m)
}

// hookCommands are the commands by which hooks call wfs.
func hookCommands(hooks *hujson.Object) (list []string) {
	deleteHooks(hooks, func(event, command string) bool {
		if isOurHook(command, event) {
			list = append(list, command)
		}
		return false
	})
	return list
}

// deleteHooks deletes hooks, and lists that are empty then. It reports whether all of them are.
func deleteHooks(hooks *hujson.Object, del func(event, command string) bool) (empty bool) {
	hooks.Members, empty = without(hooks.Members, ofMember, func(m hujson.ObjectMember) (empty bool) {
		list, _ := m.Value.Value.(*hujson.Array)
		if list == nil {
			return false
		}
		list.Elements, empty = without(list.Elements, ofElement, func(group hujson.Value) (empty bool) {
			entries, _ := listIn[*hujson.Array](&group, "hooks")
			if entries == nil {
				return false
			}
			entries.Elements, empty = without(entries.Elements, ofElement, func(entry hujson.Value) bool {
				command, _ := listIn[hujson.Literal](&entry, "command")
				return del(m.Name.Value.(hujson.Literal).String(), command.String())
			})
			return empty
		})
		return empty
	})
	return empty
}

// without deletes, and reports whether that emptied the list. The new last one has a comma behind it if the old one had.
func without[T any](list []T, value func(*T) *hujson.Value, del func(T) bool) ([]T, bool) {
	if len(list) == 0 {
		return nil, false
	}
	comma := value(&list[len(list)-1]).AfterExtra != nil
	list = slices.DeleteFunc(list, del)
	if len(list) == 0 {
		return nil, true
	}
	switch last := value(&list[len(list)-1]); {
	case comma && last.AfterExtra == nil:
		last.AfterExtra = hujson.Extra{}
	case !comma && len(bytes.TrimSpace(last.AfterExtra)) == 0:
		last.AfterExtra = nil
	}
	return list, false
}

func ofMember(m *hujson.ObjectMember) *hujson.Value { return &m.Value }

func ofElement(e *hujson.Value) *hujson.Value { return e }
