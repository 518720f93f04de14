package gitcmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
)

// unknownIdentity is the author of wfs's commits if git has no identity configured, as is usual in continuous
// integration.
const unknownIdentity = "wfs <wfs@localhost>"

// Identity returns the identity for commits as "Name <mail>": the configured one, or unknownIdentity. It never returns
// an identity that git guesses from the names of the user and the machine.
func (r *Answers) Identity(ctx context.Context) (string, error) {
	ident, err := r.Committer(ctx)
	var said *GitError
	if errors.As(err, &said) {
		return unknownIdentity, nil
	}
	return ident, err
}

// Committer returns the configured identity. The error is a *GitError if neither configuration nor environment has one.
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

// IdentityIn returns the identity for commits that git has with these settings. It returns "" if git might guess a part
// of it, or might write it in another way, so that the caller has to ask git.
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
