// Package process has the parts that agents, commands and gates have in common: their environment, their logs, and
// cleaning the files that they leave.
package process

import (
	"slices"
	"strings"
)

// These are the variables that agents and gates see without any configuration. Shells, terminals and the usual
// toolchains need them, and they do not usually hold a secret.
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

// DefaultEnv returns those entries of environ ("NAME=value") that agents and gates may see, sorted. These are a fixed
// list of variables and those named in extra. There NAME_* stands for all variables that begin with NAME_. If a
// variable occurs several times, the last value counts.
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
