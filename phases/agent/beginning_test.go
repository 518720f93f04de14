package agent

import (
	"testing"

	"github.com/wfs-dev/wfs/workflows"
)

// The allowed beginning names a program and its action, and never an interpreter alone.
func TestBeginning(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"go test -json ./...": "go test", "npx jest --ci --json": "npx jest", "CI=true npx vitest run --reporter=junit": "npx vitest",
		"python3 -m pytest --junitxml=x": "python3 -m pytest", "python3 -m unittest discover -v": "python3 -m unittest", "node --test --test-reporter=junit": "node --test",
		"cargo test --no-fail-fast": "cargo test", "bundle exec rspec --format json": "bundle exec rspec", "./gradlew --no-daemon test": "./gradlew", "make test": "make test",
		"vendor/bin/phpunit --log-junit x": "vendor/bin/phpunit", "cd sub && go test ./...": "", "python3 $X": "", "node": "", "": "", "bats --tap -r test": "bats",
		`"weird" thing`: "", "bash -c 'go test'": "", "uv run pytest -q": "uv run pytest", "git -C . push origin": "git push", "git --no-pager -c a=b log": "git log", "git -C .": "", "git": "", "npm run test": "npm run test", "npm test": "npm test", "uv run python -m pytest": "uv run python -m pytest",
		"CI=true npx --no-install vitest --run": "npx --no-install vitest", "bash -lc 'go test'": "", "npx --yes": "",
		"node --experimental-vm-modules node_modules/.bin/jest": "node --experimental-vm-modules node_modules/.bin/jest",
	} {
		if got := Beginning(workflows.Command{Shell: command}); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
	if got := Beginning(workflows.Command{Argv: []string{"go", "test", "./..."}}); got != "go test" {
		t.Error(got)
	}
}
