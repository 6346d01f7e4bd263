package web

import (
	"net/url"

	"placet/engine/facade"
)

// RequestPath is the path of a request's page.
func RequestPath(name string) string { return "/requests/" + url.PathEscape(name) }

// Problem answers who looks at a page with why there is none.
func (a *App) Problem(c *facade.Call, p *facade.Problem) bool { return false }
