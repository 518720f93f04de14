package brief

import "testing"

func TestToType(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		`python3 -B -m pytest -q --junitxml="$WFS_REPORT"`:                              `python3 -B -m pytest -q`,
		`npx --no-install vitest --run --reporter=junit --outputFile="$WFS_REPORT" src`: `npx --no-install vitest --run --reporter=junit src`,
		`mocha --reporter xunit --reporter-option output="$WFS_REPORT"`:                 `mocha --reporter xunit`,
		`bundle exec rspec --format json --out "$WFS_REPORT"`:                           `bundle exec rspec --format json`,
		`dotnet test --logger trx --results-directory "$WFS_REPORT" -nodeReuse:false`:   `dotnet test --logger trx -nodeReuse:false`,
		`go test -json ./...`: `go test -json ./...`,
		`mkdir -p "$WFS_REPORT" && jest --outputFile="$WFS_REPORT/a.json"`: `mkdir -p "$WFS_REPORT" && jest --outputFile="$WFS_REPORT/a.json"`,
	} {
		if got := toType(command); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}
