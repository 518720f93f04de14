package detect

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/workflows"
)

func reportGate(command string, format workflows.Format, report string) workflows.Gate {
	g := testsGate(command, format)
	g.Report = report
	return g
}

// proposeDeno runs the tests of a Deno project.
func proposeDeno(p *project) []Proposal {
	if !p.has("deno.json") && !p.has("deno.jsonc") {
		return nil
	}
	return []Proposal{{Gate: testsGate(`deno test -A --junit-path="$WFS_REPORT"`, workflows.FormatJUnit), Why: "deno.json"}}
}

// proposeCargo runs every test of every member, also after a failure.
func proposeCargo(p *project) []Proposal {
	if !p.has("Cargo.toml") {
		return nil
	}
	command := "cargo test --no-fail-fast"
	if strings.Contains(p.text("Cargo.toml"), "[workspace]") {
		command = "cargo test --workspace --no-fail-fast"
	}
	return []Proposal{{Gate: testsGate(command, workflows.FormatCargo), Why: "Cargo.toml"}}
}

// proposeMaven lets all modules run although tests fail: what failed is in the reports.
func proposeMaven(p *project) []Proposal {
	if !p.has("pom.xml") {
		return nil
	}
	mvn := "mvn"
	if p.has("mvnw") {
		mvn = "./mvnw"
	}
	return []Proposal{{Gate: reportGate(mvn+" -q -B -fae -Dmaven.test.failure.ignore=true test", workflows.FormatJUnit, "**/target/surefire-reports/*.xml"), Why: "pom.xml"}}
}

// proposeGradle makes Gradle run tests that it thinks are up to date: it would write no report of those.
func proposeGradle(p *project) []Proposal {
	why := ""
	for _, name := range []string{"settings.gradle.kts", "settings.gradle", "build.gradle.kts", "build.gradle"} {
		if p.has(name) {
			why = name
		}
	}
	if why == "" {
		return nil
	}
	gradle := "gradle"
	if p.has("gradlew") {
		gradle = "./gradlew"
	}
	return []Proposal{{Gate: reportGate(gradle+" --no-daemon --console=plain -q --continue --no-build-cache cleanTest test", workflows.FormatJUnit, "**/build/test-results/test/*.xml"), Why: why}}
}

func proposeSbt(p *project) []Proposal {
	if !p.has("build.sbt") {
		return nil
	}
	return []Proposal{{Gate: reportGate("sbt -no-colors test", workflows.FormatJUnit, "**/target/test-reports/*.xml"), Why: "build.sbt"}}
}

// proposeRuby knows RSpec, Minitest and Rails. Both are read without any gem: RSpec's JSON, and what Minitest prints.
func proposeRuby(p *project) []Proposal {
	bundle := ""
	install := "gem install rspec minitest rake"
	if p.has("Gemfile") {
		bundle, install = "bundle exec ", "bundle install"
	}
	if p.has(".rspec") || p.has("spec/spec_helper.rb") || p.holds("spec", "_spec.rb") {
		return []Proposal{{Gate: testsGate(bundle+`rspec --format json --out "$WFS_REPORT"`, workflows.FormatRSpec), Why: "specs below spec", Install: install}}
	}
	tests := p.holds("test", ".rb")
	switch {
	case p.has("bin/rails") && tests:
		return []Proposal{{Gate: testsGate("bin/rails test -v", workflows.FormatMinitest), Why: "bin/rails and test"}}
	case !tests:
		return nil
	case p.usesTestUnit():
		return []Proposal{{Gate: testsGate(bundle+"rake test", workflows.FormatExit), Why: "test/unit in test", Needs: "per-test results are read from Minitest (require \"minitest/autorun\") or RSpec, not from test-unit"}}
	}
	const all = `ruby -Itest -Ilib -e 'Dir["test/**/*_test.rb", "test/**/test_*.rb"].sort.each { |f| require "./#{f}" }' -- -v`
	list := []Proposal{{Gate: testsGate(bundle+all, workflows.FormatMinitest), Why: "Ruby tests below test", Install: install}}
	if strings.Contains(p.text("Rakefile"), "TestTask") {
		list = append([]Proposal{{Gate: testsGate(bundle+"rake test TESTOPTS=-v", workflows.FormatMinitest), Why: "Rake::TestTask in Rakefile", Install: install}}, list...)
	}
	return list
}

func (p *project) holds(dir, suffix string) bool {
	return slices.ContainsFunc(p.list(dir), func(name string) bool { return strings.HasSuffix(name, suffix) })
}

func (p *project) usesTestUnit() bool {
	return slices.ContainsFunc(p.list("test"), func(name string) bool {
		return strings.HasSuffix(name, ".rb") && strings.Contains(p.text("test/"+name), "test/unit")
	})
}

// proposeDotnet needs no package: the trx logger comes with dotnet. Every test project writes a file of its own.
func proposeDotnet(p *project) []Proposal {
	why := ""
	for _, pattern := range []string{"*.sln", "*.slnx", "*.csproj", "*.fsproj", "*.vbproj"} {
		if found, _ := filepath.Glob(filepath.Join(p.root, pattern)); len(found) > 0 && why == "" {
			why = filepath.Base(found[0])
		}
	}
	if why == "" {
		return nil
	}
	return []Proposal{{Gate: testsGate(`dotnet test --logger trx --results-directory "$WFS_REPORT" -nodeReuse:false`, workflows.FormatTRX), Why: why}}
}

// proposePHP knows PHPUnit and Pest, which take the same option.
func proposePHP(p *project) []Proposal {
	config := p.has("phpunit.xml") || p.has("phpunit.xml.dist") || p.has("phpunit.dist.xml")
	composer := p.text("composer.json")
	pest := strings.Contains(composer, `"pestphp/pest"`)
	if !config && !pest && !strings.Contains(composer, `"phpunit/phpunit"`) && !p.holds("tests", "Test.php") {
		return nil
	}
	arguments, why := ` --log-junit "$WFS_REPORT"`, "composer.json"
	if config {
		why = "phpunit.xml"
	}
	if pest {
		return []Proposal{{Gate: testsGate("vendor/bin/pest"+arguments, workflows.FormatJUnit), Why: "pest in composer.json", Install: "composer install"}}
	}
	arguments += " --do-not-cache-result"
	if !config {
		arguments += " tests"
	}
	return []Proposal{
		{Gate: testsGate("vendor/bin/phpunit"+arguments, workflows.FormatJUnit), Why: why, Install: "composer install"},
		{Gate: testsGate("phpunit"+arguments, workflows.FormatJUnit), Why: why},
	}
}
