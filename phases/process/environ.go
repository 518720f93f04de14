// Package process has the common parts of all processes that wfs runs: environment, log, and files that they leave.
package process

import (
	"slices"
	"strings"
)

// Variables that agents and gates see without configuration: those that a shell, a terminal and the usual toolchains
// need. None of them commonly holds a secret.
var (
	allowedNames = strings.Fields(`PATH HOME LANG LANGUAGE TERM COLORTERM NO_COLOR USER LOGNAME SHELL TMPDIR TZ CI
		SSL_CERT_FILE SSL_CERT_DIR NIX_SSL_CERT_FILE
		GOPATH GOBIN GOCACHE GOMODCACHE GOFLAGS GOPROXY GONOPROXY GOPRIVATE GOSUMDB GONOSUMDB
		GOTOOLCHAIN GOROOT GOWORK GOENV GOEXPERIMENT GOTMPDIR CGO_ENABLED CC CXX PKG_CONFIG_PATH
		CARGO_HOME CARGO_TARGET_DIR RUSTUP_HOME RUSTUP_TOOLCHAIN
		JAVA_HOME MAVEN_HOME M2_HOME GRADLE_HOME GRADLE_USER_HOME ANDROID_HOME DOTNET_ROOT
		NVM_DIR NVM_BIN NODE_PATH NODE_ENV PNPM_HOME VOLTA_HOME FNM_DIR BUN_INSTALL DENO_DIR
		PYENV_ROOT PYENV_VERSION VIRTUAL_ENV CONDA_PREFIX PYTHONPATH UV_CACHE_DIR
		RBENV_ROOT GEM_HOME GEM_PATH BUNDLE_PATH ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR NIX_PATH
		LD_LIBRARY_PATH DYLD_LIBRARY_PATH DEVELOPER_DIR SDKROOT`)
	allowedPrefixes = []string{"LC_", "XDG_"}
)

// DefaultEnv returns the variables of environ ("NAME=value") that agents and gates may see, sorted: a fixed list, and
// those named in extra, where NAME_* means all with that prefix. The last value of a name counts.
func DefaultEnv(environ, extra []string) []string {
	allowed := map[string]bool{}
	prefixes := slices.Clone(allowedPrefixes)
	for _, name := range slices.Concat(allowedNames, extra) {
		if stem, ok := strings.CutSuffix(name, "*"); ok && stem != "" {
			prefixes = append(prefixes, stem)
			continue
		}
		allowed[name] = true
	}
	kept := map[string]string{}
	for _, entry := range environ {
		name, _, ok := strings.Cut(entry, "=")
		if !ok || name == "" {
			continue
		}
		if allowed[name] || slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			kept[name] = entry
		}
	}
	out := make([]string, 0, len(kept))
	for _, entry := range kept {
		out = append(out, entry)
	}
	slices.Sort(out)
	return out
}
