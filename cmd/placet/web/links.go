package web

import (
	"context"
	"net/http"
	"time"

	"placet/engine/facade"
)

// LinksPath is the path to which buttons in messages post.
const LinksPath = "/api/links"

// linkTime is how long the call of a button waits for another writer of its answer.
const linkTime = 5 * time.Second

// linkRoute returns the route of presses: a one-time code in the body says who calls.
func (a *App) linkRoute() facade.Route {
	return facade.Route{
		Method: http.MethodPost, Path: LinksPath, Summary: "Presses of buttons in messages: the body is a one-time code", Access: facade.Signed, Bare: true,
		Handle: func(c *facade.Call) (int, any, error) {
			ctx, stop := context.WithTimeout(c.Context(), linkTime)
			defer stop()
			if err := a.o.Press(ctx, string(c.Raw)); err != nil {
				return 0, nil, facade.Deny(http.StatusConflict, "press", "say.text", "text", err)
			}
			return 0, ok, nil
		},
	}
}
