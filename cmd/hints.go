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

// Commands that wfs suggests have to do the same wherever and whenever the user types them. So a command that acts on a
// session names the session. A command that acts on the work tree in which it is typed gets a "cd" in front of it if
// there are several work trees.

// takesSession are the verbs that accept the name of a session.
var takesSession = []string{
	"run", "watch", "stop", "finish", "checkpoint", "undo", "redo", "resume", "diff", "show", "log", "status",
	"export", "path", "budget", "approve", "reject", "abandon", "edit", "hook log", "note", "backups", "stats",
}

// takesFlag are verbs whose arguments are not sessions. They take the session's name by sessionFlag instead.
var takesFlag = []string{"allow"}

const sessionFlag = " --session "

// onlyThere are verbs that act on the work tree in which they are typed. Nothing on their command line can name another
// one.
var onlyThere = []string{"hook install", "hook remove", "init", "switch", "undo --list"}

// ofWfs matches one wfs command within a suggestion: its verb, and the checkpoint or session after the verb.
var ofWfs = lazyregexp.New(`\bwfs ((?:hook [a-z]+|undo --list|[a-z]+)\b)( @?[a-z0-9][a-z0-9@-]*)?`)

// ofGit matches a git command that acts on the work tree in which it is typed.
var ofGit = lazyregexp.New(`\bgit (add|checkout|commit|merge|rebase|reset|restore|rm|stash|status|switch)\b`)

// forSession adds the session's name to each wfs command of a suggestion that acts on a session. `there` reports
// whether one of the commands acts on the work tree in which it is typed.
func forSession(command string, id session.ID) (named string, there bool) {
	if strings.HasSuffix(command, " --help") {
		return command, false
	}
	chunks := strings.Split(command, `"`) // every second chunk is quoted text, and not a command
	for i := 0; i < len(chunks); i += 2 {
		there = there || ofGit.MatchString(chunks[i])
		chunks[i] = ofWfs.ReplaceAllStringFunc(chunks[i], func(found string) string {
			m := ofWfs.FindStringSubmatch(found)
			takes := slices.Contains(takesSession, m[1]) || slices.Contains(takesFlag, m[1])
			if !takes || id == "" {
				there = there || slices.Contains(onlyThere, m[1])
				return found
			}
			if strings.Contains(command, sessionFlag) && slices.Contains(takesFlag, m[1]) {
				return found
			}
			return withSession(m[1], m[2], id)
		})
	}
	return strings.Join(chunks, `"`), there && !strings.HasPrefix(command, "cd ")
}

// withSession adds a session to a command that acts on one. `rest` is the command's text after the verb.
func withSession(verb, rest string, id session.ID) string {
	next := strings.TrimSpace(rest)
	switch {
	case slices.Contains(takesFlag, verb):
		return "wfs " + verb + sessionFlag + string(id) + rest
	case next == "":
		return "wfs " + verb + " " + string(id)
	case strings.HasPrefix(next, "@"):
		return "wfs " + verb + " " + string(id) + next
	case next == autoName || strings.Trim(next, "0123456789") == "": // a checkpoint of the session
		return "wfs " + verb + " " + string(id) + "@" + next
	}
	return "wfs " + verb + rest // the command already names a session
}

// inPlace returns a command with a "cd" to the work tree in front of it, for users who are elsewhere.
func inPlace(command, root string) string {
	place := "cd " + shellWord(root) + " && " + command
	if strings.ContainsAny(unquoted(command), ",;(") { // parentheses would enclose text that is no command
		return place
	}
	return "(" + place + ")"
}

// unquoted returns a text without the parts that are in double quotes.
func unquoted(text string) string {
	var b strings.Builder
	for i, chunk := range strings.Split(text, `"`) {
		if i%2 == 0 {
			b.WriteString(chunk)
		}
	}
	return b.String()
}

// hints builds the commands that wfs suggests.
type hints struct {
	w    *workspace.Workspace
	args []string // arguments of this command line
}

// typed returns a suggested command for the session that this command line is about.
func (h *hints) typed(command string) string {
	if h.w.About == "" && ofWfs.MatchString(command) { // this command failed before it looked for a session
		if ctx := context.Background(); h.w.Open(ctx) == nil {
			h.w.About, _ = h.w.Current(ctx)
		}
	}
	return h.typedFor(command, h.w.About, "")
}

// typedFor returns a suggested command for a session in the work tree at `root`. An empty root means the work tree of
// this command.
func (h *hints) typedFor(command string, id session.ID, root string) string {
	named, there := forSession(command, id)
	if !there || h.w.Repo == nil {
		return named
	}
	if root == "" {
		root = h.w.Repo.Root()
	}
	if linked, err := h.w.Repo.Linked(context.Background()); root == h.w.Repo.Root() && h.w.Away == "" && err == nil &&
		len(linked) == 0 {
		return named
	}
	return inPlace(named, root)
}

// fromMain returns a command with a "cd" to the main work tree in front of it, if the current work tree is another one.
// It is for commands that remove the current work tree, which is not possible from inside.
func (h *hints) fromMain(ctx context.Context, command string) string {
	trees, err := h.w.Repo.Worktrees(ctx)
	if err != nil || len(trees) == 0 || trees[0].ID == h.w.Repo.Worktree() {
		return command
	}
	return inPlace(command, trees[0].Path)
}

// newCommand returns the command to create a session here. It is wfs init if no test command is configured, otherwise
// wfs start, with --agent if no agent is configured.
func (h *hints) newCommand(ctx context.Context) string {
	command := `wfs start "what you want to build"`
	settings, err := h.w.OwnSettings(ctx)
	if err != nil {
		return command
	}
	if h.w.Repo != nil && len(settings.Config.Gates) == 0 {
		if _, err := os.Lstat(filepath.Join(h.w.Repo.Root(), filepath.FromSlash(workspace.ConfigPath))); err != nil {
			return "wfs init"
		}
	}
	if agent, err := h.w.Agent(settings); err != nil || agent != nil {
		return command
	}
	return command + " --agent " + h.someAgent()
}

// someAgent returns an agent to suggest: the first installed one, or else a placeholder for a command.
func (h *hints) someAgent() string {
	cards, err := h.w.Cards(nil)
	if err != nil {
		return ownAgent
	}
	if names := h.w.InstalledAgents(cards); len(names) > 0 {
		return names[0]
	}
	return ownAgent
}

// ownAgent is the placeholder, in suggestions, for any command that edits files.
const ownAgent = "'COMMAND'"

// again returns this command line as the user typed it, with more flags.
func (h *hints) again(more ...string) string {
	words, args := []string{"wfs"}, slices.Clone(h.args)
	if i := slices.Index(args, "--"); i >= 0 && !slices.ContainsFunc(args[i+1:], isFlag) {
		args = slices.Delete(args, i, i+1) // else flags could not be added to the suggestion
	}
	for _, arg := range append(args, more...) {
		if rest := strings.TrimLeft(arg, "-"); rest == "" || shellWord(rest) != rest {
			arg = shellWord(arg)
		}
		words = append(words, arg)
	}
	return h.typed(strings.Join(words, " "))
}

func isFlag(arg string) bool { return strings.HasPrefix(arg, "-") }

// forNoSession returns the command to suggest if no session was found, or, if none was named, no current one.
func (h *hints) forNoSession(ctx context.Context, named bool) string {
	all, err := h.w.Repo.Sessions(ctx)
	if err != nil || len(all) == 0 {
		return h.newCommand(ctx)
	}
	if named {
		return "wfs list"
	}
	newest, open := newest(ctx, h.w, func(s session.Status) bool { return !s.Final() })
	switch {
	case open == 0:
		return "wfs list"
	case open == 1:
		return "wfs resume " + string(newest.ID)
	}
	return "wfs resume " + string(newest.ID) + ", or wfs list"
}

// newest returns the session that was active last, of those that fit, and how many do. It looks at none if there are
// more than maxLooked sessions.
func newest(ctx context.Context, w *workspace.Workspace, fits func(session.Status) bool) (s session.Session,
	count int) {
	all, err := w.Repo.Sessions(ctx)
	if err != nil || len(all) > maxLooked {
		return s, 0
	}
	for id := range all {
		if v, err := w.View(ctx, id); err == nil && fits(v.Session.Status) {
			if count++; v.Session.UpdatedAt > s.UpdatedAt {
				s = v.Session
			}
		}
	}
	return s, count
}

const maxLooked = 200
