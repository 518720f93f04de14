package codec_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
)

func emptyBody(t *testing.T, k session.Kind) reflect.Value {
	t.Helper()
	b, ok := k.Empty()
	if !ok {
		t.Fatalf("%s has no body", k)
	}
	return reflect.New(reflect.TypeOf(b)).Elem()
}

// TestWorded fills every text of every kind of event. It expects that the function is applied to all texts that people,
// agents or gates write, and to no others.
func TestWorded(t *testing.T) {
	t.Parallel()
	free := map[string]bool{"Goal": true, "Note": true, "Ask": true, "Message": true, "Reason": true, "Why": true,
		"Evidence": true,
		"Hint":     true, "Text": true, "Title": true, "Changes": true, "TestChange": true, "Anyway": true,
		"NothingLeft": true, "Before": true, "After": true, "Whole": true}
	for _, kind := range session.Kinds() {
		v := emptyBody(t, kind)
		fillTexts(v, 0)
		worded := codec.Worded(v.Interface().(session.Body), strings.ToUpper)
		checkTexts(t, string(kind), "", reflect.ValueOf(worded), free)
	}
}

func fillTexts(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && depth < 6 {
				fillTexts(v.Field(i), depth+1)
			}
		}
	case reflect.String:
		v.SetString("text")
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillTexts(v.Index(0), depth+1)
	}
}

func checkTexts(t *testing.T, kind, name string, v reflect.Value, free map[string]bool) {
	t.Helper()
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			n := f.Name
			switch {
			case !f.IsExported():
				continue
			case n == "Reason" && f.Type != reflect.TypeFor[string](): // an enumeration
				n = ""
			// from git, the rule, or the engine
			case n == "Why" && (v.Type() == reflect.TypeFor[session.Skip]() || v.Type() == reflect.TypeFor[session.Held]() ||
				v.Type() == reflect.TypeFor[session.NotRun]()):
				n = ""
			case n == "Summary" && (kind == string(session.KindCheckpointed) || kind == string(session.KindAnswered)):
				n = "Text"
			case n == "Evidence" && f.Type.Kind() == reflect.Struct:
				continue // a separate document: names of tests
			}
			checkTexts(t, kind, n, v.Field(i), free)
		}
	case reflect.String:
		if got := v.String(); got != "" && (got == "TEXT") != free[name] {
			t.Errorf("%s: %s is %q", kind, name, got)
		}
	case reflect.Slice:
		for i := range v.Len() {
			checkTexts(t, kind, name, v.Index(i), free)
		}
	}
}
