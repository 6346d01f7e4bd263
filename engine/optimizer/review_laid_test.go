package optimizer

import "testing"

// A level's command that writes retrieved.jsonl itself, and no PLACET_OUT, has done its
// work: at which level the report is made must not hang on whether placet saw the file
// or the end of the command first.
func TestDataThatACommandPutIntoPlaceItselfCount(t *testing.T) {
	for name, c := range map[string]struct {
		records string
		want    string
	}{
		"whole": {retrievedLines, resultOK},
		"bad":   {"{}\n", resultInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			tellWith(t, withCommands(nil), func(d *desk) {
				d.trust(evaluate)
				d.trigger()
				d.goes(triggered, collected, decided)
				d.write("retrieved.jsonl", c.records)
				d.EndCommand("level/30-1", exited(0, ""))
				d.Settle()
				var o Outcome
				d.decode("attempts/30-1.outcome.json", &o)
				if o.Result != c.want {
					t.Errorf("the outcome is %+v", o)
				}
				if level := d.state().Level.Current; (level == 30) != (c.want == resultOK) {
					t.Errorf("level %d is in hand", level)
				}
			})
		})
	}
}

// While they are half of a write, the command has neither failed nor succeeded.
func TestDataThatAreBeingWrittenAreWaitedForAfterTheCommand(t *testing.T) {
	tellWith(t, withCommands(nil), func(d *desk) {
		d.trust(evaluate)
		d.trigger()
		d.goes(triggered, collected, decided)
		d.write("retrieved.jsonl", retrievedLines[:len(retrievedLines)-1])
		d.EndCommand("level/30-1", exited(0, ""))
		d.goes()
		if d.there("attempts/30-1.outcome.json") {
			t.Fatal("an outcome was told over half of the data")
		}
		d.write("retrieved.jsonl", retrievedLines)
		d.goes(retrieved)
		d.holds("attempts/30-1.outcome.json", resultOK)
	})
}
