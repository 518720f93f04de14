package gitcmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
)

// unknownIdentity is the author of checkpoints and records if git has no identity configured, as in continuous
// integration.
const unknownIdentity = "wfs <wfs@localhost>"

// Identity returns the identity for commits, "Name <mail>": that of Committer, or unknownIdentity. It never uses git's
// guess from the names of the machine.
func (r *Answers) Identity(ctx context.Context) (string, error) {
	ident, err := r.Committer(ctx)
	var said *GitError
	if errors.As(err, &said) {
		return unknownIdentity, nil
	}
	return ident, err
}

// Committer returns the configured identity, or a *GitError if neither configuration nor environment have one.
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

// IdentityIn returns the identity for commits from settings, "" if git might guess a part of it, or would write it in
// another way.
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
