package board

import (
	"strings"
	"unicode/utf8"
)

// sequences are the names of the keys that a terminal sends as several characters.
var sequences = map[string]string{
	"[A": "up", "[B": "down", "OA": "up", "OB": "down", "[5~": "pgup", "[6~": "pgdn", "[H": "home", "[F": "end",
	"OH": "home", "OF": "end", "[1~": "home", "[4~": "end",
}

var controls = map[byte]string{'\r': "enter", '\n': "enter", 0x7f: "backspace", '\b': "backspace", 0x15: "clear"}

const (
	beginPaste = "\x1b[200~"
	endPaste   = "\x1b[201~"
)

// Keys splits what was typed into keys: characters, or the names of other keys. Pasted text is one key that begins with
// "paste:", so that it can never be taken for commands. `rest` is the beginning of a key whose other characters have
// not arrived yet.
func Keys(typed string) (keys []string, rest string) {
	for typed != "" {
		if pasted, is := strings.CutPrefix(typed, beginPaste); is {
			text, after, whole := strings.Cut(pasted, endPaste)
			if !whole {
				return keys, typed
			}
			keys, typed = append(keys, "paste:"+text), after
			continue
		}
		n := 1
		switch name, known := controls[typed[0]]; {
		case known:
			keys = append(keys, name)
		case typed[0] == '\x1b':
			if n = sequence(typed); n == 0 {
				return keys, typed
			}
			if name := sequences[typed[1:n]]; name != "" {
				keys = append(keys, name)
			} else if n == 1 {
				keys = append(keys, "esc")
			}
		case !utf8.FullRuneInString(typed):
			return keys, typed
		default:
			_, n = utf8.DecodeRuneInString(typed)
			keys = append(keys, typed[:n])
		}
		typed = typed[n:]
	}
	return keys, ""
}

// sequence returns the length of the key that begins with ESC, 0 if its end is missing. ESC alone is a key.
func sequence(typed string) int {
	if len(typed) == 1 || typed[1] != '[' && typed[1] != 'O' {
		return 1
	}
	for i := 2; i < len(typed); i++ {
		if typed[i] >= '@' && typed[i] <= '~' {
			return i + 1
		}
	}
	return 0
}
