package cmd

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// Commands that are suggested, as they have to be typed from where the person is.

// takesSession are the verbs that can be given a session's name, and what stands before that.
var takesSession = map[string]string{
	"run": " ", "attach": " ", "watch": " ", "stop": " ", "finish": " ", "checkpoint": " ", "undo": " ", "redo": " ", "resume": " ",
	"diff": " ", "show": " ", "log": " ", "status": " ", "events": " ", "export": " ", "path": " ", "budget": " ", "budget set": " ",
	"approve": " ", "reject": " ", "abandon": " ", "edit": " ", "repin": " ", "hook log": " ", "allow": " --session ",
}

// onlyThere are verbs that act on the work tree in which they are typed, and can be told of no other.
var onlyThere = []string{"hook", "init", "new", "note", "op log", "phase", "switch", "trust"}

// ofWfs is one command of wfs within a suggestion: its verb, and the checkpoint or session right behind it.
var ofWfs = regexp.MustCompile(`\bwfs ((?:budget set|hook log|op log|[a-z]+)\b)( [a-z0-9][a-z0-9@-]*)?`)

// forSession is a command to type, or a hint that has some in it, as it has to be typed outside of the session's work tree.
func forSession(command string, id session.ID) string {
	there := strings.HasPrefix(command, "git ")
	chunks := strings.Split(command, `"`) // every second one is quoted, and no command
	for i := 0; i < len(chunks); i += 2 {
		chunks[i] = ofWfs.ReplaceAllStringFunc(chunks[i], func(found string) string {
			m := ofWfs.FindStringSubmatch(found)
			verb, next := m[1], strings.TrimSpace(m[2])
			before, takes := takesSession[verb]
			switch {
			case !takes:
				there = there || slices.Contains(onlyThere, verb)
				return found
			case next == "":
				return "wfs " + verb + before + string(id)
			case next == "auto" || strings.Trim(next, "0123456789") == "": // a checkpoint of it
				return "wfs " + verb + " " + string(id) + "@" + next
			}
			return found // a session is named
		})
	}
	place := `cd "$(wfs path ` + string(id) + `)" && ` + command
	switch {
	case !there:
		return strings.Join(chunks, `"`)
	case strings.ContainsAny(unquoted(command), ",;("): // it goes on in words
		return place
	}
	return "(" + place + ")"
}

// unquoted is a text without what stands in double quotes.
func unquoted(text string) string {
	var b strings.Builder
	for i, chunk := range strings.Split(text, `"`) {
		if i%2 == 0 {
			b.WriteString(chunk)
		}
	}
	return b.String()
}

// typed is a command to type for a session, from where this command was typed.
func (a *app) typed(command string) string {
	if a.away == "" {
		return command
	}
	return forSession(command, a.away)
}

// newCommand is how a session is begun here: with an agent where the configuration names none.
func (a *app) newCommand(ctx context.Context) string {
	command := `wfs new "what you want to build"`
	settings, err := a.ownSettings(ctx)
	if err != nil {
		return command
	}
	if agent, err := a.agent(settings); err != nil || agent != nil {
		return command
	}
	return command + " --agent " + a.someAgent()
}

// someAgent is an agent to suggest: one that is installed here, else claude.
func (a *app) someAgent() string {
	if cards, err := a.cards(nil); err == nil {
		if names := a.installedAgents(cards); len(names) > 0 {
			return names[0]
		}
	}
	return "claude"
}
