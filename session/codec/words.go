package codec

import (
	"reflect"

	"github.com/wfs-dev/wfs/session"
)

// Worded returns the body with f applied to every text that people, agents or gates wrote. The journal uses it to
// remove secrets before it writes an event. Fields with such texts are tagged `text:"free"`, as are fields that contain
// structs with them. Names, paths, ids and the pinned plan stay as they are, because code looks things up by them.
func Worded(b session.Body, f func(string) string) session.Body {
	v := reflect.New(reflect.TypeOf(b)).Elem()
	v.Set(reflect.ValueOf(b))
	worded(v, f)
	return v.Interface().(session.Body)
}

func worded(v reflect.Value, f func(string) string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(f(v.String()))
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.Anonymous || field.Tag.Get("text") != "" {
				worded(v.Field(i), f)
			}
		}
	case reflect.Slice: // work on a copy, because other values share the slice
		list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(list, v)
		for i := range list.Len() {
			worded(list.Index(i), f)
		}
		if !v.IsNil() {
			v.Set(list)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			at := reflect.New(v.Type().Elem())
			at.Elem().Set(v.Elem())
			worded(at.Elem(), f)
			v.Set(at)
		}
	}
}
