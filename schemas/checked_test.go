package schemas

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"testing"
)

func id(i int) content { return content{sum: sha256.Sum256(fmt.Append(nil, i))} }

func TestVerdictsAreBounded(t *testing.T) {
	v := verdicts{most: 100}
	for i := range 10_000 {
		v.put(id(i), nil)
		if _, known := v.get(id(i)); !known || len(v.of) > 100 {
			t.Fatalf("%d verdicts are kept, the newest: %t", len(v.of), known)
		}
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
