package cmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
)

// output is standard output. It remembers the first error. Most verbs ignore errors of writing, and Main reports the
// remembered one at the end.
type output struct {
	to io.Writer

	mu  sync.Mutex
	err error
}

// outputError says that writing to standard output failed.
type outputError struct{ cause error }

func (e *outputError) Error() string {
	cause := e.cause
	var path *os.PathError
	if errors.As(cause, &path) {
		cause = path.Err
	}
	return fmt.Sprintf("standard output cannot be written: %v", cause)
}

func (e *outputError) Unwrap() error { return e.cause }

func (o *output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil {
		err = &outputError{err}
		o.mu.Lock()
		if o.err == nil {
			o.err = err
		}
		o.mu.Unlock()
	}
	return n, err
}

// file returns the file behind standard output. It returns false if there is none, as in tests.
func (o *output) file() (*os.File, bool) {
	f, ok := o.to.(*os.File)
	return f, ok
}

// failed returns the first error of writing, or nil. It ignores EPIPE, because the reader of a pipe may stop before the
// end.
func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if errors.Is(o.err, syscall.EPIPE) {
		return nil
	}
	return o.err
}
