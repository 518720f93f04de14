package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Inbox holds the requests that other processes send to a session's driver, one file for each request. Any process may
// add files; only the process that holds the session's lock removes them.
type Inbox struct{ of Session }

// Inbox returns the session's inbox. It reads and writes nothing.
func (s Session) Inbox() Inbox { return Inbox{s} }

const (
	inboxName  = "inbox"
	maxRequest = 1 << 20 // bytes
	requestExt = ".json"
	badExt     = ".bad" // appended to the name of an invalid file
)

type requestFile struct {
	V int `json:"v"`
	session.Request
}

// Post durably adds a request to the inbox, and returns the request with its new id. The id sorts after the ids of all
// pending requests. `salt` distinguishes requests of the same nanosecond.
func (b Inbox) Post(r session.Request, now time.Time, salt string) (session.Request, error) {
	dir, err := b.dir()
	if err != nil {
		return r, err
	}
	if err := b.of.clone.make(dir); err != nil {
		return r, err
	}
	names, err := requestNames(dir)
	if err != nil {
		return r, err
	}
	n := now.UnixNano()
	if len(names) > 0 {
		digits, _, _ := strings.Cut(names[len(names)-1], "-")
		if last, err := strconv.ParseInt(digits, 10, 64); err == nil && last >= n { // the clock was set back
			n = last + 1
		}
	}
	r.ID, r.At = fmt.Sprintf("%020d-%s", n, salt), now.Unix()
	if err := checkName("request", r.ID); err != nil {
		return r, err
	}
	data, err := json.Marshal(requestFile{FormatVersion, r})
	if err != nil {
		return r, err
	}
	if len(data) >= maxRequest {
		return r, fmt.Errorf("a request of %d bytes is too large: the limit is %d", len(data), maxRequest)
	}
	if err := durable.WriteFile(filepath.Join(dir, r.ID+requestExt), append(data, '\n'), 0o600); err != nil {
		return r, err
	}
	durable.Hit(durable.InboxPosted)
	return r, nil
}

// Requests lists the pending requests in the inbox, oldest first. It skips invalid requests, and requests from a newer
// wfs. It writes nothing.
func (b Inbox) Requests() ([]session.Request, error) {
	list, _, err := b.list()
	return list, err
}

func (b Inbox) list() (list []session.Request, bad []string, err error) {
	dir, err := b.dir()
	if err != nil {
		return nil, nil, err
	}
	if found, err := b.of.clone.check(dir); !found || err != nil {
		return nil, nil, err
	}
	names, err := requestNames(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		path := filepath.Join(dir, name+requestExt)
		data, err := durable.ReadFile(path, maxRequest)
		if errors.Is(err, fs.ErrNotExist) { // the driver has processed and removed it
			continue
		}
		if err != nil && !errors.Is(err, durable.ErrNotRegular) && !errors.Is(err, durable.ErrTooLarge) {
			return nil, nil, err
		}
		r, ok := parseRequest(data)
		switch {
		case err != nil, !ok:
			bad = append(bad, path)
		case r.V > FormatVersion:
		default:
			r.ID = name
			list = append(list, r.Request)
		}
	}
	return list, bad, nil
}

// parseRequest reads a request's file; ok is false if the file is invalid. A file whose version is newer than this wfs
// counts as valid, whatever else it contains.
func parseRequest(data []byte) (r requestFile, ok bool) {
	if json.Unmarshal(data, &r) != nil || r.V < 1 {
		return r, false
	}
	switch r.Kind {
	case session.RequestNote, session.RequestStop, session.RequestNow, session.RequestAllow, session.RequestBudget:
		return r, true
	}
	return r, r.V > FormatVersion
}

// requestNames lists the ids of all requests in an inbox directory, oldest first.
func requestNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), requestExt); ok && checkName("request", name) == nil {
			names = append(names, name)
		}
	}
	return names, nil
}

// Withdraw removes a request durably. Otherwise it could reappear after a power cut, and would be processed twice.
func (b Inbox) Withdraw(request string) error {
	dir, err := b.dir()
	if err != nil {
		return err
	}
	if err := checkName("request", request); err != nil {
		return err
	}
	if err := removeFile(filepath.Join(dir, request+requestExt)); err != nil {
		return err
	}
	return durable.SyncDir(dir)
}

func (b Inbox) dir() (string, error) {
	dir, err := b.of.dir()
	return filepath.Join(dir, inboxName), err
}

// Requests calls Inbox.Requests for the journal's session. It also renames invalid requests, because the driver cannot
// answer them.
func (j *Journal) Requests() ([]session.Request, error) {
	list, bad, err := j.of.Inbox().list()
	for _, path := range bad {
		if e := os.Rename(path, path+badExt); ifThere(e) != nil {
			err = errors.Join(err, e)
		}
	}
	return list, err
}

// Withdraw calls Inbox.Withdraw for the journal's session.
func (j *Journal) Withdraw(request string) error {
	if err := j.of.Inbox().Withdraw(request); err != nil {
		return err
	}
	durable.Hit(durable.InboxRemoved)
	return nil
}
