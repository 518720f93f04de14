package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// messages reads lines that are messages, and answers each other line with an error. The SDK would end at such a line.
type messages struct {
	in   *bufio.Reader
	out  io.Writer
	rest []byte // of the line that is read now
}

func (m *messages) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		line, err := m.in.ReadBytes('\n')
		if _, wrong := jsonrpc.DecodeMessage(line); wrong == nil {
			m.rest = line
			break
		}
		if len(bytes.TrimSpace(line)) > 0 {
			code, what := jsonrpc.CodeParseError, "the line is not JSON"
			if json.Valid(line) {
				code, what = jsonrpc.CodeInvalidRequest, "the line is not a message"
			}
			fmt.Fprintf(m.out, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`+"\n", code, what)
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

func (m *messages) Close() error { return nil }

// whole writes one message after the other, also if they come from several goroutines.
type whole struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *whole) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

func (w *whole) Close() error { return nil }
