//go:build failpoints

package cmd

import (
	"os"
	"path/filepath"
	"strings"
)

// settingsOfTheirs are what a person has in an agent's settings, with a comment that no writer of JSON would keep.
const settingsOfTheirs = "{\n\t// mine\n\t\"permissions\": {\"allow\": [\"Bash(go test:*)\"]}\n}\n"

// agentSettings is the file that wfs hook install --user changes.
func (f *fixture) agentSettings() string {
	return filepath.Join(f.dir, "..", ".claude", "settings.json")
}

// settingsWhole checks that the settings are what they were or what they are to be, and that what they were is kept.
func (f *fixture) settingsWhole() {
	f.t.Helper()
	text, err := os.ReadFile(f.agentSettings())
	if err != nil {
		f.t.Fatal(err)
	}
	with := strings.Count(string(text), " hook run ")
	if with != 0 && with != len(hooked) || !strings.Contains(string(text), "// mine\n\t\"permissions\"") || with == 0 && string(text) != settingsOfTheirs {
		f.t.Errorf("half-written settings: %s", text)
	}
	copies, _ := filepath.Glob(filepath.Join(f.dir, "..", "state", "wfs", "hooks", "*-settings.json"))
	if with > 0 && len(copies) == 0 {
		f.t.Error("no copy is kept of the settings as they were")
	}
}

func (f *fixture) settings(hooks int) {
	f.t.Helper()
	f.settingsWhole()
	if text, _ := os.ReadFile(f.agentSettings()); strings.Count(string(text), " hook run ") != hooks {
		f.t.Errorf("%d hooks should be in %s", hooks, text)
	}
	if parts, _ := filepath.Glob(f.agentSettings() + "?*"); len(parts) > 0 {
		f.t.Errorf("left behind: %q", parts)
	}
}

// hookDeeds change settings of an agent, which are the person's.
var hookDeeds = []deed{
	{
		name: "hook install", args: "hook install --user", dirty: true,
		before:  func(f *fixture) { f.dirty(); f.write("../.claude/settings.json", settingsOfTheirs) },
		outlive: (*fixture).settingsWhole,
		done:    func(f *fixture) { f.settings(len(hooked)) },
	},
	{
		name: "hook remove", args: "hook remove --user", dirty: true,
		before: func(f *fixture) {
			f.dirty()
			f.write("../.claude/settings.json", settingsOfTheirs)
			f.ok("wfs", "hook", "install", "--user")
		},
		outlive: (*fixture).settingsWhole,
		done:    func(f *fixture) { f.settings(0) },
	},
}
