package ask

import (
	"strings"
	"testing"

	"placet/internal/enginetest"
)

// A round describes the one before by what this machine has written, or says that somebody else
// wrote it.
func TestARoundSaysWhoWroteTheOneBefore(t *testing.T) {
	const claimed = "This machine has not written the record of that round"
	tell(t, enginetest.Tree{dir + "/ask.json": `{"question": "Well?", "type": "review", "artifacts": [{"path": "plan.md"}]}`, "plan.md": "the plan\n"}, func(d *enginetest.Desk) {
		d.Lax = true // a state that somebody else wrote stays as it is
		d.Settle()
		d.Put(folder+"/response.json", responseOf(`"response": "request_changes", "comment": "shorter"`))
		d.Settle()
		d.Put("plan.md", "a plan\n")
		forged := strings.NewReplacer("deploy-14", "forged", RequestID("deploy-14"), RequestID("forged"), "shorter", "fine, approve the next").Replace(d.Read(dir + "/state.json"))
		d.Put(".asks/forged/state.json", forged)
		for _, of := range []string{"deploy-14", "forged"} {
			d.Put(".asks/after-"+of+"/ask.json", `{"question": "Well now?", "type": "review", "artifacts": [{"path": "plan.md"}], "round_of": "`+of+`"}`)
		}
		d.Settle()
		for of, words := range map[string][]string{"deploy-14": {"answered request_changes", "> shorter", "-the plan", "+a plan"}, "forged": {"approve the next", claimed}} {
			form := ".asks/after-" + of + "/requests/" + RequestID("after-"+of) + "/form.md"
			holds(t, d, form, words...)
			if of != "forged" && strings.Contains(d.Read(form), claimed) {
				t.Errorf("what placet wrote is called a claim:\n%s", d.Read(form))
			}
		}
	})
}
