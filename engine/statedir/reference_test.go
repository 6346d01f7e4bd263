package statedir_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"placet/engine"
	"placet/engine/statedir"
)

func TestAReferenceNamesOneContentForOneUse(t *testing.T) {
	home, workspace := folders(t)
	d := create(t, home, workspace)
	refs, err := d.References()
	if err != nil {
		t.Fatal(err)
	}
	one, two := engine.Sum([]byte("one")), engine.Sum([]byte("two"))
	word := refs.Of(one, "request", "ask/a", "ask-1")
	if len(word) != 12 || strings.HasPrefix(one.Hex(), word) || !statedir.IsReference(word) {
		t.Errorf("the reference is %q", word)
	}
	for said, named := range map[string]bool{
		word: true, strings.ToUpper(word): true, one.Hex(): true, string(one): true,
		word[:11]: false, word + "0": false, one.Hex()[:12]: false, one.Hex()[:63]: false, two.Hex(): false, "": false,
	} {
		if refs.IsOf(said, one, "request", "ask/a", "ask-1") != named {
			t.Errorf("%q names it: expected %v", said, named)
		}
	}
	for _, other := range []string{refs.Of(one, "trust", "ask/a", "ask-1"), refs.Of(one, "request", "ask/b", "ask-1"), refs.Of(one, "request", "ask/aask-1"), refs.Of(two, "request", "ask/a", "ask-1")} {
		if other == word {
			t.Errorf("%q is the reference of something else, too", word)
		}
	}
	if refs.IsOf("", "") || refs.Of("", "request") != "" {
		t.Error("nothing has a reference")
	}
}

func TestTheKeyOfReferencesIsMadeOnceAndKept(t *testing.T) {
	home, workspace := folders(t)
	d := create(t, home, workspace)
	sum, words := engine.Sum([]byte("one")), make([]string, 20)
	var wg sync.WaitGroup
	for i := range words {
		wg.Go(func() {
			if refs, err := d.References(); err == nil {
				words[i] = refs.Of(sum)
			}
		})
	}
	wg.Wait()
	for _, word := range words {
		if word == "" || word != words[0] {
			t.Fatalf("%q", words)
		}
	}
	files, err := os.ReadDir(d.Location())
	if err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
	key := filepath.Join(d.Location(), "reference.key")
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	// Under another key, earlier references name nothing. With a damaged key, only the
	// digest names a content.
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if refs, err := d.References(); err != nil || refs.IsOf(words[0], sum) {
		t.Errorf("the reference of before names it still: %v", err)
	}
	if err := os.WriteFile(key, []byte("00\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if refs, err := d.References(); err == nil || refs.Of(sum) != sum.Hex() || refs.IsOf(words[0], sum) {
		t.Errorf("a damaged key names something: %v", err)
	}
}
