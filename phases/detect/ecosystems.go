package detect

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/workflows"
)

// ecosystem describes how projects of one kind run their tests. Most have rows; those for which rows are not enough
// have a function.
type ecosystem struct {
	name  string
	tools []string
	rows  []row
	code  func(*project) []Proposal
}

// row is one way to run tests, with the evidence in the project's files that it is used.
type row struct {
	// shows is the evidence that must be there. It has parts separated by spaces, which are all required; a part that
	// begins with "!" must be absent. A part is a file pattern, or PATTERN:TEXT for files that match the regular
	// expression TEXT. "|" separates alternatives in a part. People see the group of the regular expression.
	shows   string
	command string // words in braces are replaced, see words
	format  workflows.Format
	report  string
	install string
	needs   string
	more    bool // later rows are tried as well
}

// ecosystems returns all ecosystems in the order in which they are tried. If a directory matches several, the first
// one is proposed first.
func ecosystems() []ecosystem {
	return []ecosystem{
		{name: "Go", tools: []string{"go", "gofmt"}, rows: []row{
			{shows: "go.work", command: "go test -json {modules}", format: workflows.FormatGoTest},
			{shows: "go.mod", command: "go test -json ./...", format: workflows.FormatGoTest},
		}},
		{name: "Node", tools: []string{"npm test", "npm run", "npx", "node"}, code: proposeNode},
		{name: "Deno", tools: []string{"deno"}, rows: []row{
			{shows: "deno.json|deno.jsonc", command: `deno test -A --junit-path="$WFS_REPORT"`, format: workflows.FormatJUnit},
		}},
		{name: "Python", tools: []string{"pytest", "python", "python3"}, code: proposePython},
		{name: "Rust", tools: []string{"cargo"}, rows: []row{ // run all tests, even after a failure
			{shows: `Cargo.toml:\[workspace\]`, command: "cargo test --workspace --no-fail-fast", format: workflows.FormatCargo},
			{shows: "Cargo.toml", command: "cargo test --no-fail-fast", format: workflows.FormatCargo},
		}},
		// Run all modules even if tests fail. The failures are in the reports.
		{name: "Maven", tools: []string{"mvn", "./mvnw"}, rows: []row{
			{shows: "pom.xml", command: "{mvn} -q -B -fae -Dmaven.test.failure.ignore=true test", format: workflows.FormatJUnit,
				report: "**/target/surefire-reports/*.xml"},
		}},
		// Run cleanTest first. Otherwise Gradle skips tests that it considers up to date, and writes no report about
		// them.
		{name: "Gradle", tools: []string{"gradle", "./gradlew"}, rows: []row{
			{shows: "build.gradle|build.gradle.kts|settings.gradle|settings.gradle.kts", format: workflows.FormatJUnit,
				command: "{gradle} --no-daemon --console=plain -q --continue --no-build-cache cleanTest test",
				report:  "**/build/test-results/test/*.xml"},
		}},
		{name: "sbt", tools: []string{"sbt"}, rows: []row{
			{shows: "build.sbt", command: "sbt -no-colors test", format: workflows.FormatJUnit,
				report: "**/target/test-reports/*.xml"},
		}},
		// No additional gem is needed to read the results: RSpec can write JSON, and wfs parses Minitest's output.
		{name: "Ruby", tools: []string{"bundle exec", "rake", "ruby"}, rows: []row{
			{shows: ".rspec|spec/spec_helper.rb|spec/*_spec.rb", command: `{bundle}rspec --format json --out "$WFS_REPORT"`,
				format: workflows.FormatRSpec, install: "{gems}"},
			{shows: "bin/rails test/*.rb", command: "bin/rails test -v", format: workflows.FormatMinitest},
			{shows: "test/*.rb:test/unit", command: "{bundle}rake test", format: workflows.FormatExit,
				needs: "per-test results are read from Minitest (require \"minitest/autorun\") or RSpec, not from test-unit"},
			{shows: "Rakefile:TestTask test/*.rb", command: "{bundle}rake test TESTOPTS=-v",
				format: workflows.FormatMinitest, install: "{gems}", more: true},
			{shows: "test/*.rb", format: workflows.FormatMinitest, install: "{gems}",
				command: `{bundle}ruby -Itest -Ilib -e 'Dir["test/**/*_test.rb", "test/**/test_*.rb"].sort.each { |f| require "./#{f}" }' -- -v`},
		}},
		// The trx logger is part of dotnet. Each test project writes a file of its own.
		{name: ".NET", tools: []string{"dotnet"}, rows: []row{
			{shows: "*.sln|*.slnx|*.csproj|*.fsproj|*.vbproj", format: workflows.FormatTRX,
				command: `dotnet test --logger trx --results-directory "$WFS_REPORT" -nodeReuse:false`},
		}},
		{name: "PHP", tools: []string{"php", "composer", "vendor/bin/phpunit"}, rows: []row{
			{shows: `composer.json:"pestphp/pest"`, command: `vendor/bin/pest --log-junit "$WFS_REPORT"`,
				format: workflows.FormatJUnit, install: "composer install"},
			{shows: phpunit, command: `vendor/bin/{phpunit}`, format: workflows.FormatJUnit, install: "composer install",
				more: true},
			{shows: phpunit, command: `{phpunit}`, format: workflows.FormatJUnit},
		}},
		{name: "Bats", tools: []string{"bats"}, rows: []row{
			{shows: "test/*.bats", command: "bats --tap -r test", format: workflows.FormatTAP},
			{shows: "tests/*.bats", command: "bats --tap -r tests", format: workflows.FormatTAP},
		}},
		{name: "make", tools: []string{"make"}, rows: []row{
			{shows: "Makefile:^(test):[^=]*$|makefile:^(test):[^=]*$|GNUmakefile:^(test):[^=]*$", command: "make test",
				format: workflows.FormatExit,
				needs:  "make hides what its tests print; pass the command behind it, which has per-test results: wfs init --test 'COMMAND' --format FORMAT"},
		}},
	}
}

const (
	phpConfig = "phpunit.xml|phpunit.xml.dist|phpunit.dist.xml"
	phpunit   = phpConfig + `|composer.json:"phpunit/phpunit"|tests/*Test.php`
)

// words are the words in braces in a command, with their replacement if the evidence is there (with) or not (without).
var words = []struct{ word, shows, with, without string }{
	{"{mvn}", "mvnw", "./mvnw", "mvn"},
	{"{gradle}", "gradlew", "./gradlew", "gradle"},
	{"{bundle}", "Gemfile", "bundle exec ", ""},
	{"{gems}", "Gemfile", "bundle install", "gem install rspec minitest rake"},
	{"{phpunit}", phpConfig, `phpunit --log-junit "$WFS_REPORT" --do-not-cache-result`,
		`phpunit --log-junit "$WFS_REPORT" --do-not-cache-result tests`},
}

// fill returns a command in which the words in braces are replaced.
func (p *project) fill(command string) string {
	for _, w := range words {
		if strings.Contains(command, w.word) {
			with := w.without
			if p.shows(w.shows) != "" {
				with = w.with
			}
			command = strings.ReplaceAll(command, w.word, with)
		}
	}
	if strings.Contains(command, "{modules}") {
		command = strings.ReplaceAll(command, "{modules}", p.goModules())
	}
	return command
}

func (e *ecosystem) propose(p *project) []Proposal {
	if e.code != nil {
		return e.code(p)
	}
	return p.byRows(e.rows)
}

func (p *project) byRows(rows []row) (list []Proposal) {
	for _, r := range rows {
		why := p.shows(r.shows)
		if why == "" {
			continue
		}
		g := testsGate(p.fill(r.command), r.format)
		g.Report = r.report
		list = append(list, Proposal{Gate: g, Why: why, Needs: r.needs, Install: p.fill(r.install)})
		if !r.more {
			break
		}
	}
	return list
}

// shows looks for the evidence of a row in the project. It returns the last part found, in words for people. It returns
// "" if a required part is missing, or a part is there that must be absent.
func (p *project) shows(all string) (why string) {
	for one := range strings.FieldsSeq(all) {
		one, not := strings.CutPrefix(one, "!")
		found := ""
		for _, evidence := range strings.Split(one, "|") {
			if found = p.evidence(evidence); found != "" {
				break
			}
		}
		if (found == "") != not {
			return ""
		}
		if !not {
			why = found
		}
	}
	return why
}

func (p *project) evidence(evidence string) string {
	pattern, text, inText := strings.Cut(evidence, ":")
	for _, file := range p.glob(pattern) {
		if !inText && p.has(file) {
			return file
		}
		if inText {
			if found := regexp.MustCompile("(?m)" + text).FindStringSubmatch(p.text(file)); found != nil {
				return strings.Trim(found[len(found)-1], `"[]:`) + " in " + file
			}
		}
	}
	return ""
}

var usedModule = lazyregexp.New(`(?m)^\s*(?:use\s+)?"?(\./?|\./[\w./-]*)"?\s*(?://.*)?$`)

// goModules returns patterns for all packages of the modules that go.work lists.
func (p *project) goModules() string {
	var dirs []string
	for _, m := range usedModule.FindAllStringSubmatch(p.text("go.work"), -1) {
		dirs = append(dirs, "./"+path.Join(m[1], "..."))
	}
	if len(dirs) == 0 {
		return "./..."
	}
	return strings.Join(dirs, " ")
}

// pytestFiles is evidence that the project uses pytest, without its test files.
const pytestFiles = `pytest.ini|pyproject.toml:pytest|setup.cfg:\[tool:pytest\]|tox.ini:pytest|conftest.py|tests/conftest.py|test/conftest.py|` +
	`*requirements*.txt:pytest|requirements/*.txt:pytest|`

// pythonTests returns evidence for test files that contain a text. If text is "", it returns evidence for any test
// files.
func pythonTests(text string) string {
	return inDirs([]string{"", "tests/", "test/", "tests/unit/"}, []string{"test_*.py", "*_test.py"}, text)
}

// inDirs returns evidence for a file with one of the names in one of the directories.
func inDirs(dirs, names []string, text string) string {
	var all []string
	for _, dir := range dirs {
		for _, name := range names {
			all = append(all, dir+name+text)
		}
	}
	return strings.Join(all, "|")
}

// proposePython proposes gates for pytest, unittest and Django's test runner. It runs them with uv, Poetry, PDM,
// Pipenv or a virtual environment in the project, if that is installed. The option -B keeps Python from writing __pycache__, which would
// change the tree if git does not ignore it. With --continue-on-collection-errors, a file that cannot be imported does
// not keep the others from running.
func proposePython(p *project) (list []Proposal) {
	pythons := []struct{ shows, python, install string }{
		{"uv.lock", "uv run --frozen python", "uv sync"}, {"poetry.lock", "poetry run python", "poetry install"},
		{"pdm.lock", "pdm run python", "pdm install"}, {"Pipfile.lock", "pipenv run python", "pipenv install"},
		{".venv/pyvenv.cfg", ".venv/bin/python", ".venv/bin/python -m pip install pytest"},
		{"venv/pyvenv.cfg", "venv/bin/python", "venv/bin/python -m pip install pytest"},
		{"", "python3", "python3 -m pip install pytest"},
	}
	for _, python := range pythons {
		tool, _, _ := strings.Cut(python.python, " ")
		if python.shows != "" && (!p.has(python.shows) || tool != python.python && !p.can(tool)) {
			continue
		}
		byPytest := pytestFiles + pythonTests(`:[mt]\spytest`)
		pytest := python.python + ` -B -m pytest -q -p no:cacheprovider --continue-on-collection-errors --junitxml="$WFS_REPORT"`
		for _, found := range p.byRows([]row{
			{shows: "manage.py !" + byPytest, command: python.python + " -B manage.py test --noinput -v 2",
				format: workflows.FormatUnittest},
			{shows: byPytest, command: pytest, format: workflows.FormatJUnit, install: python.install, more: true},
			{shows: pythonTests(":unittest"), command: python.python + " -B -m unittest discover -v" + p.discover(),
				format: workflows.FormatUnittest, more: true},
			{shows: pythonTests(""), command: pytest, format: workflows.FormatJUnit, install: python.install},
		}) {
			if !slices.ContainsFunc(list, func(other Proposal) bool { return other.Gate.Run.Shell == found.Gate.Run.Shell }) {
				list = append(list, found)
			}
		}
	}
	return list
}

// discover returns the arguments with which unittest finds the test files. Without them it searches only packages.
func (p *project) discover() string {
	file := p.shows(pythonTests(""))
	dir, pattern := path.Dir(file), ""
	if !strings.HasPrefix(path.Base(file), "test_") {
		pattern = " -p '*_test.py'"
	}
	if dir == "." || p.has(dir+"/__init__.py") && !strings.Contains(dir, "/") {
		return pattern
	}
	return " -s " + dir + pattern
}

// formatWords maps words to a report format. A command has this format if it contains all of the words.
var formatWords = []struct {
	words  []string
	format workflows.Format
}{
	{[]string{"go test", "-json"}, workflows.FormatGoTest}, {[]string{"jest", "--json"}, workflows.FormatJest},
	{[]string{"vitest", "reporter=json"}, workflows.FormatJest}, {[]string{"rspec", "json"}, workflows.FormatRSpec},
	{[]string{"junit"}, workflows.FormatJUnit}, {[]string{"reporter xunit"}, workflows.FormatJUnit},
	{[]string{"reporter=xunit"}, workflows.FormatJUnit},
	{[]string{"cargo test"}, workflows.FormatCargo}, {[]string{"unittest", " -v"}, workflows.FormatUnittest},
	{[]string{"manage.py test", "-v 2"}, workflows.FormatUnittest}, {[]string{"dotnet test", "trx"}, workflows.FormatTRX},
	{[]string{"--tap"}, workflows.FormatTAP}, {[]string{"reporter=tap"}, workflows.FormatTAP},
}

// reporting has options with which test runners report results by test. `within` is set if the option comes directly
// after the name of the runner, and not at the end.
var reporting = []struct {
	runner, option string
	within         bool
}{
	{"pytest", ` --junitxml="$WFS_REPORT"`, false}, {"go test", " -json", true}, {"unittest", " -v", false},
	{"node .*--test", " --test-reporter=junit", true}, {"rspec", ` --format json --out "$WFS_REPORT"`, false},
	{"phpunit|pest", ` --log-junit "$WFS_REPORT"`, false},
	{"dotnet test", ` --logger trx --results-directory "$WFS_REPORT"`, false},
}

// Reporting returns a command that reports the results of its tests by name, given one that does not. It returns "" if
// it knows none.
func Reporting(command string) string {
	list := reporting
	for _, t := range nodeTools {
		if t.report != "" {
			list = append(slices.Clip(list), struct {
				runner, option string
				within         bool
			}{t.name, " " + t.report, false})
		}
	}
	for _, r := range list {
		at := regexp.MustCompile(`(?:^|[\s&|;()/])(?:` + r.runner + `)(?:$|\s)`).FindStringIndex(command)
		if at == nil || strings.ContainsAny(command[at[1]:], "|&;<>()") {
			continue
		}
		end := len(command)
		if r.within {
			end = len(strings.TrimRight(command[:at[1]], " "))
		}
		if with := command[:end] + r.option + command[end:]; GuessFormat(with) != workflows.FormatExit {
			return with
		}
	}
	return ""
}

// GuessFormat returns the probable report format of a command, judging by its words.
func GuessFormat(command string) workflows.Format {
	for _, f := range formatWords {
		if !slices.ContainsFunc(f.words, func(w string) bool { return !strings.Contains(strings.ToLower(command), w) }) {
			return f.format
		}
	}
	return workflows.FormatExit
}
