package codec_test

import (
	"fmt"
	"testing"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
)

func TestEveryKindIsFolded(t *testing.T) {
	for _, k := range session.Kinds() {
		line := fmt.Sprintf(`{"v":1,"seq":1,"at":"2030-01-01T00:00:00Z","kind":%q,"data":{}}`, k)
		if _, err := codec.DecodeLine(codec.Seal([]byte(line))); err != nil {
			t.Errorf("%s: %v", k, err)
		}
	}
}

func FuzzDecodeLine(f *testing.F) {
	f.Add([]byte(`{"v":1,"seq":1,"at":"2030-01-01T00:00:00Z","kind":"noted","data":{"text":"x"},"sum":"00000000"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		// Sealed, so that the fuzzer gets past the checksum.
		for _, l := range [][]byte{line, codec.Seal(line)} {
			if e, err := codec.DecodeLine(l); err == nil {
				if _, err := codec.EncodeLine(e); err != nil {
					t.Fatalf("decoded and could not be encoded: %v", err)
				}
			}
		}
	})
}
