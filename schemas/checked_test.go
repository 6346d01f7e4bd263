package schemas

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"testing"
)

func id(i int) content { return content{sum: sha256.Sum256(fmt.Append(nil, i))} }

func TestVerdictsAreBoundedAndKeepWhatIsInUse(t *testing.T) {
	v := verdicts{size: 100}
	bad := &Error{Problem: "bad"}
	v.put(id(-1), bad)
	for i := range 10_000 {
		v.put(id(i), nil)
		if verdict, known := v.get(id(-1)); !known || verdict != bad {
			t.Fatalf("after %d others, what is asked for all the time was forgotten", i+1)
		}
		if len(v.newer)+len(v.old) > 200 {
			t.Fatalf("%d verdicts are kept", len(v.newer)+len(v.old))
		}
	}
	if _, known := v.get(id(0)); known {
		t.Error("what nobody asked for is still known")
	}
	if _, known := v.get(id(9_999)); !known {
		t.Error("the newest is not known")
	}
}

func TestTheSameContentIsCheckedOnce(t *testing.T) {
	body := []byte(`{"status":"pending","revision":4711}`)
	key := content{schema: "faber/state", sum: sha256.Sum256(body)}
	if _, known := checked.get(key); known {
		t.Fatal("known before it was read")
	}
	if err := Decode("faber/state", "s.json", body, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"faber/state", ""} {
		if verdict, known := checked.get(content{schema: name, sum: key.sum}); !known || verdict != nil {
			t.Errorf("schema %q: verdict %v, known %v", name, verdict, known)
		}
	}
	if _, known := checked.get(content{schema: "faber/event", sum: key.sum}); known {
		t.Error("good by one schema counts as good by another")
	}
	// A planted verdict shows that the memory is asked.
	planted := &Error{Problem: "planted"}
	checked.put(key, planted)
	if err := Decode("faber/state", "s.json", body, nil); err == nil || err.Error() != "s.json: planted" {
		t.Errorf("the content was checked again: %v", err)
	}
	checked.put(key, nil)
}

func TestManyReadersAtOnceAgree(t *testing.T) {
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 200 {
				good := fmt.Appendf(nil, `{"status":"pending","revision":%d}`, i)
				bad := fmt.Appendf(nil, `{"status":"pending","revision":-%d}`, i+1)
				if err := Decode("faber/state", "s.json", good, nil); err != nil {
					t.Errorf("worker %d: %v", worker, err)
				}
				if Decode("faber/state", "s.json", bad, nil) == nil {
					t.Errorf("worker %d: took %s", worker, bad)
				}
			}
		})
	}
	wg.Wait()
}
