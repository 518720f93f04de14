package phases

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A gate says what the test script runs beside the tests, as commands that can be typed.
func TestBeyond(t *testing.T) {
	t.Parallel()
	for scripts, want := range map[string][]string{
		`"test": "node --test"`: nil,
		`"test": "npm run lint && node --test", "lint": "eslint ."`:                                      {"npm run lint"},
		`"test": "eslint . && vitest run", "posttest": "node size.js"`:                                   {"npx --no-install eslint .", "node size.js"},
		`"test": "npm run all", "all": "tsc -p . && npm run unit && npm run types", "unit": "jest"`:      {"npm run types"},
		`"test": "npm run build && mocha", "build": "rollup -c", "pretest": "npm run lint", "lint": "x"`: {"npm run lint"},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"package.json": `{"scripts": {` + scripts + `}}`, "node_modules/.bin/eslint": ""} {
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		list := proposeNode(&project{root: dir, readFile: os.ReadFile})
		if len(list) == 0 || !slices.Equal(list[0].Beyond, want) {
			t.Errorf("%s: %+v, want %q", scripts, list, want)
		}
	}
}
