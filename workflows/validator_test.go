package workflows

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// validator checks values against a JSON Schema (draft-07), as far as wfs's schemas use it. An unknown keyword stops
// the test, because ignoring it would prove nothing.
type validator struct {
	t    *testing.T
	root map[string]any
}

func newValidator(t *testing.T, schema []byte) *validator {
	t.Helper()
	v := &validator{t: t}
	if err := json.Unmarshal(schema, &v.root); err != nil {
		t.Fatal(err)
	}
	return v
}

// problem returns the first reason why a value does not match, "" if it matches.
func (v *validator) problem(value any) string { return v.check(v.root, value, "") }

func (v *validator) check(s map[string]any, value any, at string) string {
	if ref, ok := s["$ref"].(string); ok {
		def, ok := v.root["definitions"].(map[string]any)[strings.TrimPrefix(ref, "#/definitions/")].(map[string]any)
		if !ok || len(s) > 1 {
			v.t.Fatalf("%s: bad $ref %q, or something beside it that draft-07 passes over", at, ref)
		}
		return v.check(def, value, at)
	}
	for keyword, want := range s {
		if p := v.keyword(s, keyword, want, value, at); p != "" {
			return p
		}
	}
	return ""
}

func (v *validator) keyword(s map[string]any, keyword string, want, value any, at string) string {
	fail := func(format string, args ...any) string { return at + ": " + fmt.Sprintf(format, args...) }
	text, isText := value.(string)
	object, isObject := value.(map[string]any)
	array, isArray := value.([]any)
	number, isNumber := value.(float64)
	switch keyword {
	case "$schema", "$id", "title", "description", "default", "definitions":
	case "type":
		is := map[string]bool{"string": isText, "number": isNumber, "object": isObject, "array": isArray, "integer": isNumber && number == float64(int(number))}
		_, is["boolean"] = value.(bool)
		if ok, known := is[want.(string)]; !known {
			v.t.Fatalf("%s: type %v", at, want)
		} else if !ok {
			return fail("%v is no %s", value, want)
		}
	case "const":
		if want != value {
			return fail("%v is not %v", value, want)
		}
	case "enum":
		if !slices.Contains(want.([]any), value) {
			return fail("%v is none of %v", value, want)
		}
	case "pattern":
		if isText && !regexp.MustCompile(want.(string)).MatchString(text) {
			return fail("%q does not match %v", text, want)
		}
	case "minimum":
		if isNumber && number < want.(float64) {
			return fail("%v is less than %v", number, want)
		}
	case "maximum":
		if isNumber && number > want.(float64) {
			return fail("%v is more than %v", number, want)
		}
	case "minItems":
		if isArray && float64(len(array)) < want.(float64) {
			return fail("too few items")
		}
	case "items":
		for i, item := range array {
			if p := v.check(want.(map[string]any), item, at+"/"+strconv.Itoa(i)); p != "" {
				return p
			}
		}
	case "minProperties":
		if isObject && float64(len(object)) < want.(float64) {
			return fail("too few keys")
		}
	case "required":
		for _, key := range want.([]any) {
			if _, there := object[key.(string)]; isObject && !there {
				return fail("%v is missing", key)
			}
		}
	case "properties", "additionalProperties", "propertyNames":
		known, _ := s["properties"].(map[string]any)
		for key, item := range object {
			schema, is := known[key].(map[string]any)
			switch {
			case keyword == "propertyNames":
				schema, item = want.(map[string]any), key
			case keyword == "properties" && !is, keyword == "additionalProperties" && is:
				continue
			case keyword == "additionalProperties":
				if schema, is = want.(map[string]any); !is {
					return fail("unknown key %s", key)
				}
			}
			if p := v.check(schema, item, at+"/"+key); p != "" {
				return p
			}
		}
	case "allOf", "anyOf", "oneOf":
		var problems []string
		list := want.([]any)
		for _, one := range list {
			if p := v.check(one.(map[string]any), value, at); p != "" {
				problems = append(problems, p)
			}
		}
		fit := len(list) - len(problems)
		if keyword == "allOf" && len(problems) > 0 || keyword == "anyOf" && fit == 0 || keyword == "oneOf" && fit != 1 {
			return fail("%s: %d of %d fit: %s", keyword, fit, len(list), strings.Join(problems, "; "))
		}
	case "not":
		if v.check(want.(map[string]any), value, at) == "" {
			return fail("fits what it must not: %v", want)
		}
	default:
		v.t.Fatalf("%s: the validator does not know the keyword %q", at, keyword)
	}
	return ""
}

// valueOf reads a YAML text as a JSON value.
func valueOf(t *testing.T, text []byte) any {
	t.Helper()
	r := &reader{file: "f"}
	n := r.load(text)
	if n == nil {
		t.Fatalf("%v in\n%s", r.findings, text)
	}
	data, err := json.Marshal(plainValue(n)) // makes all numbers float64
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
