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

// maxSettings is how many bytes of an agent's settings wfs reads at most.
const maxSettings = 4 << 20

// hookSeconds is how long the agent waits for a hook to end. It is long, because a checkpoint of a large work tree
// takes time.
const hookSeconds = 60

// hooked are the events, by Claude Code's names, for which the agent calls wfs. `match` selects tools.
var hooked = []struct{ event, match string }{
	{"SessionStart", ""},
	{"PreToolUse", "Bash"},
	{"PostToolUse", "*"},
	{"Stop", ""},
	{"SessionEnd", ""},
}

// hookGroup is one entry in the settings' list of hooks for an event.
type hookGroup struct {
	Matcher string      `json:"matcher,omitempty"`
	Hooks   []hookEntry `json:"hooks"`
}

type hookEntry struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

// hookCommand returns the command that the agent runs in a shell for an event. The command always exits with 0, because
// exit code 2 would block the agent.
func hookCommand(program, event string) string {
	return program + " hook run " + event + " || true"
}

func isOurHook(command, event string) bool {
	return strings.Contains(command, "wfs") && strings.Contains(command, " hook run "+event+" ")
}

// withHooks returns the settings with the hooks of wfs or, if `remove` is set, without them. It changes nothing else in
// the settings.
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
	var patch []string // operations as in RFC 6902
	add := func(path string, value any) {
		text, _ := json.MarshalIndent(value, "  ", "  ") // strings and a number always marshal
		patch = append(patch, fmt.Sprintf(`{"op": "add", "path": %q, "value": %s}`, path, text))
	}
	all := map[string][]hookGroup{}
	for _, h := range hooked {
		at, command := "/hooks/"+h.event, hookCommand(program, h.event)
		all[h.event] = []hookGroup{{h.match, []hookEntry{{"command", command, hookSeconds}}}}
		there := false
		gone, emptied := staleHooks(h.event, hooks[h.event], func(found string) bool {
			there = there || found == command && !remove
			return remove || found != command
		})
		if emptied {
			gone = []string{at}
			delete(hooks, h.event)
		}
		for _, path := range gone {
			patch = append(patch, fmt.Sprintf(`{"op": "remove", "path": %q}`, path))
		}
		switch {
		case remove || there || hooks == nil:
		case hooks[h.event] == nil:
			add(at, all[h.event])
		default:
			add(at+"/-", all[h.event][0])
		}
	}
	switch {
	case remove && hooks != nil && len(hooks) == 0:
		patch = []string{`{"op": "remove", "path": "/hooks"}`}
	case !remove && hooks == nil:
		add("/hooks", all)
	}
	if err := root.Patch([]byte("[" + strings.Join(patch, ",") + "]")); err != nil {
		return nil, err
	}
	if in := root.Value.(*hujson.Object); !remove && hooks == nil {
		in.Members[len(in.Members)-1].Name.BeforeExtra = hujson.Extra("\n  ")
		if len(in.AfterExtra) == 0 {
			in.AfterExtra = hujson.Extra("\n")
		}
	}
	return root.Pack(), nil
}

// staleHooks finds those hooks of wfs for an event that are `stale`. It returns their JSON paths, the last one first,
// so that removing one does not shift the others. `emptied` reports whether the event has no hooks left without them.
func staleHooks(event string, groups []hookGroup, stale func(command string) bool) (gone []string, emptied bool) {
	left := len(groups)
	for i, group := range slices.Backward(groups) {
		at, n := fmt.Sprintf("/hooks/%s/%d", event, i), 0
		for j, entry := range slices.Backward(group.Hooks) {
			if isOurHook(entry.Command, event) && stale(entry.Command) {
				gone, n = append(gone, fmt.Sprintf("%s/hooks/%d", at, j)), n+1
			}
		}
		if n > 0 && n == len(group.Hooks) {
			gone, left = append(gone, at), left-1
		}
	}
	return gone, left == 0 && len(groups) > 0
}

// readHooks parses settings. It returns the hooks in them by event, or nil if there are none.
func readHooks(text []byte) (root hujson.Value, hooks map[string][]hookGroup, err error) {
	if root, err = hujson.Parse(bytes.Clone(text)); err != nil { // a clone, because the result shares the memory
		return root, nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	plain := root.Clone()
	plain.Standardize()
	var settings struct {
		Hooks map[string][]hookGroup `json:"hooks"`
	}
	if err := json.Unmarshal(plain.Pack(), &settings); err != nil {
		return root, nil, fmt.Errorf("hooks is not a hook list: %w", err)
	}
	return root, settings.Hooks, nil
}

// hookCommands returns the commands of those hooks that call wfs.
func hookCommands(hooks map[string][]hookGroup) (list []string) {
	for _, h := range hooked {
		staleHooks(h.event, hooks[h.event], func(command string) bool {
			list = append(list, command)
			return false
		})
	}
	return list
}
