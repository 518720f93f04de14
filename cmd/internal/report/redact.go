package report

import "reflect"

// Redact removes secrets from all texts and names in the report, with a function that removes them from one. Whatever
// is added to a report is so redacted in each format. The changes are not among them: they have to come redacted.
func (r *Report) Redact(clean func(string) string) { redact(reflect.ValueOf(r), clean) }

func redact(v reflect.Value, clean func(string) string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(clean(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			redact(v.Elem(), clean)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				redact(v.Field(i), clean)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			redact(v.Index(i), clean)
		}
	case reflect.Map: // its keys and values cannot be set in place
		for _, key := range v.MapKeys() {
			pair := [2]reflect.Value{reflect.New(key.Type()).Elem(), reflect.New(v.Type().Elem()).Elem()}
			pair[0].Set(key)
			pair[1].Set(v.MapIndex(key))
			v.SetMapIndex(key, reflect.Value{})
			redact(pair[0], clean)
			redact(pair[1], clean)
			v.SetMapIndex(pair[0], pair[1])
		}
	}
}
