package ask

import (
	"strings"
	"testing"
)

// A state that this machine wrote is decoded without the schema. A later placet may have written it:
// then this one does not guess what it means.
func TestAStateOfALaterVersionIsNotReadAsOurs(t *testing.T) {
	own := `{"schema_version": 1, "ask_id": "a", "status": "open", "revision": 1}`
	if st, err := format.DecodeOwn([]byte(own)); err != nil || st.Status != Open {
		t.Fatalf("own state: %q, %v", st.Status, err)
	}
	later := strings.Replace(own, `"schema_version": 1`, `"schema_version": 2`, 1)
	if _, err := format.DecodeOwn([]byte(later)); err == nil || !strings.Contains(err.Error(), "/schema_version") {
		t.Errorf("a state of version 2: %v", err)
	}
}
