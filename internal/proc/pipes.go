package proc

import (
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// pipes are the standard streams of a run. They are not the pipes of os/exec: there, a process that outlives the run
// and holds a pipe open could make us wait without limit.
type pipes struct {
	began time.Time
	last  atomic.Int64 // when the last sign of life was, as a time.Duration since began
	in    *os.File     // our end of the program's standard input; nil: it has no input
	outs  []flow
	child []*os.File // the program's ends, to be closed after its start
	wg    sync.WaitGroup
}

type flow struct {
	from *os.File
	to   io.Writer
}

func newPipes(cmd *exec.Cmd, s Spec, began time.Time) (p *pipes, err error) {
	p = &pipes{began: began}
	defer func() {
		if err != nil {
			p.abandon()
		}
	}()
	if s.Stdin != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		p.in, p.child, cmd.Stdin = w, append(p.child, r), r
	}
	out, err := p.add(s.Stdout)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = out, out
	if !same(s.Stdout, s.Stderr) {
		errs, err := p.add(s.Stderr)
		if err != nil {
			return nil, err
		}
		cmd.Stderr = errs
	}
	return p, nil
}

// same reports whether two writers are the same, with the same rule as os/exec: writers of a type that cannot be
// compared are different.
func same(a, b io.Writer) bool {
	defer func() { _ = recover() }()
	return a == b
}

func (p *pipes) add(to io.Writer) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.outs = append(p.outs, flow{r, to})
	p.child = append(p.child, w)
	return w, nil
}

func (p *pipes) closeChild() {
	for _, f := range p.child {
		_ = f.Close()
	}
	p.child = nil
}

// abandon closes all streams. It is called if the program could not be started.
func (p *pipes) abandon() {
	p.closeChild()
	p.close()
}

func (p *pipes) close() {
	if p.in != nil {
		_ = p.in.Close()
	}
	for _, f := range p.outs {
		_ = f.from.Close()
	}
}

func (p *pipes) begin(stdin io.Reader) {
	p.closeChild()
	p.last.Store(int64(time.Since(p.began)))
	if p.in != nil {
		go func() {
			_, _ = io.Copy(p.in, stdin) // an error is ignored, because a program need not read its input
			_ = p.in.Close()
		}()
	}
	for _, f := range p.outs {
		p.wg.Go(func() { p.pump(f) })
	}
}

// pump passes the program's output to a writer. If the writer fails, pump still reads and drops the output, because a
// full pipe would block the program.
func (p *pipes) pump(f flow) {
	buf := make([]byte, 64<<10)
	for {
		n, err := f.from.Read(buf)
		if n > 0 {
			p.last.Store(int64(time.Since(p.began)))
			if f.to != nil {
				if _, err := f.to.Write(buf[:n]); err != nil {
					f.to = nil
				}
				p.last.Store(int64(time.Since(p.began))) // without the time that the writer took
			}
		}
		if err != nil {
			return
		}
	}
}

// finish reads the rest of the output, and closes all streams. After it has returned, no writer is called.
func (p *pipes) finish() {
	drained := make(chan struct{})
	go func() {
		p.wg.Wait()
		close(drained)
	}()
	limit := time.NewTimer(drainWait)
	defer limit.Stop()
	select {
	case <-drained:
	case <-limit.C:
	}
	p.close()
	<-drained
}
