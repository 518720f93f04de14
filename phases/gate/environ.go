package gate

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// In a clean checkout gates have an empty home directory, so that the settings of a user or an agent cannot change a
// verdict. Tools that are installed in the user's home directory are found by environment variables instead.

// homes lists pairs of a variable and a path. The variable tells a tool where its programs, packages or settings are.
// The path is the default below the home directory. If it begins with an XDG variable, it is relative to the value of
// this variable, or its default.
var homes = strings.Fields(`
	GIT_CONFIG_GLOBAL .gitconfig
	GOCACHE Library/Caches/go-build
	PLAYWRIGHT_BROWSERS_PATH Library/Caches/ms-playwright
	CYPRESS_CACHE_FOLDER Library/Caches/Cypress
	MAVEN_USER_HOME .m2
	CCACHE_DIR .ccache
	STACK_ROOT .stack
	CABAL_DIR .cabal
	OPAMROOT .opam
	GOPATH go
	GOCACHE XDG_CACHE_HOME/go-build
	GOENV XDG_CONFIG_HOME/go/env
	CARGO_HOME .cargo
	RUSTUP_HOME .rustup
	NPM_CONFIG_USERCONFIG .npmrc
	NPM_CONFIG_CACHE .npm
	NVM_DIR .nvm
	VOLTA_HOME .volta
	FNM_DIR XDG_DATA_HOME/fnm
	PNPM_HOME XDG_DATA_HOME/pnpm
	BUN_INSTALL .bun
	DENO_DIR XDG_CACHE_HOME/deno
	COREPACK_HOME XDG_CACHE_HOME/node/corepack
	PLAYWRIGHT_BROWSERS_PATH XDG_CACHE_HOME/ms-playwright
	PUPPETEER_CACHE_DIR XDG_CACHE_HOME/puppeteer
	CYPRESS_CACHE_FOLDER XDG_CACHE_HOME/Cypress
	PYENV_ROOT .pyenv
	PYTHONUSERBASE .local
	UV_CACHE_DIR XDG_CACHE_HOME/uv
	UV_PYTHON_INSTALL_DIR XDG_DATA_HOME/uv/python
	PIP_CACHE_DIR XDG_CACHE_HOME/pip
	POETRY_CONFIG_DIR XDG_CONFIG_HOME/pypoetry
	POETRY_CACHE_DIR XDG_CACHE_HOME/pypoetry
	RBENV_ROOT .rbenv
	BUNDLE_USER_HOME .bundle
	COMPOSER_HOME XDG_CONFIG_HOME/composer
	MIX_HOME .mix
	HEX_HOME .hex
	NUGET_PACKAGES .nuget/packages
	DOTNET_ROOT .dotnet
	ASDF_DATA_DIR .asdf
	MISE_DATA_DIR XDG_DATA_HOME/mise
	SDKMAN_DIR .sdkman
	GRADLE_USER_HOME .gradle
	PUB_CACHE .pub-cache`)

// roomEnv returns the environment for a clean checkout. home and temp replace the home directory and the directory for
// temporary files; "" leaves them as they are. It also removes wfs's own variables.
func roomEnv(env []string, home, temp string) []string {
	was := map[string]string{}
	out := make([]string, 0, len(env)+len(homes)/2)
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		was[name] = value
		switch {
		case strings.HasPrefix(name, "WFS_"), home != "" && xdgHomes[name] != "":
		case name == "HOME" && home != "":
			out = append(out, "HOME="+home)
		case name == "TMPDIR" && temp != "":
		default:
			out = append(out, entry)
		}
	}
	if temp != "" {
		out = append(out, "TMPDIR="+temp)
	}
	if home == "" || was["HOME"] == "" {
		return out
	}
	for h := range slices.Chunk(homes, 2) {
		if was[h[0]] != "" {
			continue
		}
		first, rest, _ := strings.Cut(h[1], "/")
		file := filepath.Join(was["HOME"], h[1])
		if below := xdgHomes[first]; below != "" {
			file = filepath.Join(cmp.Or(was[first], filepath.Join(was["HOME"], below)), rest)
		}
		if _, err := os.Stat(file); err == nil {
			out = append(out, h[0]+"="+file)
		}
	}
	return out
}

// xdgHomes maps the variables of the XDG Base Directory Specification to their default directories below the home
// directory.
var xdgHomes = map[string]string{
	"XDG_CACHE_HOME": ".cache", "XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share",
	"XDG_STATE_HOME": ".local/state",
}
