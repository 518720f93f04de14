package cmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
)

// output is standard output. It remembers the first error: most verbs print and go on, and Main reports it at the end.
type output struct {
	to io.Writer

	mu  sync.Mutex
	err error
}

// outputError is an answer that did not reach the person or the program that asked.
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

// file is the file behind standard output, if it is one.
func (o *output) file() (*os.File, bool) {
	f, ok := o.to.(*os.File)
	return f, ok
}

// failed is the first error, nil for none. Whoever reads from a pipe may stop reading: that is none.
func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if errors.Is(o.err, syscall.EPIPE) {
		return nil
	}
	return o.err
}
