package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/statedir"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func stateDirOf(t *testing.T) *statedir.Dir {
	t.Helper()
	from := places(t)
	dir, err := statedir.Create(from.StateHome, from.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

func TestTrustIsKeptOutsideTheWorkspaceForItsOwnerAlone(t *testing.T) {
	dir := stateDirOf(t)
	file := TrustFile{SchemaVersion: 1, Workspace: "/somewhere/ws"}
	x := engine.Sum([]byte("x"))
	file.Agree(noon, UntrustedLine{Name: "faber.resume", Digest: Seal(x, map[string]string{"run": "folder"}), Of: x, Text: "run <x>", Files: map[string]string{"run": "folder"}})
	if err := file.Write(dir); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir.Location(), trustName))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
	back, err := ReadTrust(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(file, back); diff != "" {
		t.Error(diff)
	}
}

func TestAgreeingTwiceIsOneAgreement(t *testing.T) {
	var file TrustFile
	u := UntrustedLine{Name: "a", Digest: engine.Sum([]byte("a")), Of: engine.Sum([]byte("a"))}
	file.Agree(noon, u, u)
	file.Agree(noon, u)
	if len(file.Trusted) != 1 {
		t.Errorf("%d entries", len(file.Trusted))
	}
	u.Digest = engine.Sum([]byte("with another script"))
	file.Agree(noon, u)
	if len(file.Trusted) != 1 || file.Trusted[0].Digest != u.Digest {
		t.Errorf("what the script was counts still: %+v", file.Trusted)
	}
	file.Revoke(noon, map[engine.Digest]bool{u.Digest: true})
	if len(file.Trusted) != 0 {
		t.Errorf("%d entries after revoking", len(file.Trusted))
	}
}

func TestATrustFileThatCannotBeTrustedIsRefused(t *testing.T) {
	tests := map[string]struct {
		body string
		mode os.FileMode
		says string
	}{
		"others may write it": {`{"schema_version":1,"workspace":"/w","trusted":[]}`, 0o622, "others may write it"},
		"half written":        {`{"schema_version":1,`, 0o600, "cannot read the trust file"},
		"empty":               {``, 0o600, "cannot read the trust file"},
		"a name twice":        {`{"schema_version":1,"trusted":[],"TRUSTED":[]}`, 0o600, "cannot read the trust file"},
		"of a later version":  {`{"schema_version":2,"workspace":"/w","trusted":[{"name":"a","digest":"sha256:0"}]}`, 0o600, "version 2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := stateDirOf(t)
			path := filepath.Join(dir.Location(), trustName)
			if err := os.WriteFile(path, []byte(test.body), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, test.mode); err != nil {
				t.Fatal(err)
			}
			file, err := ReadTrust(dir)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("says %v, want %q", err, test.says)
			}
			if len(file.Digests()) > 0 {
				t.Error("agrees to something")
			}
		})
	}
}

func TestAThingIsNamedByItsNameOrItsDigest(t *testing.T) {
	d := engine.Sum([]byte("x"))
	for arg, want := range map[string]bool{
		"faber.resume": true, "faber": false, "": false,
		string(d): true, d.Hex(): true, strings.ToUpper(d.Hex()): true, "faber.resume@" + d.Hex(): true, "faber@" + d.Hex(): false,
		d.Hex()[:12]: false, d.Hex()[:63]: false, "sha256:": false,
	} {
		if got := Named(statedir.References{}, arg, "faber.resume", d); got != want {
			t.Errorf("%q names it: %v, want %v", arg, got, want)
		}
	}
}

func TestNamingWhatDoesNotWaitIsAnError(t *testing.T) {
	a := UntrustedLine{Name: "a", Digest: engine.Sum([]byte("1"))}
	twin := UntrustedLine{Name: "a", Digest: engine.Sum([]byte("2"))}
	agreed := TrustFile{Trusted: []Trusted{{Name: "old", Digest: engine.Sum([]byte("3"))}}}
	chooseNamed := func(args []string, waiting []UntrustedLine, agreed TrustFile) ([]UntrustedLine, error) {
		chosen, _, err := ChooseNamed(statedir.References{}, "en", args, waiting, agreed)
		return chosen, err
	}
	if chosen, err := chooseNamed([]string{"a"}, []UntrustedLine{a}, agreed); err != nil || len(chosen) != 1 {
		t.Errorf("one that waits: %v, %v", chosen, err)
	}
	if chosen, err := chooseNamed([]string{"old"}, []UntrustedLine{a}, agreed); err != nil || len(chosen) != 0 {
		t.Errorf("one that is agreed to: %v, %v", chosen, err)
	}
	if _, err := chooseNamed([]string{"b"}, []UntrustedLine{a}, agreed); err == nil {
		t.Error("one that does not exist was taken")
	}
	_, err := chooseNamed([]string{"a"}, []UntrustedLine{a, twin}, agreed)
	if p, ok := err.(*console.Problem); !ok || len(p.Fits) != 2 {
		t.Errorf("two of one name: %v", err)
	}
	if chosen, err := chooseNamed([]string{twin.Digest.Hex()}, []UntrustedLine{a, twin}, agreed); err != nil || len(chosen) != 1 || chosen[0].Digest != twin.Digest {
		t.Errorf("by digest: %v, %v", chosen, err)
	}
}
