package gitcmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
)

// unknownIdentity makes the checkpoints and records of somebody of whom git knows nothing, as in continuous
// integration.
const unknownIdentity = "wfs <wfs@localhost>"

// Identity is who makes commits here: "Name <mail>". Git's guess from the machine's names does not count as one.
func (r *Answers) Identity(ctx context.Context) (string, error) {
	ident, err := r.Committer(ctx)
	var said *GitError
	if errors.As(err, &said) {
		return unknownIdentity, nil
	}
	return ident, err
}

// Committer is identity, or a *GitError when neither configuration nor environment say who commits here.
func (r *Answers) Committer(ctx context.Context) (string, error) {
	return r.ident.get(func() (string, error) { return r.askIdentity(ctx) })
}

func (r *Answers) askIdentity(ctx context.Context) (string, error) {
	out, err := r.git.Run(ctx, Opts{}, "-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT")
	if err != nil {
		return "", err
	}
	end := bytes.LastIndexByte(out, '>')
	if end < 0 {
		return "", fmt.Errorf("git var: unexpected identity %q", out)
	}
	return string(out[:end+1]), nil
}

// IdentityIn returns the identity of commits from settings, "" when it may be git's guess, or is not as git
// would write it.
func (r *Answers) IdentityIn(settings map[string]string) string {
	name := cmp.Or(r.git.Getenv("GIT_COMMITTER_NAME"), settings["committer.name"], settings["user.name"])
	mail := cmp.Or(r.git.Getenv("GIT_COMMITTER_EMAIL"), settings["committer.email"], settings["user.email"])
	for _, s := range []string{name, mail} {
		if s == "" || strings.ContainsAny(s, "<>\n\"\\") || strings.Trim(s, ".,:;' \t\r") != s {
			return ""
		}
	}
	return name + " <" + mail + ">"
}
