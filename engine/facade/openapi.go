package facade

import (
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/schemas"
)

// OpenAPI describes the routes that programs call, in the form of OpenAPI 3.1. It uses only
// the table, so that the two cannot disagree.
func OpenAPI(routes []Route, version string) map[string]any {
	paths := map[string]any{}
	for _, r := range routes {
		if r.Page || r.Access == SessionOnly || r.Access == Signed {
			continue
		}
		path := strings.ReplaceAll(r.Path, "...}", "}")
		methods, _ := paths[path].(map[string]any)
		if methods == nil {
			methods = map[string]any{}
			paths[path] = methods
		}
		methods[strings.ToLower(r.Method)] = operation(r)
	}
	return map[string]any{
		"openapi": "3.1.0",
		"info":    map[string]any{"title": "placet", "version": version},
		"paths":   paths,
		"components": map[string]any{
			"securitySchemes": map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer"}},
			"schemas":         map[string]any{"Problem": problemSchema},
		},
	}
}

var problemSchema = map[string]any{
	"type": "object", "required": []string{"type", "title", "status", "detail"},
	"properties": map[string]any{
		"type": typed("string"), "title": typed("string"), "status": typed("integer"), "detail": typed("string"), "code": typed("string"),
	},
}

func typed(name string) map[string]any { return map[string]any{"type": name} }

// operation describes one route.
func operation(r Route) map[string]any {
	params := []any{}
	for _, s := range segments(r.Path) {
		if name, ok := strings.CutPrefix(s, "{"); ok {
			name = strings.TrimSuffix(strings.TrimSuffix(name, "}"), "...")
			params = append(params, map[string]any{"name": name, "in": "path", "required": true, "schema": typed("string")})
		}
	}
	for _, p := range r.Query {
		params = append(params, map[string]any{"name": p.Name, "in": "query", "description": p.Summary, "schema": p.schema()})
	}
	good := map[string]any{"description": "done"}
	if r.Data != nil {
		data := dataSchema(r.Data)
		if !r.Bare {
			data = map[string]any{"type": "object", "required": []string{"schema_version", "data"}, "properties": map[string]any{"schema_version": typed("integer"), "data": data}}
		}
		good["content"] = map[string]any{"application/json": map[string]any{"schema": data}}
	}
	responses := map[string]any{
		strconv.Itoa(http.StatusOK): good,
		"default":                   map[string]any{"description": "refused", "content": map[string]any{"application/problem+json": map[string]any{"schema": map[string]any{"$ref": "#/components/schemas/Problem"}}}},
	}
	if r.Method == http.MethodPost && r.Data != nil {
		later := maps.Clone(good)
		later["description"] = "written; what becomes of it comes later"
		responses[strconv.Itoa(http.StatusAccepted)] = later
	}
	op := map[string]any{"summary": r.Summary, "parameters": params, "responses": responses}
	if r.Access == TokenOrSession || r.Access == TokenOnly {
		op["security"] = []any{map[string]any{"token": []string{}}}
		op["x-role"] = string(r.Role)
	}
	if r.Body != nil {
		op["requestBody"] = map[string]any{"content": map[string]any{"application/json": map[string]any{"schema": schemaOf(reflect.TypeOf(r.Body))}}}
	}
	return op
}

// Either is Data for a route that returns one of several types.
type Either []any

func dataSchema(data any) map[string]any {
	either, ok := data.(Either)
	if !ok {
		return schemaOf(reflect.TypeOf(data))
	}
	var all []any
	for _, one := range either {
		all = append(all, schemaOf(reflect.TypeOf(one)))
	}
	return map[string]any{"anyOf": all}
}

func (p Param) schema() map[string]any {
	s := typed("string")
	if p.Most > 0 {
		s = map[string]any{"type": "integer", "minimum": p.Least, "maximum": p.Most}
	}
	if p.Words != nil {
		s["enum"] = p.Words
	}
	if p.Default != "" {
		s["default"] = p.Default
		if n, err := strconv.Atoi(p.Default); err == nil && p.Most > 0 {
			s["default"] = n
		}
	}
	return s
}

// texts are the types that become a text in JSON.
var texts = []reflect.Type{reflect.TypeFor[time.Time](), reflect.TypeFor[engine.Key](), reflect.TypeFor[engine.Digest]()}

// schemaOf describes the JSON form of a type.
func schemaOf(t reflect.Type) map[string]any {
	for _, text := range texts {
		if t == text {
			return typed("string")
		}
	}
	switch t {
	case reflect.TypeFor[schemas.OrNull]():
		return map[string]any{"type": []string{"string", "null"}}
	case reflect.TypeFor[schemas.Raw](), reflect.TypeFor[schemas.Object]():
		return map[string]any{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return map[string]any{"anyOf": []any{schemaOf(t.Elem()), typed("null")}}
	case reflect.String:
		return typed("string")
	case reflect.Bool:
		return typed("boolean")
	case reflect.Int, reflect.Int64:
		return typed("integer")
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Struct:
		properties := map[string]any{}
		members(t, properties)
		return map[string]any{"type": "object", "properties": properties}
	}
	return map[string]any{}
}

func members(t reflect.Type, into map[string]any) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			members(f.Type, into)
		case name == "" || name == "-" || !f.IsExported():
		default:
			into[name] = schemaOf(f.Type)
		}
	}
}
