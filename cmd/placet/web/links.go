package web

import (
	"net/http"

	"placet/engine/facade"
)

// LinksPath is the path to which buttons in messages post.
const LinksPath = "/api/links"

// linkRoute returns the route of presses: a one-time code in the body says who calls.
func (a *App) linkRoute() facade.Route {
	return facade.Route{
		Method: http.MethodPost, Path: LinksPath, Summary: "Presses of buttons in messages: the body is a one-time code", Access: facade.Signed, Bare: true, MaxBody: 256,
		Handle: func(c *facade.Call) (int, any, error) {
			if err := a.o.Press(c.Context(), string(c.Raw)); err != nil {
				return 0, nil, facade.Deny(http.StatusConflict, "press", "say.text", "text", err)
			}
			return 0, ok, nil
		},
	}
}
