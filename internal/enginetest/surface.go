package enginetest

import (
	"encoding/json"
	"os/user"
	"path"
	"slices"
	"strconv"

	"placet/engine"
)

// surfaceOf returns the surface of placet through which an answer of a scenario came, ""
// for none: in a scenario a response.json is honest about that, and its record exists.
func surfaceOf(name, body string) string {
	var answer struct {
		By struct {
			Source string `json:"source"`
		} `json:"provided_by"`
	}
	if path.Base(name) != "response.json" || json.Unmarshal([]byte(body), &answer) != nil ||
		!slices.Contains([]string{"cli", "http", "slack", "mcp", "web", "link"}, answer.By.Source) {
		return ""
	}
	return answer.By.Source
}

// surface returns what the record of surfaces would contain for a file on the world's disk.
func (w *world) surface(name string, digest engine.Digest) (who, source string) {
	body, ok := w.disk.Get(name)
	if !ok || engine.Sum([]byte(body)) != digest {
		return "", ""
	}
	if source = surfaceOf(name, body); source == "" {
		return "", ""
	}
	owner := strconv.FormatUint(uint64(w.disk.Info(name).UID), 10)
	if u, err := user.LookupId(owner); err == nil {
		owner = u.Username
	}
	return "owner:" + owner, source
}
