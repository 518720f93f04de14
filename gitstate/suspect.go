package gitstate

import (
	"bytes"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/session"
)

// keyLike reports whether a file's name looks like that of a key or of a file with passwords.
func keyLike(name string) bool {
	name = strings.ToLower(name)
	ext := path.Ext(name)
	switch name {
	case ".env.example", ".env.sample", ".env.template", ".env.dist":
		return false
	case ".env", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", ".dockercfg", ".git-credentials":
		return true
	}
	switch ext {
	case ".kdbx", ".p12", ".pfx", ".ppk", ".jks", ".keystore":
		return true
	}
	// Not the names of programs: id_map.go, credentials.py.
	data := slices.Contains([]string{"", ".json", ".csv", ".ini", ".toml", ".yml", ".yaml", ".properties"}, ext)
	return strings.HasPrefix(name, ".env.") || ext == "" && strings.HasPrefix(name, "id_") || data && strings.HasPrefix(name, "credentials")
}

// maxContent is how large a file may be for its content to be looked at, in bytes.
const maxContent = 1 << 20

var secretKinds = sync.OnceValue(func() *redact.Redactor { return redact.New(nil) })

// suspect says why a file that is new to git is to be held out for what it seems to be: by its name, or by what is in it.
// "" is no reason.
func (r *Repo) suspect(p string) (why session.HoldReason, rule string) {
	name := path.Base(p)
	if keyLike(name) {
		return session.HoldKey, ""
	}
	if info, err := r.lstat(p); err != nil || !info.Mode().IsRegular() || info.Size() > maxContent {
		return "", ""
	}
	content, err := durable.ReadFile(filepath.Join(r.root, filepath.FromSlash(p)), maxContent)
	if err != nil { // git says what it makes of it
		return "", ""
	}
	if kind := secretKinds().KeyKind(content); kind != "" {
		return session.HoldSecret, kind
	}
	if path.Ext(name) == ".pem" && !bytes.Contains(content, []byte("-----BEGIN ")) { // else a certificate, or a public key
		return session.HoldKey, ""
	}
	return "", ""
}
