package agents

import "strings"

// actionOf knows the tools of the agents by their names.
func actionOf(name string) Action {
	switch strings.ToLower(name) {
	case "bash", "run_shell_command", "shell", "command_execution", "exec", "local_shell":
		return Runs
	case "write", "edit", "multiedit", "notebookedit", "write_file", "replace", "edit_file", "patch", "apply_patch", "file_change":
		return Writes
	case "read", "glob", "grep", "ls", "list", "bashoutput", "read_file", "read_many_files", "list_directory", "grep_search",
		"search_file_content", "toolsearch":
		return Reads
	case "webfetch", "websearch", "web_fetch", "google_web_search", "web_search", "codesearch":
		return Fetches
	}
	return Does
}

// input is what the arguments of tools have in common.
type input struct {
	Command      string `json:"command"`
	FilePath     string `json:"file_path"`
	FilePathToo  string `json:"filePath"`
	NotebookPath string `json:"notebook_path"`
	Path         string `json:"path"`
	Pattern      string `json:"pattern"`
	URL          string `json:"url"`
	Query        string `json:"query"`
	Description  string `json:"description"`
	Prompt       string `json:"prompt"`
	Name         string `json:"name"`
}

// detail is the word that says most about a call.
func (in input) detail() string {
	for _, s := range []string{in.Command, in.FilePath, in.FilePathToo, in.NotebookPath, in.Pattern, in.Path, in.URL, in.Query,
		in.Description, in.Prompt, in.Name} {
		if s != "" {
			return s
		}
	}
	return ""
}
