package cmd

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

// Commands that are printed for a person to type. One rule for the whole program: a command that acts on a
// session names it, and one that acts on the work tree where it is typed says which, if there are several. So
// it does the same wherever and whenever it is typed.

// takesSession are the verbs that can be given a session's name.
var takesSession = []string{
	"run", "watch", "stop", "finish", "checkpoint", "undo", "redo", "resume", "diff", "show", "log", "status",
	"export", "path", "budget", "approve", "reject", "abandon", "edit", "hook log", "note", "backups", "stats",
}

// takesFlag are verbs whose arguments are something else: sessionFlag names the session.
var takesFlag = []string{"allow"}

const sessionFlag = " --session "

// onlyThere are verbs that act on the work tree in which they are typed, and can be told of no other.
var onlyThere = []string{"hook install", "hook remove", "init", "switch", "undo --list"}

// ofWfs is one command of wfs within a suggestion: its verb, and the checkpoint or session right behind it.
var ofWfs = lazyregexp.New(`\bwfs ((?:hook [a-z]+|undo --list|[a-z]+)\b)( @?[a-z0-9][a-z0-9@-]*)?`)

// ofGit is a command of git that acts on a work tree.
var ofGit = lazyregexp.New(`\bgit (add|checkout|commit|merge|rebase|reset|restore|rm|stash|status|switch)\b`)

// forSession is a command to type, or a hint that has some in it, with the session named in each that acts on
// one. there reports whether some of it acts on the work tree where it is typed.
func forSession(command string, id session.ID) (named string, there bool) {
	if strings.HasSuffix(command, " --help") {
		return command, false
	}
	chunks := strings.Split(command, `"`) // every second one is quoted, and no command
	for i := 0; i < len(chunks); i += 2 {
		there = there || ofGit.MatchString(chunks[i])
		chunks[i] = ofWfs.ReplaceAllStringFunc(chunks[i], func(found string) string {
			m := ofWfs.FindStringSubmatch(found)
			verb, next := m[1], strings.TrimSpace(m[2])
			flag := slices.Contains(takesFlag, verb)
			switch {
			case !flag && !slices.Contains(takesSession, verb) || id == "":
				there = there || slices.Contains(onlyThere, verb)
				return found
			case flag && strings.Contains(command, sessionFlag):
				return found
			case flag:
				return "wfs " + verb + sessionFlag + string(id) + m[2]
			case next == "":
				return "wfs " + verb + " " + string(id)
			case strings.HasPrefix(next, "@"):
				return "wfs " + verb + " " + string(id) + next
			case next == "auto" || strings.Trim(next, "0123456789") == "": // a checkpoint of it
				return "wfs " + verb + " " + string(id) + "@" + next
			}
			return found // a session is named
		})
	}
	return strings.Join(chunks, `"`), there && !strings.HasPrefix(command, "cd ")
}

// inPlace is a command as it has to be typed outside of the work tree that it acts on.
func inPlace(command, root string) string {
	place := "cd " + shellWord(root) + " && " + command
	if strings.ContainsAny(unquoted(command), ",;(") { // it goes on in words
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

// typed is a command to type for the session that this command line is about.
func (a *app) typed(command string) string {
	if a.About == "" && ofWfs.MatchString(command) { // what was typed was refused before anybody looked for a session
		if ctx := context.Background(); a.Open(ctx) == nil {
			a.About, _ = a.Current(ctx)
		}
	}
	return a.typedFor(command, a.About, "")
}

// typedFor is a command to type for a session, in the work tree at root, "" for the one that this command acts in.
func (a *app) typedFor(command string, id session.ID, root string) string {
	named, there := forSession(command, id)
	if !there || a.Repo == nil {
		return named
	}
	if root == "" {
		root = a.Repo.Root()
	}
	if linked, err := a.Repo.Linked(context.Background()); root == a.Repo.Root() && a.Away == "" && err == nil &&
		len(linked) == 0 {
		return named
	}
	return inPlace(named, root)
}

// fromMain is a command that cannot be typed in a linked work tree which it removes.
func (a *app) fromMain(ctx context.Context, command string) string {
	trees, err := a.Repo.Worktrees(ctx)
	if err != nil || len(trees) == 0 || trees[0].ID == a.Repo.Worktree() {
		return command
	}
	return inPlace(command, trees[0].Path)
}

// newCommand starts a session here: wfs init where no test command is configured; with an agent where none is.
func (a *app) newCommand(ctx context.Context) string {
	command := `wfs start "what you want to build"`
	settings, err := a.OwnSettings(ctx)
	if err != nil {
		return command
	}
	if a.Repo != nil && len(settings.Config.Gates) == 0 {
		if _, err := os.Lstat(filepath.Join(a.Repo.Root(), filepath.FromSlash(workspace.ConfigPath))); err != nil {
			return "wfs init"
		}
	}
	if agent, err := a.Agent(settings); err != nil || agent != nil {
		return command
	}
	return command + " --agent " + a.someAgent()
}

// someAgent is an agent to suggest: one that is installed here, else a command of people's own.
func (a *app) someAgent() string {
	cards, err := a.Cards(nil)
	if err != nil {
		return ownAgent
	}
	if names := a.InstalledAgents(cards); len(names) > 0 {
		return names[0]
	}
	return ownAgent
}

// ownAgent stands for any command that edits files.
const ownAgent = "'COMMAND'"

// again is this command as it was typed, with more flags.
func (a *app) again(more ...string) string {
	words := []string{"wfs"}
	for _, arg := range append(slices.Clone(a.env.Args), more...) {
		if rest := strings.TrimLeft(arg, "-"); rest == "" || shellWord(rest) != rest {
			arg = shellWord(arg)
		}
		words = append(words, arg)
	}
	return a.typed(strings.Join(words, " "))
}
