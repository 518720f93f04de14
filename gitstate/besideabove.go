package gitstate

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
)

// What a tool finds in the directories above a project can change what a gate says, and so can tags, which become versions.

// lookedForAbove are names that tools look for in each directory above the one where they begin, from their documentation.
var lookedForAbove = []string{
	".editorconfig", ".env", ".tool-versions", "mise.toml", ".mise.toml",
	"go.work", "go.mod", ".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json",
	"package.json", "node_modules", "pnpm-workspace.yaml", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnp.cjs", ".nvmrc", ".node-version", "deno.json",
	"tsconfig.json", "jsconfig.json", "babel.config.js", "babel.config.json", ".babelrc", ".browserslistrc", ".prettierrc", ".prettierrc.json",
	".eslintrc", ".eslintrc.js", ".eslintrc.cjs", ".eslintrc.json", ".eslintrc.yml", "eslint.config.js", "eslint.config.mjs", "biome.json",
	"pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg", "setup.py", "conftest.py", ".python-version", ".flake8", ".pylintrc",
	"mypy.ini", ".mypy.ini", "ruff.toml", ".ruff.toml",
	"Cargo.toml", ".cargo/config.toml", ".cargo/config", "rust-toolchain", "rust-toolchain.toml", "rustfmt.toml", ".rustfmt.toml", "clippy.toml",
	"Gemfile", ".bundle/config", ".ruby-version", ".rubocop.yml", "composer.json", ".php-version",
	"settings.gradle", "settings.gradle.kts", "pom.xml", ".mvn", ".java-version", ".sdkmanrc", "build.sbt",
	"Directory.Build.props", "Directory.Build.targets", "Directory.Packages.props", "global.json", "nuget.config", "NuGet.Config",
	".clang-format", ".clang-tidy", "MODULE.bazel", "WORKSPACE",
}

// above looks for them.
func (b *besideScan) above() {
	root, err := filepath.EvalSymlinks(b.root)
	if err != nil {
		b.unknown = true
		return
	}
	for dir := root; dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		for _, name := range lookedForAbove {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if info, err := os.Stat(file); err == nil {
				b.found = append(b.found, besideFile{name: filepath.ToSlash(file), info: info})
			}
		}
	}
}

// tags notes the repository's tags. With one that cannot be read nothing is known.
func (b *besideScan) tags(ctx context.Context) {
	tags, err := b.repo.tags(ctx)
	for name, id := range tags {
		b.found = append(b.found, besideFile{name: name, text: id})
	}
	b.unknown = b.unknown || err != nil
}

// maxRef bounds the file of a ref, in bytes.
const maxRef = 4096

// tags are the repository's tags and what they say, by full name. One that cannot be read is an error.
func (r *Repo) tags(ctx context.Context) (map[string]string, error) {
	const below = "refs/tags"
	tags := map[string]string{}
	if !r.readsDirectly() {
		refs, err := r.forEachRef(ctx, below)
		for name, id := range refs {
			tags[name] = string(id)
		}
		return tags, err
	}
	err := filepath.WalkDir(r.refPath(below), func(file string, d fs.DirEntry, err error) error { // before those that are packed, see Ref
		if err == nil && !d.IsDir() && !strings.HasSuffix(file, ".lock") {
			var data []byte
			if data, err = durable.ReadFile(file, maxRef); err == nil {
				rel, _ := filepath.Rel(r.commonDir, file)
				tags[filepath.ToSlash(rel)] = strings.TrimSpace(string(data))
			}
		}
		if absent(err) { // gone since its directory was read
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	packed, err := r.packedRefs()
	for line := range strings.Lines(string(packed)) { // "<id> <name>", or "^<id>" of what the tag before is about
		id, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if _, loose := tags[name]; ok && !loose && strings.HasPrefix(name, below+"/") {
			tags[name] = id
		}
	}
	return tags, err
}

// builds reports whether a file tells a program that builds what to do, and may name files of other directories for it.
func builds(base string) bool {
	switch base {
	case "Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", ".justfile", "Taskfile.yml", "Taskfile.yaml", "CMakeLists.txt",
		"meson.build", "Rakefile", "pom.xml":
		return true
	}
	switch path.Ext(base) {
	case ".mk", ".cmake", ".gradle", ".kts":
		return true
	}
	return false
}

// ledUp looks at what files that build name outside of the work tree: from their own directory, or from the top. Those far
// below it would have to go up as far.
func (b *besideScan) ledUp() {
	for _, e := range b.entries {
		name := string(e.name)
		if strings.Count(name, "/") > 1 || !builds(path.Base(name)) {
			continue
		}
		text, err := durable.ReadFile(filepath.Join(b.root, filepath.FromSlash(name)), maxSaying)
		if err != nil { // not there, or a link, which is followed
			continue
		}
		for _, up := range upward.FindAllString(string(text), -1) {
			for _, to := range []string{path.Join(path.Dir(name), up), path.Clean(up)} {
				if strings.HasPrefix(to, "../") {
					b.lookAway(besideFile{text: filepath.Join(b.root, filepath.FromSlash(to))})
				}
			}
		}
	}
}
