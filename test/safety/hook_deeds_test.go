package safety

import (
	"os"
	"path/filepath"
	"strings"
)

const (
	localSettings  = ".claude/settings.local.json"
	hooksInstalled = 5 // events of an agent that call wfs
)

// settingsOfTheirs are a person's settings for an agent, with a comment that no JSON writer would keep.
const settingsOfTheirs = "{\n\t// mine\n\t\"permissions\": {\"allow\": [\"Bash(go test:*)\"]}\n}\n"

// agentSettings is the file that `wfs hook install --user` changes.
func (f *fixture) agentSettings() string {
	return filepath.Join(f.dir, "..", ".claude", "settings.json")
}

// treeSettings is the file that it changes without --user.
func (f *fixture) treeSettings() string {
	return filepath.Join(f.dir, filepath.FromSlash(localSettings))
}

// keepsSettings makes the work tree's current settings reachable: the copy that hook install keeps is in no repository.
func (f *fixture) keepsSettings(name string) {
	f.t.Helper()
	f.ok("git", "tag", name, f.ok("git", "hash-object", "-w", localSettings))
}

// settingsWhole checks that the settings are complete, old or new, and that the old ones are kept.
func settingsWhole(f *fixture, path string) {
	f.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		f.t.Fatal(err)
	}
	with := strings.Count(string(text), " hook run ")
	if with != 0 && with != hooksInstalled || !strings.Contains(string(text), "// mine\n\t\"permissions\"") || with == 0 && string(text) != settingsOfTheirs {
		f.t.Errorf("half-written settings: %s", text)
	}
	copies, _ := filepath.Glob(filepath.Join(f.dir, "..", "state", "wfs", "hooks", "*-"+filepath.Base(path)))
	if with > 0 && len(copies) == 0 {
		f.t.Error("no copy is kept of the settings as they were")
	}
	rules, err := os.ReadFile(filepath.Join(f.dir, ".git", "info", "exclude"))
	if err != nil || !strings.HasPrefix(string(rules), rulesOfTheirs) {
		f.t.Errorf("rules of excludes that were there are gone: %q, %v", rules, err)
	}
}

// rulesOfTheirs is at the beginning of .git/info/exclude in every fixture.
const rulesOfTheirs = "# git ls-files"

func settingsHave(f *fixture, path string, hooks int) {
	f.t.Helper()
	settingsWhole(f, path)
	if text, _ := os.ReadFile(path); strings.Count(string(text), " hook run ") != hooks {
		f.t.Errorf("%d hooks should be in %s", hooks, text)
	}
	for _, dir := range []string{path, filepath.Join(f.dir, ".git", "info", "exclude")} {
		if parts, _ := filepath.Glob(dir + "?*"); len(parts) > 0 {
			f.t.Errorf("left behind: %q", parts)
		}
	}
}

// hookDeeds change a person's settings of an agent, or are called by an agent.
var hookDeeds = []deed{
	{
		name: "hook install --user", args: "hook install --user", dirty: true,
		before:  func(f *fixture) { f.dirty(); f.write("../.claude/settings.json", settingsOfTheirs) },
		outlive: func(f *fixture) { settingsWhole(f, f.agentSettings()) },
		done:    func(f *fixture) { settingsHave(f, f.agentSettings(), hooksInstalled) },
	},
	{
		name: "hook remove --user", args: "hook remove --user", dirty: true,
		before: func(f *fixture) {
			f.dirty()
			f.write("../.claude/settings.json", settingsOfTheirs)
			f.ok("wfs", "hook", "install", "--user")
		},
		outlive: func(f *fixture) { settingsWhole(f, f.agentSettings()) },
		done:    func(f *fixture) { settingsHave(f, f.agentSettings(), 0) },
	},
	{
		name: "hook install", args: "hook install", dirty: true,
		before: func(f *fixture) {
			f.dirty()
			f.write(localSettings, settingsOfTheirs)
			f.keepsSettings("settings")
		},
		outlive: func(f *fixture) { settingsWhole(f, f.treeSettings()) },
		done: func(f *fixture) {
			settingsHave(f, f.treeSettings(), hooksInstalled)
			f.ok("git", "check-ignore", "-q", localSettings)
		},
	},
	{
		name: "hook remove", args: "hook remove", dirty: true,
		before: func(f *fixture) {
			f.dirty()
			f.write(localSettings, settingsOfTheirs)
			f.ok("wfs", "hook", "install")
			f.keepsSettings("settings")
		},
		outlive: func(f *fixture) { settingsWhole(f, f.treeSettings()) },
		done:    func(f *fixture) { settingsHave(f, f.treeSettings(), 0) },
	},
	{
		name: "hook run", args: "hook run PreToolUse", stdin: "../event.json", waits: true,
		before: func(f *fixture) {
			f.dirty()
			f.write("../event.json", `{"session_id":"c","tool_name":"Bash","tool_input":{"command":"rm -rf ."}}`)
		},
		done: func(f *fixture) { f.branchHolds("wfs/one", "untracked.txt") },
	},
}
