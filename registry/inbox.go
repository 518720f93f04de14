package registry

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// maxRequest bounds one request, in bytes.
const maxRequest = 1 << 20

// Request is what another process asks of whoever drives a session.
type Request struct {
	V    int    `json:"v"`
	Name string `json:"-"`    // unique within the session
	Kind string `json:"kind"` // "pause", "note"
	Text string `json:"text,omitempty"`
	At   int64  `json:"at"` // Unix seconds
}

// Post leaves a request for the session's driver and returns when it is durable. name is a random or counted string
// that the caller chose; posting one a second time is an error.
func (c *Clone) Post(id session.ID, name, kind, text string, at int64) error {
	path, err := c.requestPath(id, name)
	if err != nil {
		return err
	}
	data, err := json.Marshal(Request{V: FormatVersion, Kind: kind, Text: text, At: at})
	if err != nil {
		return err
	}
	if len(data) > maxRequest {
		return fmt.Errorf("the request is %d bytes long, the limit is %d", len(data), maxRequest)
	}
	if err := c.make(filepath.Dir(path)); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: %w", path, fs.ErrExist)
	}
	return durable.WriteFile(path, append(data, '\n'), 0o600)
}

// TakeInbox lists the requests for a session in the order in which they were posted. They stay until DropInbox: the
// driver first makes an event of each. A file that is no request is renamed, out of the way; one of a newer wfs stays.
func (c *Clone) TakeInbox(id session.ID) ([]Request, error) {
	dir, err := c.inboxDir(id)
	if err != nil {
		return nil, err
	}
	if found, err := c.check(dir); !found || err != nil {
		return nil, err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var requests []Request
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok || checkName("request", name) != nil {
			continue
		}
		path := filepath.Join(dir, f.Name())
		data, err := durable.ReadFile(path, maxRequest+1)
		if err != nil && !errors.Is(err, durable.ErrNotRegular) && !errors.Is(err, durable.ErrTooLarge) {
			return nil, err
		}
		r := Request{Name: name}
		if err != nil || json.Unmarshal(data, &r) != nil || r.V < 1 || r.Kind == "" {
			if err := os.Rename(path, path+".bad"); err != nil {
				return nil, err
			}
			continue
		}
		if r.V <= FormatVersion {
			requests = append(requests, r)
		}
	}
	slices.SortStableFunc(requests, func(a, b Request) int {
		return cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.Name, b.Name))
	})
	return requests, nil
}

// DropInbox removes a request that has become an event. One that is gone is no error.
func (c *Clone) DropInbox(id session.ID, name string) error {
	path, err := c.requestPath(id, name)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (c *Clone) requestPath(id session.ID, name string) (string, error) {
	dir, err := c.inboxDir(id)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, name+".json"), checkName("request", name)
}

func (c *Clone) inboxDir(id session.ID) (string, error) {
	dir, err := c.sessionDir(id)
	return filepath.Join(dir, "inbox"), err
}
