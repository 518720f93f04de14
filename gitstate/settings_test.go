package gitstate

import (
	"context"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

// TestSettingsAreGits: settings from one trace are the same as git's answers for each of them.
func TestSettingsAreGits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config [][2]string
		env    []string
	}{
		"usual": {config: [][2]string{{"user.name", "A B"}, {"user.email", "a@b"}}},
		"committer": {config: [][2]string{{"user.name", "A"}, {"user.email", "a@b"}, {"committer.name", "C"},
			{"committer.email", "c@d"}}},
		"environment":      {env: []string{"GIT_COMMITTER_NAME=E", "GIT_COMMITTER_EMAIL=e@f"}},
		"half":             {config: [][2]string{{"user.name", "A"}}},
		"none":             {},
		"only crud":        {config: [][2]string{{"user.name", ".,"}, {"user.email", "a@b"}}},
		"empty mail":       {config: [][2]string{{"user.name", "A"}, {"user.email", ""}}},
		"odd name":         {config: [][2]string{{"user.name", "A\nuser.name=B <x@y>"}, {"user.email", "a@b"}}},
		"excludes":         {config: [][2]string{{"user.name", "A"}, {"user.email", "a@b"}, {"core.excludesFile", "/x/y z"}}},
		"excludes, twice":  {config: [][2]string{{"core.excludesFile", "/x"}, {"core.excludesFile", "/y"}}},
		"excludes at home": {config: [][2]string{{"core.excludesFile", "~/ignore"}}},
		"excludes of root": {config: [][2]string{{"core.excludesFile", "~root/ignore"}}},
		"excludes of git":  {config: [][2]string{{"core.excludesFile", "%(prefix)/ignore"}}},
		"excludes here":    {config: [][2]string{{"core.excludesFile", "ignore"}}},
		"no excludes":      {config: [][2]string{{"core.excludesFile", ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			for _, kv := range c.config {
				r.run("config", "--add", kv[0], kv[1])
			}
			var env []string
			for _, kv := range r.env {
				if !strings.HasPrefix(kv, "GIT_COMMITTER_") && !strings.HasPrefix(kv, "GIT_AUTHOR_") {
					env = append(env, kv)
				}
			}
			ctx := context.Background()
			both := make([]*Repo, 2)
			for i := range both {
				var err error // the first one reads the trace
				if both[i], err = Open(ctx, gitcmd.Options{Dir: r.Git.Root, Env: append(env, c.env...),
					Write: i == 0}); err != nil {
					t.Fatal(err)
				}
			}
			ident, err := both[0].Git.Answers.Identity(ctx)
			want, wantErr := both[1].Git.Answers.Identity(ctx)
			if ident != want || (err == nil) != (wantErr == nil) {
				t.Errorf("identity %q, %v; git says %q, %v", ident, err, want, wantErr)
			}
			_, said, err := both[0].Git.RunBoth(ctx, gitcmd.Opts{Env: gitcmd.Traced}, "rev-parse", "--git-dir")
			if _, settings, ok := gitcmd.ReadTrace(string(said)); name == "usual" &&
				(err != nil || want == "" || !ok || both[0].Git.Answers.IdentityIn(settings) != want) {
				t.Errorf("%q was not read at once", want)
			}
			excludes, err := both[0].Settings.GlobalExcludes(ctx)
			want, wantErr = both[1].Settings.GlobalExcludes(ctx)
			if excludes != want || (err == nil) != (wantErr == nil) {
				t.Errorf("excludes %q, %v; git says %q, %v", excludes, err, want, wantErr)
			}
		})
	}
}
