package agents

import (
	"slices"
	"strings"
)

// actions lists the names of the agents' tools by their effect, in lower case.
var actions = map[Action][]string{
	Runs: {"bash", "run_shell_command", "shell", "command_execution", "exec", "local_shell"},
	Writes: {"write", "edit", "multiedit", "notebookedit", "write_file", "replace", "edit_file", "patch", "apply_patch",
		"file_change"},
	Reads: {"read", "glob", "grep", "ls", "list", "bashoutput", "read_file", "read_many_files", "list_directory",
		"grep_search",
		"search_file_content", "toolsearch"},
	Fetches: {"webfetch", "websearch", "web_fetch", "google_web_search", "web_search", "codesearch"},
}

func actionOf(name string) Action {
	for action, names := range actions {
		if slices.Contains(names, strings.ToLower(name)) {
			return action
		}
	}
	return Does
}

// input holds the arguments of a tool.
type input map[string]any

// detail returns the argument that describes the call best, or "".
func (in input) detail() string {
	for _, name := range []string{"command", "file_path", "filePath", "notebook_path", "pattern", "path", "url", "query",
		"description", "prompt", "name"} {
		if s, _ := in[name].(string); s != "" {
			return s
		}
	}
	return ""
}

// risks matches commands that may destroy files, and git commands by their options. It matches options only up to the
// next ; | or &.
var risks = lazy(`(?:^|[\s;|&()'"<>{}$/` + "`])(?:" +
	`(rm|mv|rmdir|shred|truncate|unlink|dd)(?:$|[\s;|&()'"<>{}])` +
	`|(find|rsync)\s[^;|&]*\s--?delete` +
	`|(git)(?:\s+-[cC]\s+\S+|\s+-\S+)*\s+(?:` +
	`(checkout|restore|stash|rm|mv|rebase|merge|pull|revert|apply|am|read-tree|checkout-index|filter-branch|update-ref|worktree)(?:$|[\s;|&()'"<>{}])` +
	`|(reset)\s[^;|&]*--(?:hard|merge|keep)` +
	`|(clean)(?:\s+(?:-[a-mo-zA-Z]+|--[a-ce-z]\S*|[^-\s]\S*))*\s*(?:$|[;|&)'"])` +
	`|(switch)\s(?:[^;|&]*\s)?(?:-\w*[fC]|--force|--discard-changes)` +
	`|(branch)\s(?:[^;|&]*\s)?-\w*[fD]))`)

// Risk returns the name of a command in a shell command line that may destroy files which are in no checkpoint, such as
// "rm" or "git clean", or "" if it finds none. It does not parse the shell's syntax, and prefers a false alarm to a
// miss.
func Risk(command string) string {
	found := risks().FindStringSubmatch(command)
	if found == nil {
		return ""
	}
	if found[2] != "" {
		return found[2] + " with deletion"
	}
	return strings.TrimSpace(found[1] + found[3] + " " + strings.Join(found[4:], ""))
}
