package schemas

import (
	"reflect"
	"strings"
)

// Struct returns the fields of a struct as an object, in their order, so that
// members which the struct does not know can be written behind them. A field with the
// option omitempty is left out where it is zero or has no elements.
func Struct(v any) Object {
	value := reflect.ValueOf(v)
	var o Object
	for i := range value.NumField() {
		field, tag := value.Field(i), value.Type().Field(i)
		if name := memberName(tag); name != "" && !(strings.HasSuffix(tag.Tag.Get("json"), ",omitempty") && isEmpty(field)) {
			o = append(o, Member{Name: name, Value: field.Interface()})
		}
	}
	return o
}

func isEmpty(v reflect.Value) bool { return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 }

// Rest returns those members of a JSON object for which a struct has no field,
// in their order. into is a pointer to the struct.
func Rest(body []byte, into any) (Object, error) {
	members, err := Members(body)
	if err != nil {
		return nil, err
	}
	return members.Without(fieldNames(into)...), nil
}

// fieldNames returns the names in JSON of the fields of the struct that into points to.
func fieldNames(into any) (names []string) {
	t := reflect.TypeOf(into).Elem()
	for i := range t.NumField() {
		if name := memberName(t.Field(i)); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// memberName is the name under which a field stands in JSON, "" for none.
func memberName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" {
		return ""
	}
	return name
}
