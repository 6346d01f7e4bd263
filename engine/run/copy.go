package run

import "reflect"

// deepCopy returns a copy of a state that a transition can change: it also copies what the
// exported fields point to and contain. The copy shares unexported fields, and values
// behind an interface, because no transition changes them in place.
func deepCopy[S any](st S) S {
	return copyOf(reflect.ValueOf(&st).Elem()).Interface().(S)
}

func copyOf(v reflect.Value) reflect.Value {
	if v.Kind() != reflect.Struct && v.IsZero() {
		return v
	}
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch v.Kind() {
	case reflect.Pointer:
		c.Set(reflect.New(v.Type().Elem()))
		c.Elem().Set(copyOf(v.Elem()))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				c.Field(i).Set(copyOf(v.Field(i)))
			}
		}
	case reflect.Slice:
		c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		reflect.Copy(c, v)
		for i := 0; holdsMore(v.Type().Elem()) && i < v.Len(); i++ {
			c.Index(i).Set(copyOf(v.Index(i)))
		}
	case reflect.Map:
		c.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for it := v.MapRange(); it.Next(); {
			c.SetMapIndex(it.Key(), copyOf(it.Value()))
		}
	}
	return c
}

// holdsMore reports whether a shallow copy of a value of a type may share memory with the
// original.
func holdsMore(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Struct, reflect.Slice, reflect.Map:
		return true
	}
	return false
}
