package optimizer

import (
	"reflect"

	"placet/templates"
)

// How much others may have placet write, in bytes of JSON: every document that it
// writes must be one that it reads, and what was found is shown with what is offered
// in one request.
const (
	mostFound   = 512 << 10
	mostOffered = 128 << 10
	// mostIntent is how much of the optimization goal goes into the database.
	mostIntent = 64 << 10
)

// fitting is what was found, shortened until it fits, which a warning says.
func (r *cycle) fitting(f Findings) Findings {
	if len(encoded(f)) <= mostFound {
		return f
	}
	f.Warnings = append([]string{r.words("warning.shortened")}, f.Warnings...)
	var s Findings
	for _, to := range []cutting{{16 << 10, 1000}, {2 << 10, 200}, {200, 50}, {100, 20}} {
		if s = to.findings(f); len(encoded(s)) <= mostFound {
			break
		}
	}
	return s
}

// cutting is how long texts may be, in bytes, and lists.
type cutting struct{ words, list int }

// findings is a copy of what was found, cut, but for what names the cycle and its files.
func (c cutting) findings(f Findings) Findings {
	cut := f
	c.cut(reflect.ValueOf(&cut).Elem())
	cut.RunID, cut.WorkflowName, cut.Usage, cut.Audit.DB = f.RunID, f.WorkflowName, f.Usage, f.Audit.DB
	return cut
}

// cut shortens all texts and lists of a value, whose lists and pointers become its own.
func (c cutting) cut(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(templates.Cut(v.String(), c.words))
	case reflect.Slice:
		n := min(v.Len(), c.list)
		v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, n), v.Slice(0, n)))
		for i := range n {
			c.cut(v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			own := reflect.New(v.Type().Elem())
			own.Elem().Set(v.Elem())
			c.cut(own.Elem())
			v.Set(own)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			c.cut(v.Field(i))
		}
	}
}

// bytes is how much of a request the suggestions take, each time that they stand in
// it.
func (s Suggestions) bytes() int {
	var texts []string
	for _, g := range s.Suggestions {
		texts = append(texts, g.Text)
	}
	return len(line(texts))
}
